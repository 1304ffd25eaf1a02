# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading a newc cpio that somebody else wrote, into an archive of ours."""

from __future__ import annotations

import stat
from collections.abc import Generator, Iterator
from dataclasses import dataclass

from eascope.host.errors import EascopeError
from eascope.rootfs.cpio import Archive

MAGIC = b"070701"
_HEAD = len(MAGIC) + 13 * 8


@dataclass(frozen=True)
class Entry:
    """An entry: its path without a first slash, mode, content, and numbers of a device."""

    name: str
    inode: int
    mode: int
    content: bytes
    device: tuple[int, int]


def entries(data: bytes) -> Iterator[Entry]:
    """The entries of a newc archive, in their order.

    :raises EascopeError: what is no such archive, or is cut.
    """
    yield from _entries(data, 0)


def _entries(data: bytes, at: int) -> Generator[Entry, None, int]:
    """The entries of the archive that begins at byte ``at``; returns where it ends."""
    while True:
        head = data[at : at + _HEAD]
        if len(head) < _HEAD or head[:6] != MAGIC:
            raise EascopeError(f"not a newc cpio archive: byte {at}")
        numbers = [int(head[start : start + 8], 16) for start in range(6, _HEAD, 8)]
        inode, mode, size, length = numbers[0], numbers[1], numbers[6], numbers[11]
        name = data[at + _HEAD : at + _HEAD + length - 1].decode()
        start = (at + _HEAD + length + 3) & ~3
        if name == "TRAILER!!!":
            return start
        if start + size > len(data):
            raise EascopeError(f"a newc cpio archive that is cut: {name}")
        content = data[start : start + size]
        yield Entry(name.removeprefix("./"), inode, mode, content, (numbers[9], numbers[10]))
        at = (start + size + 3) & ~3


def files_of(image: bytes) -> dict[str, bytes]:
    """Regular files of a guest image by path, of newc archives one after the other.

    As in the guest, a file of a later archive replaces an earlier one. Of several names of one
    file, only the last has the content.

    :raises EascopeError: when the image is no such archive.
    """
    return {
        f"/{entry.name}": entry.content for entry in _all_entries(image) if stat.S_ISREG(entry.mode)
    }


def _all_entries(image: bytes) -> Iterator[Entry]:
    """The entries of archives that follow one another, with zeros between them."""
    at = 0
    while at < len(image):
        if any(image[at : at + 4]):
            at = yield from _entries(image, at)
        else:
            at += 4


def archive_of(data: bytes) -> Archive:
    """The same files, owned by root, dated 0 and sorted, so that equal files give equal bytes.

    Permissions of folders are not kept.

    :raises EascopeError: as `entries`, and for an entry that is of another kind.
    """
    archive = Archive()
    every = [entry for entry in entries(data) if entry.name not in (".", "")]
    # Of several names of a file, only the last entry has the content.
    whole = {entry.inode: entry.content for entry in every if entry.content}
    for entry in every:
        if stat.S_ISDIR(entry.mode):
            archive.folder(entry.name)
        elif stat.S_ISREG(entry.mode):
            content = entry.content or whole.get(entry.inode, b"")
            archive.file(entry.name, content, stat.S_IMODE(entry.mode))
        elif stat.S_ISLNK(entry.mode):
            archive.link(entry.name, entry.content.decode())
        elif stat.S_ISCHR(entry.mode):
            archive.character_device(entry.name, *entry.device)
        else:
            raise EascopeError(f"cpio: {entry.name}: neither file, folder, link nor device")
    return archive
