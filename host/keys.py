# SPDX-License-Identifier: GPL-2.0-or-later
"""Keys of people's files, each declared once: a field of a dataclass whose metadata is a `Key`.

`host.decode` reads and checks by it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Any, cast, get_args, get_type_hints

from eascope.host.errors import nearest, one_line

_NAME = r"[a-z][a-z0-9]*(-[a-z0-9]+)*"
#: What `is_name` accepts, in words.
NAME_RULE = "lower-case letters, digits and single dashes, beginning with a letter"


def is_name(text: str) -> bool:
    """True if ``text`` can stand in file names, flags and columns: `NAME_RULE`."""
    return re.fullmatch(_NAME, text) is not None


def is_line(value: object) -> bool:
    """True if ``value`` is a text on one line that says something."""
    return isinstance(value, str) and bool(value.strip()) and one_line(value) == value


@dataclass(frozen=True)
class Form:
    """What a text may be; ``allowed`` says it in words."""

    accepts: Callable[[str], bool]
    allowed: str


LINE = Form(is_line, "a non-empty string on one line")
NAME = Form(is_name, NAME_RULE)


@dataclass(frozen=True, kw_only=True)
class Key:
    """A key of a file.

    :param summary: what it is.
    :param choices: of a text: all that it may be.
    :param span: of a number: the least and the most; of a table, those of its key ``value``.
    """

    summary: str
    span: tuple[int, int] | None = None
    unit: str = ""
    choices: tuple[str, ...] = ()
    form: Form = LINE

    @property
    def allowed(self) -> str:
        """What the value may be, in words."""
        if self.span:
            unit = f" ({self.unit})" if self.unit else ""
            return f"an integer in {self.span[0]}..{self.span[1]}{unit}"
        return f"one of {', '.join(sorted(self.choices))}" if self.choices else self.form.allowed

    def accepts(self, value: str | int) -> bool:
        """True if ``value``, which has the right type, is allowed."""
        if isinstance(value, int):
            return self.span is None or self.span[0] <= value <= self.span[1]
        return value in self.choices if self.choices else self.form.accepts(value)

    def near(self, value: object) -> str:
        """The nearest choice, as part of an error line."""
        return nearest(value, self.choices) if is_line(value) and isinstance(value, str) else ""


def key(summary: str, *, optional: bool = False, **options: Any) -> Any:
    """A field that is a `Key`; without the key in the file, an ``optional`` one is None."""
    default: Any = None if optional else MISSING
    return field(default=default, metadata={"declared": Key(summary=summary, **options)})


def declared(entry: Field[Any]) -> Key | None:
    """The `Key` of a field."""
    return cast("Key | None", entry.metadata.get("declared"))


@cache
def types_of(kind: Any) -> Mapping[str, Any]:
    """Type of every field of the dataclass ``kind``; an optional one's without None."""
    hints = get_type_hints(kind)
    return {
        name: next(iter({*get_args(hint)} - {NoneType}), hint) if get_args(hint) else hint
        for name, hint in hints.items()
    }


def keys_of(kind: Any) -> Iterator[tuple[str, Key, Any, bool]]:
    """Name, key, type and need of each key in a file, or table, of the dataclass ``kind``."""
    for entry in fields(kind):
        if known := declared(entry):
            yield entry.name, known, types_of(kind)[entry.name], entry.default is MISSING


def all_keys(kind: Any) -> Iterator[str]:
    """The name of every key below ``kind``."""
    for name, _, part, _ in keys_of(kind):
        yield name
        if is_dataclass(part):
            yield from all_keys(part)
