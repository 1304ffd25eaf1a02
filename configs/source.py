# SPDX-License-Identifier: GPL-2.0-or-later
"""Sources: one line for each figure of a platform or a core that states its origin."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from eascope.host.errors import nearest, shortened
from eascope.host.keys import (
    Form,
    Place,
    WrongValue,
    entries_of,
    is_line,
    key,
    maybe,
    named,
    text_form,
)

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


#: A key whose value is the name of a cluster.
CLUSTER = named("the name of a cluster")


class Sources:
    """The ``[sources]`` table of a file: short names for sources, to which figures refer.

    :param inherited: names that come from a base's file, and that no figure may need any more.
    """

    def __init__(self, table: Place, inherited: Collection[str] = ()) -> None:
        self._table = table
        self._inherited = inherited
        self.texts = {name: table.read(name, str, form=SOURCE) for name in table.data}
        self._used: set[str] = set()

    def of(self, name: Any) -> str:  # noqa: ANN401 - of TOML
        """The text of the source ``name``; raises `WrongValue`."""
        if not is_line(name) or name not in self.texts:
            known = sorted(self.texts)
            near = nearest(name, known) if is_line(name) else ""
            allowed = f"{CITED.allowed}: {', '.join(map(shortened, known))}{near}"
            raise WrongValue("", name, allowed)
        self._used.add(name)
        return self.texts[name]

    def finish(self) -> None:
        """Complain about a source that no figure names."""
        for name in self.texts:
            if name not in self._used and name not in self._inherited:
                raise self._table.error(name, "only sources that a figure of the file names")


#: A key that names a source, in a context whose ``cited`` is the file's `Sources`.
CITED = Form(
    "a name from [sources]",
    {"type": "string", "pattern": r"\S"},
    lambda name, context: context["cited"].of(name),
)


def cited(*figures: str, **more: Any) -> Any:  # noqa: ANN401
    """A field that is such a key, for these keys."""
    return key(f"source of {', '.join(figures)}", form=CITED, of=figures, **more)


def sources_of(own: Any) -> dict[str, str]:  # noqa: ANN401 - a dataclass
    """The texts of sources that a table cites, by the figures that it states."""
    kind: Any = type(own)
    entries = entries_of(kind).values()
    texts = ((figure, getattr(own, entry.field)) for entry in entries for figure in entry.key.of)
    return {figure: text for figure, text in texts if text}
