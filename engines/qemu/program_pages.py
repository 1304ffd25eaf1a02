# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of a program's code, by which the plugin knows it (``plugin/program.c``).

Pages that other files of the guest image hold too, such as those of a static C library, are left
out.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from eascope.host.errors import EascopeError
from eascope.rootfs.newc import files_of

PAGE_BYTES = 4096
#: Pages of all programs of a run: the plugin has room for so many.
MOST_PAGES = 4096
_LOADED, _EXECUTABLE = 1, 1
_HEADERS_AT, _HEADER_SIZE_AT = 0x20, 0x36
_WORDS = 1 << 64


@cache
def program_pages(initramfs: Path, program: str) -> tuple[int, ...]:
    """Digests of the pages that hold the code of ``program`` alone in a guest image, each once.

    :param program: its path in the guest.
    :raises EascopeError: when the image lacks it, it is no 64-bit ELF file, or no page is its own.
    """
    files = files_of(initramfs.read_bytes())
    content = files.get(program)
    if content is None:
        raise EascopeError(f"{initramfs}: the guest image has no file {program}")
    if not _is_elf(content):
        raise EascopeError(f"{initramfs}: {program} is no 64-bit ELF file: its code is not known")
    pages = dict.fromkeys(_code_pages(content))
    for other in files.values():
        if _is_elf(other) and other != content:
            for page in _code_pages(other):
                pages.pop(page, None)
    if not pages:
        raise EascopeError(f"{initramfs}: all code of {program} is in other programs, too")
    return tuple(digest(page) for page in pages)


def _is_elf(content: bytes) -> bool:
    return content[:5] == b"\x7fELF\x02"


def _code_pages(content: bytes) -> Iterator[bytes]:
    """The content of each page with code, as Linux maps it."""
    numbers = {number for start, end in _code(content) for number in _pages(start, end)}
    for number in sorted(numbers):
        yield _page(content, number)


def _code(content: bytes) -> list[tuple[int, int]]:
    """Where executable segments lie in an ELF file."""
    (headers,) = struct.unpack_from("<Q", content, _HEADERS_AT)
    size, count = struct.unpack_from("<HH", content, _HEADER_SIZE_AT)
    parts = []
    for number in range(count):
        kind, flags, offset = struct.unpack_from("<IIQ", content, headers + number * size)
        (length,) = struct.unpack_from("<Q", content, headers + number * size + 32)
        if kind == _LOADED and flags & _EXECUTABLE:
            parts.append((offset, offset + length))
    return parts


def _pages(start: int, end: int) -> range:
    return range(start // PAGE_BYTES, -(-end // PAGE_BYTES))


def _page(content: bytes, number: int) -> bytes:
    """Zeros follow the end of the file."""
    page = content[number * PAGE_BYTES : (number + 1) * PAGE_BYTES]
    return page.ljust(PAGE_BYTES, b"\0")


def digest(page: bytes) -> int:
    """The plugin's digest of a page's content."""
    value = 0xCBF29CE484222325
    for (word,) in struct.iter_unpack("<Q", page):
        value = (value ^ word) * 0x100000001B3 % _WORDS
        value ^= value >> 32
    return value
