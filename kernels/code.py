# SPDX-License-Identifier: GPL-2.0-or-later
"""The code of a built kernel: a digest that is equal where kernels do the same.

It is taken of the objects that are linked, not of the image: the kernel's name is in the image, and
moves all that lies after it. Of each object count the sections that are loaded, their relocations
and the symbols that others can see. What does not count is what numbers of lines and names of local
symbols change: debug sections, notes (with the build id), the lines in ``__bug_table``, and the
symbol table, in which macros name things by ``__LINE__``.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from eascope.host.cache import digest_of, sha256_bytes, sha256_file
from eascope.host.proc import run
from eascope.host.toolchain import arm64_tool
from eascope.kernels.elf import ALLOC, NOBITS, RELA, Elf

#: In the command or the dependencies of an object that has the kernel's name.
_NAMED = re.compile(r"/utsrelease\.h|/utsversion[\w.-]*\.h|-DEASCOPE_KERNEL=")
_SOURCE = re.compile(r"^source_\S+ := (\S+)", re.MULTILINE)
#: The linker's script, and the archives that name all objects.
_SCRIPT = "arch/arm64/kernel/vmlinux.lds"
_ARCHIVES = ("vmlinux.a", "lib/lib.a", "arch/arm64/lib/lib.a")
_RELOCATION = struct.Struct("<QIIq")
#: ``struct bug_entry``: the number of the line follows the pointer to the file's name.
_BUGS, _POINTER, _LINE = "__bug_table", 4, 2


def linked_objects(out: Path) -> list[Path]:
    """The objects of the kernel that was built in ``out``, in the order of the linker."""
    names = (run([arm64_tool("ar"), "t", name], cwd=out).decode() for name in _ARCHIVES)
    return [out / name for name in "".join(names).split()]


def kbuild_command(path: Path) -> str:
    """The command that made an object, its source and all files that were read for it."""
    return path.with_name(f".{path.name}.cmd").read_text()


def code_digest(out: Path) -> str:
    """Digest of the code that was built in ``out``; see above.

    Of the few objects that have the kernel's name, their source counts.
    """
    digests = {}
    for path in linked_objects(out):
        command = kbuild_command(path)
        if _NAMED.search(command) and (source := _SOURCE.search(command)):
            digest = sha256_file(out / source[1])
        else:
            digest = object_digest(path.read_bytes())
        digests[str(path.relative_to(out))] = digest
    script = out / _SCRIPT
    return digest_of(digests | ({_SCRIPT: sha256_file(script)} if script.is_file() else {}))


def object_digest(content: bytes) -> str:
    """Digest of what an object does; of what is no object, the digest of its bytes."""
    try:
        elf = Elf(content)
    except ValueError:
        return sha256_bytes(content)
    whole = hashlib.sha256()
    for part in _parts(elf):
        whole.update(part if isinstance(part, bytes) else repr(part).encode())
    return whole.hexdigest()


def _parts(elf: Elf) -> Iterator[bytes | tuple[object, ...]]:
    loaded = {
        number
        for number, section in enumerate(elf.sections)
        if section.flags & ALLOC and not section.name.startswith((".note", ".discard"))
    }
    relocations = {section.info: section for section in elf.sections if section.kind == RELA}
    for number in sorted(loaded):
        section = elf.sections[number]
        yield (section.name, section.kind, section.flags, section.align, section.size)
        found = [
            (at, kind, elf.symbols[symbol].identity, addend)
            for at, kind, symbol, addend in (
                _RELOCATION.iter_unpack(elf.data(relocations[number]))
                if number in relocations
                else ()
            )
        ]
        yield (found,)
        if section.kind != NOBITS:
            data = bytearray(elf.data(section))
            if section.name == _BUGS:
                for at, _, (_, place, _), _ in found:
                    if place.startswith(".rodata"):
                        data[at + _POINTER : at + _POINTER + _LINE] = bytes(_LINE)
            yield bytes(data)
    yield (sorted((*s.identity, s.size) for s in elf.symbols if s.shared and s.index in loaded),)
