# SPDX-License-Identifier: GPL-2.0-or-later
"""The trace events of a built kernel, by name and system as in ``tracefs``.

They are read from ``vmlinux``, so a name can be refused before anything runs. Its image is linked
at a fixed address (``CONFIG_RELOCATABLE`` is off without KASLR and EFI), so pointers in its data
are addresses of its symbols.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from eascope.host.errors import EascopeError
from eascope.host.proc import run
from eascope.host.toolchain import arm64_tool

#: ELF64: where the section headers are (offset 0x28), the size of one and how many there are; of a
#: header: type, address, offset in the file, size. <elf.h>
_SECTIONS, _SECTION_SIZE, _SECTION_COUNT = 0x28, 0x3A, 0x3C
_SECTION = struct.Struct("<4xI8xQQQ")
_NOBITS = 8
#: ``struct trace_event_call``: a list head, then the class. <linux/trace_events.h>
_CLASS_OF_CALL = 16
#: ``struct trace_event_class``: the system's name comes first.
_SYSTEM_OF_CLASS = 0

_CALL = re.compile(r"event_(\w+)")
_SYSTEM = re.compile(r"str__(\w+)__trace_system_name")


class _Image:
    """Bytes of a linked ELF file by address."""

    def __init__(self, path: Path) -> None:
        self._bytes = path.read_bytes()
        (start,) = struct.unpack_from("<Q", self._bytes, _SECTIONS)
        size, count = struct.unpack_from("<HH", self._bytes, _SECTION_SIZE)
        headers = (_SECTION.unpack_from(self._bytes, start + n * size) for n in range(count))
        self._sections = [
            (address, offset, length)
            for kind, address, offset, length in headers
            if address and kind != _NOBITS
        ]

    def pointer(self, address: int) -> int:
        """The pointer that lies at ``address``; 0 where the file has no bytes for it."""
        for start, offset, length in self._sections:
            if start <= address < start + length:
                (value,) = struct.unpack_from("<Q", self._bytes, offset + address - start)
                return int(value)
        return 0


@cache
def built_events(vmlinux: Path) -> dict[str, tuple[str, ...]]:
    """The systems that have an event, by the event's name; nearly always one.

    :raises EascopeError: when ``vmlinux`` is not readable, or has no events.
    """
    listing = run([arm64_tool("nm"), vmlinux], label="symbols of the kernel").decode()
    symbols = [words for line in listing.splitlines() if len(words := line.split()) == 3]
    systems = {int(at, 16): name[1] for at, _, text in symbols if (name := _SYSTEM.fullmatch(text))}
    image = _Image(vmlinux)
    events: dict[str, set[str]] = {}
    for at, _, text in symbols:
        # Of `event_class_NAME` and other symbols that are no calls, the chain ends nowhere.
        if name := _CALL.fullmatch(text):
            owner = image.pointer(image.pointer(int(at, 16) + _CLASS_OF_CALL) + _SYSTEM_OF_CLASS)
            if owner in systems:
                events.setdefault(name[1], set()).add(systems[owner])
    if not events:
        raise EascopeError(f"{vmlinux}: has no trace events")
    return {name: tuple(sorted(events[name])) for name in sorted(events)}


def qualified(events: dict[str, tuple[str, ...]]) -> list[str]:
    """All of ``events`` as ``system:name``, sorted."""
    return sorted(f"{system}:{name}" for name, systems in events.items() for system in systems)


def added_by(patch: Path) -> set[str]:
    """Names of the trace events that a patch, or a file of a queue, adds."""
    text = patch.read_text(errors="replace")
    return set(re.findall(r"^\+?(?:TRACE_EVENT|DEFINE_EVENT)\((?:\w+, )?(\w+),$", text, re.M))


def added_by_all(patches: Iterable[Path]) -> set[str]:
    """Names of the trace events that ``patches`` add together."""
    return {name for patch in patches for name in added_by(patch)}
