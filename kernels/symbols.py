# SPDX-License-Identifier: GPL-2.0-or-later
"""Addresses of a kernel's symbols, for readers of a trace."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from eascope.host.errors import EascopeError

#: What LISA and trace-cmd look for in a marker: who wrote it into the ring buffer.
MARKER_WRITER = "tracing_mark_write"

#: Of a 64-bit little-endian ELF file: the header from ``e_shoff`` on, a section, a symbol.
_HEADER, _HEADER_AT = struct.Struct("<QIHHHHHH"), 40
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMTAB = 2
#: Types of symbols that stand for a section or a file.
_NO_CODE = (3, 4)


@cache
def trace_symbols(vmlinux: Path) -> tuple[tuple[str, str], ...]:
    """(address, name) of `MARKER_WRITER` and of the symbol after it, as in ``/proc/kallsyms``.

    The second one marks the end of the first one. The addresses hold in a guest, too, since
    its kernel is not relocated (``nokaslr``). The file is read here and not by ``nm``, so that a
    machine without the arm64 tools can run what another has built.

    :raises EascopeError: when ``vmlinux`` is not readable, or lacks the symbol.
    """
    try:
        symbols = sorted(_symbols(vmlinux.read_bytes()))
    except (OSError, ValueError, OverflowError, IndexError, struct.error) as error:
        raise EascopeError(f"symbols of the kernel: {vmlinux}: not readable: {error}") from error
    for symbol, after in pairwise(symbols):
        if symbol[1] == MARKER_WRITER:
            return symbol, after
    raise EascopeError(f"{vmlinux}: has no symbol {MARKER_WRITER}")


def _symbols(data: bytes) -> Iterator[tuple[str, str]]:
    """(address, name) of every symbol that is defined, in 16 digits."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError("no 64-bit little-endian ELF file")
    offset, _, _, _, _, size, count, _ = _HEADER.unpack_from(data, _HEADER_AT)
    sections = [_SECTION.unpack_from(data, offset + number * size) for number in range(count)]
    for _, kind, _, _, begin, length, link, *_ in sections:
        if kind != _SYMTAB:
            continue
        names = sections[link][4]
        for at, info, _, section, value, _ in _SYMBOL.iter_unpack(data[begin : begin + length]):
            if section == 0 or info & 15 in _NO_CODE:
                continue
            name = data[names + at : data.index(b"\0", names + at)].decode()
            if name and not name.startswith("$"):  # marks of code and data between functions
                yield f"{value:016x}", name
