# SPDX-License-Identifier: GPL-2.0-or-later
"""Which file of a C program uses which: what it includes, and the functions and data it names.

A module is a source and its header together: ``turns.c`` and ``turns.h``. C has no imports that say
which file defines a function, so the definitions are read from the sources: what stands at the
start of a line and is not ``static``, as the kernel's style has it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_INCLUDE = re.compile(r'^#include "([\w./-]+)\.h"', re.MULTILINE)
#: Comments, strings and characters: no code.
_NO_CODE = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.DOTALL)
#: The start of a definition: of a function (its body follows), or of data.
_FUNCTION = re.compile(
    r"^(?P<head>[A-Za-z_][\w\s*]*?)\b(?P<name>\w+)\([^;{}]*\)\s*\{", re.MULTILINE
)
_DATA = re.compile(
    r"^(?P<head>[A-Za-z_][\w\s*]*[\s*])(?P<name>\w+)(?:\[[^\]]*\])*\s*(?:=|;)", re.MULTILINE
)
_NOT_SHARED = {"static", "extern", "typedef", "return", "else", "goto"}


@dataclass(frozen=True)
class Use:
    """``user`` needs ``used``, both modules: line ``line`` of ``file`` names ``name``."""

    user: str
    used: str
    file: str
    line: int
    name: str


def code(text: str) -> str:
    """A source without comments, strings and characters; lines stay where they are."""
    return _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def definitions(text: str) -> dict[str, bool]:
    """The functions and data that a source defines: whether other files may use them."""
    defined: dict[str, bool] = {}
    for pattern in (_FUNCTION, _DATA):
        for match in pattern.finditer(code(text)):
            words = set(match["head"].split())
            shared = not words & _NOT_SHARED
            if shared or "static" in words:
                defined[match["name"]] = defined.get(match["name"], False) or shared
    return defined


def modules(folder: Path) -> list[str]:
    """The modules of a folder, sorted."""
    return sorted({path.stem for path in folder.glob("*.[ch]")})


def uses(folder: Path) -> Iterator[Use]:
    """Every include of a header of the folder, and every name that another source defines."""
    texts = {path: path.read_text() for path in sorted(folder.glob("*.[ch]"))}
    names = set(modules(folder))
    defined = {path: definitions(text) for path, text in texts.items() if path.suffix == ".c"}
    shared = [
        (n, p.stem)
        for p, names_of in defined.items()
        for n, is_shared in names_of.items()
        if is_shared
    ]
    # Several programs of one folder each define main(): such a name is no single file's.
    counts = Counter(name for name, _ in shared)
    owner = {name: module for name, module in shared if counts[name] == 1}
    for path, text in texts.items():
        for match in _INCLUDE.finditer(text):
            if match[1] in names:
                yield _use(path, match[1], text, match.start(), f"{match[1]}.h")
        if path.suffix == ".c":
            for match in re.finditer(r"(?<![\w.>])(?:struct\s+|enum\s+)?[A-Za-z_]\w*", code(text)):
                if match[0] in owner and match[0] not in defined[path]:
                    yield _use(path, owner[match[0]], text, match.start(), match[0])


def _use(path: Path, used: str, text: str, start: int, name: str) -> Use:
    return Use(path.stem, used, path.name, text.count("\n", 0, start) + 1, name)
