# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU for the fast engine: Debian 13's own, unpacked privately, never installed.

The plugin uses functions outside QEMU's plugin interface, and another major.minor may lack them. So
every host uses the same QEMU, whatever its own Debian release is. The packages come through the
private apt state; the system's apt sources are not touched. Only the program, the libraries that it
loads, and their dynamic linker are kept. The program is started through that linker, so the host's
C library does not matter.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from eascope.host.cache import artefact, cache_root, canonical_json, digest_of, write_atomic
from eascope.host.debian import apt
from eascope.host.dry import refuse
from eascope.host.errors import EascopeError
from eascope.host.proc import about, need, run
from eascope.host.record import RecordError, load_json

SUITE = "trixie"
PACKAGE = "qemu-system-arm"
#: The release whose internals the plugin knows (engines/qemu/plugin/qemu_internals.c).
RELEASE = "10.0"
LABEL = f"QEMU {RELEASE} (Debian {SUITE})"
ESTIMATE_S = 30.0
#: Dependencies of Debian's maintainer scripts, and files for firmware and network boot.
NOT_NEEDED = re.compile(
    r"adduser|base-passwd|debconf|passwd|login\.defs|lib(audit|pam|semanage|sepol|debconf).*|"
    r".*-common|.*-data|openssl-provider-legacy|libsystemd-shared"
)


@dataclass(frozen=True)
class Qemu:
    """An unpacked QEMU: its command, its version and its digest.

    ``version`` is Debian's package version; ``digest`` covers every package that it was made from.
    """

    folder: Path
    version: str
    digest: str
    packages: list[dict[str, str]]

    @property
    def command(self) -> tuple[str, ...]:
        """The start of the command line: own dynamic linker, own libraries, own data."""
        library = self.folder / "lib"
        linker = next(library.glob("ld-linux*"))
        program = self.folder / "bin" / "qemu-system-aarch64"
        return (
            str(linker),
            "--library-path",
            str(library),
            str(program),
            "-L",
            str(self.folder / "share"),
        )


def host_architecture() -> str:
    """Debian's name of this machine's architecture."""
    return run([need("dpkg", "dpkg"), "--print-architecture"]).decode().strip()


def _resolution_file() -> Path:
    return cache_root() / "qemu" / f"packages-{host_architecture()}.json"


def _resolve() -> list[dict[str, str]]:
    """Names, versions and digests of the packages; asked from apt once, then kept."""
    known = _resolution_file()
    if known.is_file():
        try:
            packages = load_json(known)
            return [{key: str(entry[key]) for key in _FIELDS} for entry in packages]
        except (RecordError, KeyError, TypeError) as error:
            raise EascopeError(
                f"cache entry {known} is corrupt ({error}): remove that file and run again"
            ) from error
    refuse(LABEL, about(ESTIMATE_S))
    debs = apt(host_architecture()).closure([PACKAGE], SUITE)
    packages = [deb.provenance() for deb in debs if not NOT_NEEDED.fullmatch(deb.package)]
    version = next(p["version"] for p in packages if p["package"] == PACKAGE)
    _check_release(version)
    write_atomic(known, canonical_json(packages))
    return packages


_FIELDS = ("package", "version", "architecture", "sha256")


def _check_release(version: str) -> None:
    upstream = re.sub(r"^\d+:", "", version)
    if not upstream.startswith(RELEASE + "."):
        raise EascopeError(
            f"{PACKAGE} of {SUITE} is {version}: the fast engine's plugin is written for QEMU "
            f"{RELEASE}: use a mirror that still has {RELEASE}"
        )


def qemu() -> Qemu:
    """QEMU, fetched and unpacked into the cache when it is not there.

    :raises EascopeError: when the packages cannot be had, or are of another release.
    """
    packages = _resolve()
    folder = artefact(
        "qemu",
        {"packages": packages, "layout": 2},
        lambda folder: _unpack(packages, folder),
        label=LABEL,
        estimate_s=ESTIMATE_S,
    )
    version = next(p["version"] for p in packages if p["package"] == PACKAGE)
    return Qemu(folder, version, digest_of({"packages": packages}), packages)


def _unpack(packages: list[dict[str, str]], folder: Path) -> None:
    wanted = {(entry["package"], entry["version"]): entry["sha256"] for entry in packages}
    with tempfile.TemporaryDirectory(dir=folder) as name:
        root = Path(name)
        for deb in apt(host_architecture()).closure([PACKAGE], SUITE):
            if wanted.get((deb.package, deb.version)) == deb.sha256:
                deb.unpack(root)
                del wanted[deb.package, deb.version]
        if wanted:
            missing = ", ".join(f"{name} {version}" for name, version in wanted)
            raise EascopeError(
                f"the mirror no longer has {missing}: remove {_resolution_file()} and run again"
            )
        _collect(root, folder)


def _collect(root: Path, folder: Path) -> None:
    """Copy the program, the libraries that its dynamic linker names, and that linker."""
    program = root / "usr/bin/qemu-system-aarch64"
    linkers = sorted(root.glob("usr/lib/*/ld-linux*.so.*"))
    if not program.is_file() or not linkers:
        raise EascopeError(f"{PACKAGE} has no {program.name}, or its C library no linker")
    triplet = linkers[0].parent
    listing = run(
        [linkers[0], "--library-path", triplet, "--list", program], label="libraries of QEMU"
    ).decode()
    paths = re.findall(r"=> (.+) \(", listing)
    if "not found" in listing or not paths:
        lost = re.findall(r"(\S+) => not found", listing)
        raise EascopeError(f"QEMU's packages lack the libraries {', '.join(lost)}")
    outside = [path for path in paths if not path.startswith(str(root))]
    if outside:
        raise EascopeError(f"QEMU would load libraries of the system: {', '.join(outside)}")
    for target in (folder / "bin", folder / "lib", folder / "share"):
        target.mkdir()
    shutil.copy2(program, folder / "bin")
    shutil.copy2(linkers[0], folder / "lib" / linkers[0].name)
    for path in paths:
        shutil.copy2(path, folder / "lib" / Path(path).name)
