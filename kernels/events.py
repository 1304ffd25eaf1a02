# SPDX-License-Identifier: GPL-2.0-or-later
"""What a built kernel's ``vmlinux`` says for traces: its events, and addresses of symbols.

An event can so be refused before anything runs. The image is linked at a fixed address
(``CONFIG_RELOCATABLE`` is off without KASLR and EFI), so pointers in its data are addresses of its
symbols.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path

from eascope.host.errors import EascopeError
from eascope.kernels.elf import NOBITS, Elf

#: What LISA and trace-cmd look for in a marker: who wrote it into the ring buffer.
MARKER_WRITER = "tracing_mark_write"

#: ``struct trace_event_call``: a list head, then the class. <linux/trace_events.h>
_CLASS_OF_CALL = 16
#: ``struct trace_event_class``: the system's name comes first.
_SYSTEM_OF_CLASS = 0

_CALL = re.compile(r"event_(\w+)")
_SYSTEM = re.compile(r"str__(\w+)__trace_system_name")


class _Image:
    """A linked ELF file: its symbols by address, and its bytes by address.

    :raises EascopeError: when the file is not readable.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._elf = Elf(path.read_bytes())
            self.symbols = sorted(
                (symbol.value, symbol.name)
                for symbol in self._elf.symbols
                # "$x" marks code and data between functions.
                if symbol.names_a_place and symbol.name and not symbol.name.startswith("$")
            )
        except (OSError, ValueError, IndexError, struct.error) as error:
            raise EascopeError(f"symbols of the kernel: {path}: not readable: {error}") from error

    def pointer(self, address: int) -> int:
        """The pointer that lies at ``address``; 0 where the file has no bytes for it."""
        for section in self._elf.sections:
            start = section.address
            if start and section.kind != NOBITS and start <= address <= start + section.size - 8:
                (value,) = struct.unpack_from("<Q", self._elf.data(section), address - start)
                return int(value)
        return 0


@cache
def trace_symbols(vmlinux: Path) -> tuple[tuple[str, str], ...]:
    """(address, name) of `MARKER_WRITER` and of the symbol after it, as in ``/proc/kallsyms``.

    The second one marks the end of the first one. The addresses hold in a guest, too, since
    its kernel is not relocated (``nokaslr``).

    :raises EascopeError: when ``vmlinux`` is not readable, or lacks the symbol.
    """
    for symbols in pairwise(_Image(vmlinux).symbols):
        if symbols[0][1] == MARKER_WRITER:
            return tuple((f"{address:016x}", name) for address, name in symbols)
    raise EascopeError(f"{vmlinux}: has no symbol {MARKER_WRITER}")


@cache
def built_events(vmlinux: Path) -> dict[str, tuple[str, ...]]:
    """The systems that have an event, by the event's name; nearly always one.

    :raises EascopeError: when ``vmlinux`` is not readable, or has no events.
    """
    image = _Image(vmlinux)
    systems = {at: name[1] for at, text in image.symbols if (name := _SYSTEM.fullmatch(text))}
    events: dict[str, set[str]] = {}
    for at, text in image.symbols:
        # Of `event_class_NAME` and other symbols that are no calls, the chain ends nowhere.
        if name := _CALL.fullmatch(text):
            owner = image.pointer(image.pointer(at + _CLASS_OF_CALL) + _SYSTEM_OF_CLASS)
            if owner in systems:
                events.setdefault(name[1], set()).add(systems[owner])
    if not events:
        raise EascopeError(f"{vmlinux}: has no trace events")
    return {name: tuple(sorted(events[name])) for name in sorted(events)}


def qualified(events: dict[str, tuple[str, ...]]) -> list[str]:
    """All of ``events`` as ``system:name``, sorted."""
    return sorted(f"{system}:{name}" for name, systems in events.items() for system in systems)


def added_by(files: Iterable[Path]) -> set[str]:
    """Names of the trace events that patches, or files of a series, add together."""
    text = "\n".join(path.read_text(errors="replace") for path in files)
    return set(re.findall(r"^\+?(?:TRACE_EVENT|DEFINE_EVENT)\((?:\w+, )?(\w+),$", text, re.M))
