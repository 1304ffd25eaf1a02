# SPDX-License-Identifier: GPL-2.0-or-later
"""The initramfs's format: newc cpio, the same bytes for the same content on every machine."""

from __future__ import annotations

import stat
from dataclasses import dataclass, field


@dataclass
class Archive:
    """Folders, files, links and device nodes, owned by root, dated 0, sorted by name.

    >>> archive = Archive()
    >>> archive.file("init", program, 0o755)
    >>> data = archive.data()
    """

    _entries: dict[str, tuple[int, bytes, tuple[int, int]]] = field(default_factory=dict)

    def folder(self, name: str) -> None:
        """A folder; those above it are made as well."""
        self._add(name, stat.S_IFDIR | 0o755, b"")

    def file(self, name: str, content: bytes, mode: int = 0o644) -> None:
        """A regular file with these permission bits."""
        self._add(name, stat.S_IFREG | mode, content)

    def link(self, name: str, target: str) -> None:
        """A symbolic link."""
        self._add(name, stat.S_IFLNK | 0o777, target.encode())

    def character_device(self, name: str, major: int, minor: int) -> None:
        """A character device node."""
        self._add(name, stat.S_IFCHR | 0o600, b"", (major, minor))

    def _add(self, name: str, mode: int, content: bytes, device: tuple[int, int] = (0, 0)) -> None:
        parts = name.split("/")
        if not all(part not in ("", ".", "..") for part in parts):
            raise ValueError(f"not a plain relative path: {name!r}")
        for depth in range(1, len(parts)):
            self._entries.setdefault("/".join(parts[:depth]), (stat.S_IFDIR | 0o755, b"", (0, 0)))
        known = self._entries.get(name)
        if known is not None and not (stat.S_ISDIR(known[0]) and stat.S_ISDIR(mode)):
            raise ValueError(f"{name!r} is in the archive twice")
        self._entries[name] = (mode, content, device)

    def data(self) -> bytes:
        """The archive's bytes; a multiple of 512, so that another archive can follow."""
        out = bytearray()
        for number, name in enumerate(sorted(self._entries), start=1):
            out += entry(number, name, *self._entries[name])
        out += TRAILER
        out += bytes(-len(out) % 512)
        return bytes(out)


def entry(
    inode: int, name: str, mode: int, content: bytes, device: tuple[int, int] = (0, 0)
) -> bytes:
    """One entry, owned by root and dated 0; a multiple of four bytes."""
    encoded = name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(mode) else 1
    fields = (inode, mode, 0, 0, links, 0, len(content), 0, 0, *device, len(encoded), 0)
    head = b"070701" + b"".join(b"%08X" % value for value in fields) + encoded
    head += bytes(-len(head) % 4)
    return head + content + bytes(-len(content) % 4)


#: The entry that ends an archive.
TRAILER = entry(0, "TRAILER!!!", 0, b"")
