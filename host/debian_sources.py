# SPDX-License-Identifier: GPL-2.0-or-later
"""Upstream's sources as Debian's archive has them, without Debian's own changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eascope.host.cache import artefact, cache_root, sha256_file
from eascope.host.debian import PrivateApt
from eascope.host.errors import EascopeError
from eascope.host.proc import CommandFailed, need, run


@dataclass(frozen=True)
class SourceTarball:
    """Upstream's tarball of a source package.

    :ivar version: upstream's, without Debian's revision.
    """

    package: str
    version: str
    path: Path
    sha256: str

    def unpack(self, folder: Path) -> None:
        """Unpack it into ``folder``, without the folder that it has itself."""
        command = [need("tar", "tar"), "--extract", "--strip-components=1"]
        run([*command, "--file", self.path, "--directory", folder], label=self.package)


class SourceApt(PrivateApt):
    """apt with the source packages of the suites that eascope draws on."""

    KIND = "deb-src"

    def __init__(self) -> None:
        # A source package is the same for every architecture; apt wants the name of one.
        super().__init__("amd64")
        self.root = cache_root() / "apt" / "sources"
        self.archives = self.root / "archives"

    def tarball(self, packages: Sequence[str]) -> SourceTarball:
        """Upstream's tarball of the first of ``packages`` that the archive gives, newest first.

        A mirror need not have the sources of everything that it has packages of.

        :raises EascopeError: when none of them is to be had.
        """
        tried = []
        for package in packages:
            for version in self._versions(package):
                try:
                    return self._tarball(package, version)
                except CommandFailed:
                    tried.append(f"{package} {version}")
        raise EascopeError(
            f"no sources of {' or '.join(packages)} in the Debian archive"
            + (f" (tried: {', '.join(tried)})" if tried else "")
        )

    def _versions(self, package: str) -> list[str]:
        with self._held():
            shown = self._listing(package)
        versions = re.findall(
            rf"^Package: {re.escape(package)}$(?:\n.+)*?\nVersion: (\S+)", shown, re.M
        )
        return list(dict.fromkeys(versions))

    def _listing(self, package: str) -> str:
        try:
            command = ["apt-cache", *self._options(), "showsrc", "--only-source", package]
            return run(command).decode()
        except CommandFailed:
            return ""

    def _tarball(self, package: str, version: str) -> SourceTarball:
        command = ["apt-get", *self._options(), "source", "--only-source", "--tar-only"]
        named = f"{package}={version}"
        with self._held():
            shown = run([*command, "--print-uris", named], label=f"sources of {package}").decode()
            match = re.search(r"^'\S+' (\S+\.orig\.tar\.\w+) \d+ SHA256:(\w+)$", shown, re.M)
            if match is None:
                raise EascopeError(f"source package {named} has no tarball of upstream's")
            path, sha256 = self.archives / match[1], match[2]
            if not path.is_file() or sha256_file(path) != sha256:
                run(
                    [*command, "--download-only", named],
                    cwd=self.archives,
                    label=f"download {match[1]}",
                )
        if sha256_file(path) != sha256:
            raise EascopeError(f"download of {path.name}: {path} has another SHA-256")
        upstream = re.sub(r"^\d+:|-[^-]*$", "", version)
        return SourceTarball(package, upstream, path, sha256)


@cache
def source_apt() -> SourceApt:
    """The private apt state for source packages."""
    return SourceApt()


def unpacked(tarball: SourceTarball, patches: Sequence[Path] = ()) -> Path:
    """Cached folder with the sources of ``tarball``, with ``patches`` applied to them.

    :raises CommandFailed: when a patch does not apply.
    """

    def build(folder: Path) -> None:
        tarball.unpack(folder)
        for patch in patches:
            command = [need("patch", "patch"), "--strip=1", "--batch", f"--input={patch}"]
            run(command, cwd=folder, label=patch.name)

    fields = {
        "tarball": tarball.sha256,
        "patches": [sha256_file(patch) for patch in patches],
    }
    label = f"sources of {tarball.package} {tarball.version}"
    return artefact("sources", fields, build, label=label, estimate_s=5, large=True)
