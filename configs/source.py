# SPDX-License-Identifier: GPL-2.0-or-later
"""Sources: one line for each figure of a platform or a core that states its origin."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from eascope.host.errors import nearest, shortened
from eascope.host.keys import is_line, maybe, text_form
from eascope.host.strict import StrictTable

#: How a source's text begins, and what that means.
KINDS = {
    "measured": "measured by this project; the text says on what",
    "computed": "computed from other figures; the text has the formula and its inputs",
    "published": "stated for this very part by its maker, or by others who measured it; the text "
    "says where",
    "borrowed from": "another part's figure that stands in; the text says whose",
    "assumed": "chosen by this project; the text has the reason",
}
_SOURCE = re.compile(rf"({'|'.join(KINDS)})\b.{{4,}}")
SOURCE_RULE = "text that begins with " + ", ".join(repr(kind) for kind in KINDS)
#: A key whose value is a source's text.
SOURCE = text_form(
    lambda text: is_line(text) and _SOURCE.fullmatch(text), SOURCE_RULE, f"^({'|'.join(KINDS)})"
)


def figure(least: int, most: int, unit: str) -> Any:  # noqa: ANN401
    """An optional key whose value is a table: a figure and its source."""
    return maybe(unit, least, most, unit)


def kind(source: str) -> str:
    """The kind of a source's text, a key of `KINDS`."""
    match = _SOURCE.fullmatch(source)
    if match is None:
        raise ValueError(f"{source!r} is not a source: {SOURCE_RULE}")
    return match[1]


def source_text(table: StrictTable, key: str = "source") -> str:
    """The source that stands at ``key`` itself (core files)."""
    return table.read(key, str, form=SOURCE)


class Sources:
    """The ``[sources]`` table of a file: short names for sources, to which figures refer.

    :param inherited: names that come from a base's file, and that no figure may need any more.
    """

    def __init__(self, table: StrictTable, inherited: Collection[str] = ()) -> None:
        self._table = table
        self._inherited = inherited
        self.texts = {name: source_text(table, name) for name in table.data}
        self._used: set[str] = set()

    def of(self, table: StrictTable, key: str) -> str:
        """The text of the source whose name stands at ``key`` of ``table``."""
        if not table.has(key):
            raise table.lacks(key, "a name from [sources]")
        name = table.text(key)
        if name not in self.texts:
            known = sorted(self.texts)
            raise table.error(
                key,
                f"a name from [sources]: {', '.join(map(shortened, known))}{nearest(name, known)}",
            )
        self._used.add(name)
        return self.texts[name]

    def finish(self) -> None:
        """Complain about a source that no figure names."""
        for name in self.texts:
            if name not in self._used and name not in self._inherited:
                raise self._table.error(name, "only sources that a figure of the file names")
