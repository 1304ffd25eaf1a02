# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian packages through a private apt state: the system's own is only read.

The system's own apt configuration names the mirror. A private ``sources.list`` names the suites of
eascope, whatever release the host runs. So packages of another suite or architecture can be
downloaded and unpacked without being installed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eascope.host.cache import cache_root, sha256_file, write_atomic
from eascope.host.dry import refuse
from eascope.host.errors import EascopeError
from eascope.host.proc import CommandFailed, need, run, say
from eascope.host.scratch import locked

#: Suites, with the part of the archive that holds them. Absent ones are skipped.
SUITES = (
    ("trixie", "main"),
    ("trixie-security", "security"),
    ("trixie-backports", "main"),
    ("bookworm", "main"),
    ("bookworm-security", "security"),
    ("bookworm-backports", "main"),
)
#: What says of package lists that they are of these suites.
_WANTED = "".join(f"{suite} {part}\n" for suite, part in SUITES)


@dataclass(frozen=True)
class Deb:
    """A downloaded package file."""

    package: str
    version: str
    architecture: str
    path: Path
    sha256: str

    def provenance(self) -> dict[str, str]:
        """What goes into records: name, version, architecture, SHA-256."""
        return {
            "package": self.package,
            "version": self.version,
            "architecture": self.architecture,
            "sha256": self.sha256,
        }

    def unpack(self, folder: Path) -> None:
        """Unpack the package's files below ``folder`` (no maintainer scripts are run)."""
        folder.mkdir(parents=True, exist_ok=True)
        run([need("dpkg-deb", "dpkg"), "-x", self.path, folder], label=self.package)


@cache
def mirrors() -> dict[str, str]:
    """Base addresses ``{"main": .., "security": ..}`` from the system's apt configuration.

    :raises EascopeError: when the system has no Debian source configured.
    """
    listing = run(
        [
            need("apt-get", "apt"),
            "indextargets",
            "--format",
            "$(REPO_URI) $(RELEASE)",
            "Identifier: Packages",
        ],
        label="apt sources",
    ).decode()
    archives: dict[str, str] = {}
    for line in listing.splitlines():
        uri, _, release = line.partition(" ")
        base = uri.rstrip("/")
        if not re.search(r"/debian(-security)?$", base):
            continue  # another vendor's archive
        part = "security" if base.endswith("-security") or "security" in release else "main"
        archives.setdefault(part, base)
    if "main" not in archives:
        raise EascopeError(
            "no Debian archive in the system's apt sources: run eascope on Debian 12 or 13"
        )
    archives.setdefault("security", archives["main"] + "-security")
    return archives


class PrivateApt:
    """apt with its own sources, lists and archives, for one architecture.

    The package lists are fetched once and kept: later runs resolve to the same versions (and work
    offline) until :meth:`refresh` is asked for.
    """

    #: What the lines of ``sources.list`` begin with.
    KIND = "deb"

    def __init__(self, architecture: str) -> None:
        self.architecture = architecture
        self.root = cache_root() / "apt" / architecture
        self.archives = self.root / "archives"
        #: Whether the lists are of fewer suites than `SUITES`, and new ones cannot be had.
        self._stale = False
        #: What `resolve` gave, since apt takes a while.
        self._resolved: dict[tuple[str, str | None], dict[str, str]] = {}

    def _options(self) -> list[str]:
        root = self.root
        pairs = {
            "Dir::Etc::sourcelist": root / "sources.list",
            "Dir::Etc::sourceparts": root / "none",
            "Dir::Etc::preferencesparts": root / "none",
            "Dir::Etc::preferences": root / "no-preferences",
            "Dir::State": root / "state",
            "Dir::State::lists": root / "state" / "lists",
            "Dir::State::status": root / "state" / "status",
            "Dir::Cache": root,
            "Dir::Cache::archives": self.archives,
            # Container images switch these off; without them each look-up takes seconds.
            "Dir::Cache::pkgcache": root / "pkgcache.bin",
            "Dir::Cache::srcpkgcache": root / "srcpkgcache.bin",
            "APT::Architecture": self.architecture,
            "APT::Architectures": self.architecture,
            "APT::Sandbox::User": "",
            "APT::Install-Recommends": "false",
            "APT::Get::Assume-Yes": "true",
            "Acquire::Languages": "none",
            "Acquire::Retries": "3",
        }
        return [part for key, value in pairs.items() for part in ("-o", f"{key}={value}")]

    @property
    def ready(self) -> bool:
        """True if there are lists of all `SUITES`: a look-up then fetches nothing."""
        note = self.root / "ready"
        return note.is_file() and note.read_text() == _WANTED

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold apt's files exclusively; a read-only cache needs no lock."""
        if self.ready and not os.access(self.root, os.W_OK):
            yield
            return
        with locked(self.root / "lock"):
            yield

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Hold apt's files exclusively, with package lists present.

        :raises CommandFailed: when the lists cannot be fetched.
        :raises NotBuilt: within `host.dry.nothing_built`, when there are none.
        """
        if not self.ready:
            refuse(f"package lists ({self.architecture})")
        with self._alone():
            self._prepare()
            yield

    def _prepare(self) -> None:
        """Fetch the package lists when there are none of `SUITES`; the caller holds the lock.

        Lists that lack some of `SUITES` are used if new ones cannot be fetched.
        """
        if self._stale or self.ready:
            return
        try:
            self.refresh()
        except CommandFailed:
            if not (self.root / "ready").is_file():
                raise
            self._stale = True
            say(
                f"  package lists ({self.architecture}) cannot be fetched: the older lists are used"
            )

    def refresh(self) -> None:
        """Fetch the package lists again; suites that the mirror does not have are left out."""
        self._resolved.clear()
        for folder in (
            self.root / "none",
            self.root / "state" / "lists" / "partial",
            self.archives / "partial",
        ):
            folder.mkdir(parents=True, exist_ok=True)
        (self.root / "state" / "status").touch()
        keyring = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
        signed = f" [signed-by={keyring}]" if keyring.is_file() else ""
        suites = list(SUITES)
        say(f"  package lists ({self.architecture}) ...")
        while True:
            lines = [
                f"{self.KIND}{signed} {mirrors()[part]} {suite} main" for suite, part in suites
            ]
            write_atomic(self.root / "sources.list", ("\n".join(lines) + "\n").encode())
            try:
                run(["apt-get", *self._options(), "update"], label="package lists")
                break
            except CommandFailed as error:
                absent = [
                    entry
                    for entry in suites
                    if re.search(rf" {re.escape(entry[0])} Release' ", error.log_text)
                ]
                if not absent or len(absent) == len(suites):
                    raise
                suites = [entry for entry in suites if entry not in absent]
        write_atomic(self.root / "ready", _WANTED.encode())

    def resolve(self, package: str, suite: str | None = None) -> dict[str, str]:
        """Version, SHA-256 and file name of the candidate of ``package`` (newest of ``suite``).

        :raises EascopeError: when no configured suite has it.
        """
        if known := self._resolved.get((package, suite)):
            return known
        with self._held():
            wanted = ["--target-release", suite] if suite else []
            try:
                policy = run(["apt-cache", *self._options(), *wanted, "policy", package]).decode()
                candidate = re.search(r"Candidate: (\S+)", policy)
                if candidate is None or candidate.group(1) == "(none)":
                    raise EascopeError(
                        f"package {package} ({self.architecture}) is in none of: "
                        f"{', '.join(name for name, _ in SUITES)}"
                    )
                version = candidate.group(1)
                for (name, _), known in self._resolved.items():
                    if (name, known["version"]) == (package, version):  # mostly in several suites
                        self._resolved[package, suite] = known
                        return known
                text = run(["apt-cache", *self._options(), "show", f"{package}={version}"]).decode()
            except CommandFailed as error:
                raise EascopeError(f"package {package} ({self.architecture}): {error}") from error
        fields = dict(
            line.split(": ", 1) for line in text.split("\n\n")[0].splitlines() if ": " in line
        )
        keys = ("Version", "SHA256", "Filename", "Architecture")
        self._resolved[package, suite] = {key.lower(): fields[key] for key in keys}
        return self._resolved[package, suite]

    def names(self, prefix: str) -> list[str]:
        """Names of packages that begin with ``prefix``, sorted.

        :raises CommandFailed: when the lists cannot be fetched or read.
        """
        with self._held():
            listing = run(["apt-cache", *self._options(), "pkgnames", prefix]).decode()
        return sorted(listing.split())

    def download(self, packages: list[str], suite: str | None = None) -> list[Deb]:
        """The packages alone, without their dependencies; kept in the cache.

        :raises EascopeError: when one is not to be had.
        """
        return [
            self._exactly([(package, self.resolve(package, suite)["version"])])[0]
            for package in packages
        ]

    def closure(self, packages: list[str], suite: str | None = None) -> list[Deb]:
        """The packages and all their dependencies (no recommends), sorted by name.

        :raises CommandFailed: when apt cannot resolve or fetch them.
        """
        for package in packages:
            self.resolve(package, suite)  # one clear line when one does not exist
        target = ["--target-release", suite] if suite else []
        with self._alone():
            simulated = run(
                ["apt-get", *self._options(), *target, "--simulate", "install", *packages],
                label="resolve " + " ".join(packages),
            ).decode()
        pairs = re.findall(r"^Inst (\S+) \((\S+) ", simulated, re.MULTILINE)
        names = sorted({name.partition(":")[0]: version for name, version in pairs}.items())
        return self._exactly(list(names))

    def _exactly(self, pairs: list[tuple[str, str]]) -> list[Deb]:
        """The files of these packages and versions, all fetched by one call of apt."""
        named = [f"{package}={version}" for package, version in pairs]
        with self._alone():
            text = run(["apt-cache", *self._options(), "show", *named]).decode()
            known: dict[tuple[str, str], Deb] = {}
            for stanza in text.split("\n\n"):
                fields = dict(line.split(": ", 1) for line in stanza.splitlines() if ": " in line)
                if not fields:
                    continue
                package, version = fields["Package"], fields["Version"]
                architecture = fields["Architecture"]
                name = f"{package}_{version.replace(':', '%3a')}_{architecture}.deb"
                deb = Deb(package, version, architecture, self.archives / name, fields["SHA256"])
                known.setdefault((package, version), deb)
            debs = [known[pair] for pair in pairs]
            absent = [
                f"{deb.package}={deb.version}"
                for deb in debs
                if not deb.path.is_file() or sha256_file(deb.path) != deb.sha256
            ]
            if absent:
                run(
                    ["apt-get", *self._options(), "download", *absent],
                    cwd=self.archives,
                    label=f"download {absent[0]}"
                    + (f" and {len(absent) - 1} more" if len(absent) > 1 else ""),
                )
            for deb in debs:
                if not deb.path.is_file() or sha256_file(deb.path) != deb.sha256:
                    raise EascopeError(
                        f"download of {deb.package}: its SHA-256 is not that of the package list"
                    )
        return debs


@cache
def apt(architecture: str) -> PrivateApt:
    """The private apt state for ``amd64`` or ``arm64``."""
    return PrivateApt(architecture)
