# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the kernel's source comes from: Debian's linux-source packages, or the tree in KERNEL_SRC.

Every security update of a release has a new version. The newest tested version is taken: the series
apply to it, build and boot. If no tested version is offered, the newest of all is taken, with a
warning. Records state the version.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eascope.host.cache import digest_of, sha256_file
from eascope.host.debian import SUITES, apt
from eascope.host.dry import NotBuilt
from eascope.host.errors import EascopeError, RequestError
from eascope.host.proc import need, run, say
from eascope.kernels.patch_series import added_files, patch_label, series_patches
from eascope.kernels.provenance import KERNEL_SRC, SourceProvenance
from eascope.kernels.releases import DEFAULT, Release, number, package_of, release_of

#: Whose private apt state: the package is for all architectures, and the guest's is there anyway.
ARCHITECTURE = "arm64"

#: Two thirds of the tree that our builds never read, left out to save time and disk. Makefiles and
#: Kconfig files stay, since the configuration reads all of them.
LEFT_OUT = (
    "arch/arm/boot/dts/*",
    "arch/arm64/boot/dts/*",
    "tools/testing/*",
    "tools/perf/*",
    *(
        f"{folder}/*.{suffix}"
        for folder in (
            "drivers/accel",
            "drivers/gpu",
            "drivers/infiniband",
            "drivers/media",
            # Local sockets need the loopback device, which lies in drivers/net itself.
            "drivers/net/*",
            "drivers/scsi",
            "drivers/staging",
            "sound",
        )
        for suffix in "ch"
    ),
)


@dataclass(frozen=True)
class Source:
    """A kernel source that has been found, not yet unpacked.

    :param version: upstream version, ``6.12.117``.
    :param package_version: Debian's, or the directory's name for KERNEL_SRC.
    :param sha256: of the package file, or over the directory's files.
    :param directory: the tree of KERNEL_SRC; None for the Debian package.
    """

    version: str
    package_version: str
    sha256: str
    directory: Path | None = None

    @property
    def label(self) -> str:
        """``Linux 6.12.117 (linux-source-6.12 6.12.117-1)`` for messages."""
        origin = str(self.directory or f"{self.package} {self.package_version}")
        return f"Linux {self.version} ({origin})"

    @property
    def release(self) -> Release:
        """The release whose series are applied to it."""
        return release_of(self.version)

    @property
    def package(self) -> str:
        """Debian's package of this version."""
        return package_of(".".join(self.version.split(".")[:2]))

    @property
    def owner(self) -> tuple[str, ...]:
        """The owner of the objects, in addition to their series: a word for a person's tree."""
        return ()

    @property
    def tested(self) -> bool:
        """True if the series were tested on this version."""
        return self.version in self.release.tested

    def provenance(self) -> SourceProvenance:
        """What goes into records."""
        return SourceProvenance(
            source=KERNEL_SRC if self.directory else self.package,
            package_version=self.package_version,
            source_sha256=self.sha256,
            source_tested=self.tested,
        )

    def unpack(self, folder: Path) -> None:
        """Put the tree, without files that no build reads, into the empty ``folder``.

        :raises EascopeError: when the package cannot be downloaded or read.
        """
        folder.mkdir(parents=True, exist_ok=True)
        if self.directory:
            skip = ["--anchored", "--exclude=./.git"]
            skip += [f"--exclude=./{pattern}" for pattern in LEFT_OUT]
            pack = f"tar -C {quoted(self.directory)} {' '.join(map(quoted, skip))} -cf - ."
            run(["sh", "-c", f"{pack} | tar -C {quoted(folder)} -xf -"], label="copy KERNEL_SRC")
            return
        skip = ["--anchored", *(f"--exclude={self.package}/{pattern}" for pattern in LEFT_OUT)]
        self.tar(folder, [*skip, "--strip-components=1"])

    def tar(self, folder: Path, options: list[str]) -> None:
        """Run tar with ``options`` on the package's tarball, extracting into ``folder``.

        :raises EascopeError: when the package cannot be downloaded or read.
        """
        deb = self.deb()
        inner = f"./usr/src/{self.package}.tar.xz"
        script = (
            f"dpkg-deb --fsys-tarfile {quoted(deb)} | tar -xOf - {inner} | "
            f"tar -C {quoted(folder)} -xJf - {' '.join(map(quoted, options))}"
        )
        need("xz", "xz-utils")
        run(["bash", "-o", "pipefail", "-c", script], label=f"unpack {self.package}")

    def deb(self) -> Path:
        """The package file, downloaded into the private apt state when it is not there.

        :raises EascopeError: when it cannot be downloaded, or has another digest.
        """
        state = apt(ARCHITECTURE)
        for suite, _ in SUITES:
            if state.resolve(self.package, suite)["version"] == self.package_version:
                path = state.download([self.package], suite)[0].path
                if sha256_file(path) != self.sha256:
                    raise EascopeError(f"{path}: its SHA-256 is not {self.sha256}")
                return path
        raise EascopeError(
            f"{self.package} {self.package_version} is in none of the suites: the package lists "
            f"have changed since: run again"
        )


def quoted(value: object) -> str:
    """``value`` as one word of a shell's command."""
    return "'" + str(value).replace("'", "'\\''") + "'"


def upstream(package_version: str) -> str:
    """``6.12.117`` from ``6.12.117-1~deb12u1``."""
    return re.split(r"[-~+]", package_version.partition(":")[2] or package_version)[0]


def offered(release: str = DEFAULT) -> list[Source]:
    """Every version of a release that a supported suite offers, newest first.

    :raises EascopeError: when none does; it says which releases are offered.
    """
    state = apt(ARCHITECTURE)
    package = package_of(release)
    by_version: dict[str, Source] = {}
    for suite, _ in SUITES:
        try:
            fields = state.resolve(package, suite)
        except EascopeError as error:
            raise EascopeError(f"{error}; offered are: {', '.join(offered_releases())}") from error
        version = fields["version"]
        by_version[version] = Source(upstream(version), version, fields["sha256"])
    order = sorted(by_version, key=functools.cmp_to_key(_compare), reverse=True)
    return [by_version[version] for version in order]


def known_offers() -> dict[str, str] | None:
    """Offered releases, and the version that would be taken; None before the lists were fetched.

    It fetches nothing.
    """
    if not apt(ARCHITECTURE).ready:
        return None
    return {name: best(offered(name)).label for name in offered_releases()}


def best(sources: Sequence[Source]) -> Source:
    """The newest version on which the series were tested, else the newest."""
    return next((source for source in sources if source.tested), sources[0])


def released(release: str) -> Source | None:
    """Debian's source of a release, whatever KERNEL_SRC is; None where it is not to be had.

    :raises NotBuilt: within `host.dry.nothing_built`, when it has not been fetched.
    """
    try:
        source = best(offered(release))
        source.deb()
    except NotBuilt:
        raise
    except EascopeError:
        return None
    return source


def offered_releases() -> list[str]:
    """The releases of Linux whose source a supported suite offers, in order; ours or not."""
    names = apt(ARCHITECTURE).names(package_of(""))
    releases = [name.removeprefix(package_of("")) for name in names]
    return sorted(
        (release for release in releases if re.fullmatch(r"\d+\.\d+", release)), key=number
    )


def _compare(left: str, right: str) -> int:
    """-1, 0, 1 in Debian's order of versions."""
    if left == right:
        return 0
    later = subprocess.run(["dpkg", "--compare-versions", left, "gt", right], check=False)
    return 1 if later.returncode == 0 else -1


def find_source(all_series: Sequence[Path] = (), release: str = "") -> Source:
    """The tree in ``$KERNEL_SRC``, else the newest tested package, else the newest with a warning.

    :param release: the release in the name; empty: that of KERNEL_SRC or the default.
    :raises RequestError: when KERNEL_SRC is not a kernel tree, is of another release, or has one of
        ``all_series`` already.
    :raises EascopeError: when no package is to be had.
    """
    given = os.environ.get(KERNEL_SRC)
    if given:
        check_directory(Path(given), all_series, release)
        source = directory_source(Path(given))
    else:
        source = best(offered(release or DEFAULT))
    if not source.tested:
        warn_untested(source)
    return source


def check_directory(directory: Path, all_series: Sequence[Path], release: str = "") -> None:
    """Refuse an unsuitable tree, before minutes are spent on reading it.

    :raises RequestError: it is none, it is of another release than ``release``, or a file is there
        that a patch of ``all_series`` adds.
    """
    nearest = release_of(directory_version(directory)).name
    if release and release != nearest:
        raise RequestError(
            f"KERNEL_SRC = {str(directory)!r} is Linux {directory_version(directory)}; use a tree "
            f"of Linux {release}, or names without @{release}"
        )
    for series in all_series:
        for patch in series_patches(series, nearest):
            for name in added_files(patch):
                if (directory / name).exists():
                    raise RequestError(
                        f"KERNEL_SRC = {str(directory)!r} already contains {patch_label(patch)} "
                        f"({name}); use a tree without the series {series.name}, which is applied "
                        "to a copy"
                    )


@functools.cache
def warn_untested(source: Source) -> None:
    """Say once that the series were not tested on this version."""
    say(f"  warning: {source.label} is untested: tested are {', '.join(source.release.tested)}")


def directory_version(directory: Path) -> str:
    """The version of the kernel tree at ``directory``, ``6.12.117``.

    :raises RequestError: when it is none.
    """
    try:
        text = (directory / "Makefile").read_text(errors="replace")
    except OSError as error:
        raise RequestError(
            f"KERNEL_SRC = {str(directory)!r}: no Makefile; expected a Linux source tree"
        ) from error
    version = makefile_version(text)
    if version is None:
        raise RequestError(
            f"KERNEL_SRC = {str(directory)!r}: no kernel version in its Makefile; expected a Linux "
            "source tree"
        )
    return version


def makefile_version(text: str) -> str | None:
    """The version that a kernel's Makefile states."""
    fields = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL) = (\d+)$", text[:400], re.MULTILINE))
    if len(fields) != 3:
        return None
    return ".".join(fields[key] for key in ("VERSION", "PATCHLEVEL", "SUBLEVEL"))


@functools.cache
def directory_source(directory: Path) -> Source:
    """The kernel tree at ``directory``, identified by the bytes of its files.

    :raises RequestError: when it is not an unconfigured kernel tree.
    """
    version = directory_version(directory)
    if (directory / ".config").exists() or (directory / "include" / "config").exists():
        raise RequestError(
            f"KERNEL_SRC = {str(directory)!r}: the tree has been built in; run make mrproper"
        )
    return Source(version, directory.resolve().name, _tree_sha256(directory), directory.resolve())


def _tree_sha256(directory: Path) -> str:
    """Over names and digests of the files that a build reads."""
    skip = (".git",)
    fields: dict[str, str] = {}
    for root, folders, names in os.walk(directory):
        if Path(root) == directory:
            folders[:] = [name for name in folders if name not in skip]
        for name in names:
            path = Path(root) / name
            if path.is_file() and not path.is_symlink():
                fields[str(path.relative_to(directory))] = sha256_file(path)
    return digest_of(fields)
