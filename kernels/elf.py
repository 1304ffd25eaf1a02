# SPDX-License-Identifier: GPL-2.0-or-later
"""ELF files of arm64, as far as kernels need: sections, symbols, bytes.

They are read here and not by ``nm`` or ``objdump``: a machine without the arm64 tools can run what
another has built.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property

#: Of a 64-bit little-endian ELF file: the header from ``e_shoff`` on, a section, a symbol. <elf.h>
_HEADER, _HEADER_AT = struct.Struct("<QIHHHHHH"), 40
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
#: Kinds of sections, and the flag of those that are loaded.
SYMTAB, RELA, NOBITS, ALLOC = 2, 4, 8, 2
#: Types of symbols that stand for a section or a file; the binding of those that are local.
_SECTION_TYPE, _FILE_TYPE, _LOCAL = 3, 4, 0


@dataclass(frozen=True)
class Section:
    """A section header."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int


@dataclass(frozen=True)
class Symbol:
    """A symbol; ``index`` is its section's, ``place`` the section's name."""

    name: str
    info: int
    index: int
    place: str
    value: int
    size: int

    @property
    def names_a_place(self) -> bool:
        """True if it is defined and stands for code or data, not for a section or file."""
        return self.index != 0 and self.info & 15 not in (_SECTION_TYPE, _FILE_TYPE)

    @property
    def shared(self) -> bool:
        """True if other objects can see it."""
        return self.info >> 4 != _LOCAL

    @property
    def identity(self) -> tuple[str, str, int]:
        """What others name it by: its name, or of a local one where it is."""
        return self.name if self.shared else "", self.place, self.value


class Elf:
    """A file's content.

    :raises ValueError: when it is not readable.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        try:
            if content[:6] != b"\x7fELF\x02\x01":
                raise ValueError("no 64-bit little-endian ELF file")
            start, *_, size, count, names = _HEADER.unpack_from(content, _HEADER_AT)
            raw = [_SECTION.unpack_from(content, start + n * size) for n in range(count)]
            self.sections = [
                Section(self._text(raw[names][4] + name), *rest[:-1]) for name, *rest in raw
            ]
        except (OverflowError, IndexError, struct.error) as error:
            raise ValueError(str(error)) from error

    @cached_property
    def symbols(self) -> list[Symbol]:
        """All symbols, in the file's order."""
        return [
            Symbol(
                self._text(self.sections[table.link].offset + name),
                info,
                index,
                self.sections[index].name if index < len(self.sections) else str(index),
                value,
                size,
            )
            for table in self.sections
            if table.kind == SYMTAB
            for name, info, _, index, value, size in _SYMBOL.iter_unpack(self.data(table))
        ]

    def data(self, section: Section) -> bytes:
        """The bytes of ``section``."""
        return self._content[section.offset : section.offset + section.size]

    def _text(self, at: int) -> str:
        return self._content[at : self._content.index(b"\0", at)].decode()
