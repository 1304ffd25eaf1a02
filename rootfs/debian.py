# SPDX-License-Identifier: GPL-2.0-or-later
"""The provider ``debian``: programs of the content list from Debian's arm64 packages.

Taken are the programs, the libraries that they are linked with, and the data that the list names;
nothing is installed and no maintainer script runs.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from eascope.host.cache import artefact, digest_of, sha256_file, write_atomic
from eascope.host.debian import apt
from eascope.host.errors import EascopeError
from eascope.host.proc import run
from eascope.host.toolchain import TRIPLET, arm64_tool
from eascope.rootfs.content import CONTENT, Content, load_content
from eascope.rootfs.cpio import Archive
from eascope.rootfs.provenance import PROVENANCE, ProvidedPrograms

#: Where Debian's packages have libraries, and where its loader looks for them.
LIBRARIES = (f"usr/lib/{TRIPLET}", f"lib/{TRIPLET}", "usr/lib", "lib")
LOADER = "ld-linux-aarch64.so.1"
#: Files here that decide what the archive has, besides the packages.
MAKERS = ("content.toml", "cpio.py", "debian.py")
#: Users that servers run under: none of them runs as root.
USERS = (
    b"root:x:0:0:root:/:/bin/sh\nserver:x:100:100:server:/tmp:/bin/sh\n",
    b"root:x:0:\nserver:x:100:\n",
)


def debian_programs() -> Path:
    """Cached folder with ``programs.cpio`` and its ``provenance.json``.

    The first packages that this machine got are kept: their bytes are part of every run's key.

    :raises EascopeError: when a package is not to be had, or lacks what the list says.
    """
    content = load_content()
    here = CONTENT.parent
    fields = {
        "architecture": "arm64",
        "makers": {name: sha256_file(here / name) for name in MAKERS},
    }
    return artefact(
        "guest-programs",
        fields,
        lambda folder: _build(content, folder),
        label="programs of the guest (Debian arm64)",
        estimate_s=60,
    )


def _build(content: Content, folder: Path) -> None:
    wanted = {program.package for program in content.provided()}
    wanted |= {data.package for data in content.data}
    debs = apt("arm64").closure(sorted(wanted))
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        root = Path(place)
        for deb in debs:
            deb.unpack(root)
        (folder / "programs.cpio").write_bytes(_archive(content, root).data())
    every = [deb.provenance() for deb in debs]
    write_atomic(folder / "packages.json", json.dumps(every, indent=1, sort_keys=True).encode())
    ProvidedPrograms(
        provider="debian",
        packages={deb.package: deb.version for deb in debs if deb.package in wanted},
        packages_sha256=digest_of({"packages": every}),
    ).write(folder / PROVENANCE)


def _archive(content: Content, root: Path) -> Archive:
    """The archive of what the list names and what that is linked with.

    :param root: below which the packages are unpacked.

    :raises EascopeError: a file that the packages do not have.
    """
    archive = Archive()
    files: dict[str, Path] = {}
    for program in content.provided():
        files[program.file.lstrip("/")] = _there(root, program.file)
        if program.file != program.path:
            archive.link(program.path.lstrip("/"), program.file)
    for data in content.data:
        for name in data.files:
            for path in _below(_there(root, name)):
                files[path.relative_to(root).as_posix()] = path
    for name, path in _libraries(root, list(files.values())).items():
        folder = "lib" if name == LOADER else f"usr/lib/{TRIPLET}"
        files[f"{folder}/{name}"] = path
    for name, path in files.items():
        archive.file(name, path.read_bytes(), 0o755 if _is_elf(path) else 0o644)
    for name, text in zip(("etc/passwd", "etc/group"), USERS, strict=True):
        archive.file(name, text)
    return archive


def _there(root: Path, name: str) -> Path:
    path = root / name.lstrip("/")
    if not path.exists():
        raise EascopeError(f"{CONTENT.name}: {name} is in none of the packages that it names")
    return path.resolve()


def _below(path: Path) -> Iterator[Path]:
    """``path``, or all regular files below it."""
    if path.is_file():
        yield path
    else:
        yield from sorted(file for file in path.rglob("*") if file.is_file())


def _libraries(root: Path, programs: Iterable[Path]) -> dict[str, Path]:
    """Every library that ``programs`` are linked with, by the name that they ask for.

    :raises EascopeError: one that no package has.
    """
    known: dict[str, Path] = {}
    left = [path for path in programs if _is_elf(path)]
    while left:
        program = left.pop()
        for name in _needed(program):
            if name not in known:
                known[name] = _library(root, name, program)
                left.append(known[name])
    return known


def _library(root: Path, name: str, program: Path) -> Path:
    for folder in LIBRARIES:
        path = root / folder / name
        if path.exists():
            return path.resolve()
    raise EascopeError(f"{program.name} is linked with {name}, which no package has")


def _needed(program: Path) -> list[str]:
    """Names of the libraries that a program or library asks its loader for."""
    shown = run([arm64_tool("readelf"), "--dynamic", "--wide", program]).decode()
    return re.findall(r"\(NEEDED\).*\[(.+)\]", shown)


def _is_elf(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"
