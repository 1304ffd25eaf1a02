# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages: a person's notes with the parts of a record set into them.

Notes are Markdown in ``results/notes/NAME.md``. ``{{ part }}`` stands for a part of the record: a
table on its own line, or a figure within a sentence. So a page is a function of the record and its
notes, and a person decides the place of question, answer and limits. A line that begins with
``{{#planned NAME}}`` is left out while nobody has made the page ``NAME``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from analysis.results.origin import RESULTS
from host.errors import RequestError, bad_input, nearest
from host.strict import shown_path

NOTES = RESULTS / "notes"
PAGES = RESULTS.parent / "docs" / "results"

_PART = re.compile(r"\{\{ ([\w./-]+) \}\}")
_PLANNED = re.compile(r"\{\{#planned ([\w-]+)\}\}")


def page_of(
    name: str,
    parts: Mapping[str, str],
    notes: Path = NOTES,
    also: Mapping[str, str] | None = None,
    planned: Collection[str] = (),
) -> str:
    """The text of the page ``name``.

    :param parts: Markdown by name; every one must have its place in the notes.
    :param also: further parts, which may be left out.
    :param planned: pages that are not there yet: lines that are marked with one are left out.
    :raises RequestError: one line: a part that does not exist, or one that has no place.
    """
    path = notes / f"{name}.md"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise RequestError(f"{shown_path(path)}: {error.strerror}: allowed: notes") from error
    text = "".join(_without_planned(text.splitlines(keepends=True), planned))
    used = set(_PART.findall(text))
    known = {**(also or {}), **parts}
    for part in _PART.finditer(text):
        if part[1] not in known:
            line = f"line {text.count(chr(10), 0, part.start()) + 1}"
            allowed = f"one of {', '.join(known)}{nearest(part[1], known)}"
            raise bad_input(shown_path(path), line, part[0], allowed)
    for part_name in parts:
        if part_name not in used:
            raise RequestError(f"{shown_path(path)}: {{{{ {part_name} }}}} is missing")
    return _PART.sub(lambda part: known[part[1]], text)


def _without_planned(lines: Iterable[str], planned: Collection[str]) -> Iterator[str]:
    """``lines`` without those that are marked with a page of ``planned``, and without marks."""
    for line in lines:
        mark = _PLANNED.match(line)
        if mark is None:
            yield line
        elif mark[1] not in planned:
            yield line[mark.end() :]
