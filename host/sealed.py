# SPDX-License-Identifier: GPL-2.0-or-later
"""Sealed folders: their file ``done`` holds the digest of every other file.

A run is sealed when its engine has ended well, a folder of derived tables when all tables exist.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from eascope.host.cache import sha256_file, write_atomic
from eascope.host.errors import EascopeError
from eascope.host.record import Record

DONE = "done"


@dataclass(frozen=True)
class FileDigest(Record):
    """A file's length in bytes and the hex SHA-256 of its content."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class Done(Record):
    """``done``: the digests of a folder's files, by name."""

    files: Mapping[str, FileDigest]

    def to_bytes(self) -> bytes:
        """The file's content; it has no line break at its end, unlike other records."""
        return super().to_bytes().rstrip(b"\n")


def files_of(folder: Path, outside: Collection[str] = ()) -> dict[str, Path]:
    """Every file below ``folder`` by its name relative to it, in order of names.

    :param outside: names at the top that do not count.
    """
    files: dict[str, Path] = {}
    for top in folder.iterdir():
        if top.name not in outside:
            for path in (top, *(top.rglob("*") if top.is_dir() else ())):
                if not path.is_dir() or path.is_symlink():
                    files[path.relative_to(folder).as_posix()] = path
    return dict(sorted(files.items()))


def seal(folder: Path, outside: Collection[str] = ()) -> None:
    """Write ``done`` with the digests of the files below ``folder``."""
    files = {
        name: FileDigest(path.stat().st_size, sha256_file(path))
        for name, path in files_of(folder, (*outside, DONE)).items()
    }
    write_atomic(folder / DONE, Done(files).to_bytes())


def damage(folder: Path) -> list[str]:
    """Changes since the sealing: one line for each file that is missing or differs.

    A process reads a file once, as long as the file system says that it has not changed.
    """
    try:
        done = Done.read(folder / DONE)
    except EascopeError as error:
        return [str(error)]
    damages = []
    for name, wanted in sorted(done.files.items()):
        path = folder / name
        if not path.is_file():
            damages.append(f"{path}: is missing")
        elif sha256_file(path) != wanted.sha256:
            damages.append(f"{path}: does not match its recorded SHA-256")
    return damages


def added(folder: Path, outside: Collection[str] = ()) -> list[str]:
    """A line for each file below a sealed ``folder`` that ``done`` does not name."""
    known = Done.read(folder / DONE).files
    return [
        f"{path}: was added"
        for name, path in files_of(folder, (*outside, DONE)).items()
        if name not in known
    ]
