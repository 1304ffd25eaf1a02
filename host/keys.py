# SPDX-License-Identifier: GPL-2.0-or-later
"""Keys of people's files, each declared once: a field of a dataclass whose metadata is a `Key`.

`read_table` reads and checks by them. ``eascope explain``, the JSON Schemas of ``eascope schema``
and the tables of reference pages follow from the same declarations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from eascope.host.errors import (
    RequestError,
    bad_input,
    missing_key,
    nearest,
    no_such_key,
    one_line,
)

T = TypeVar("T")
#: What a file is read for, by name: names that a key may have, a platform, further fields.
Context = Mapping[str, Any]
NO_CONTEXT: Context = {}

_NAME = r"[a-z][a-z0-9]*(-[a-z0-9]+)*"
#: What `is_name` accepts, in words.
NAME_RULE = "lower-case letters, digits and single dashes, beginning with a letter"
LINE_RULE = "a non-empty string on one line"


def is_name(text: str) -> bool:
    """True if ``text`` can stand in file names, flags and columns: `NAME_RULE`."""
    return re.fullmatch(_NAME, text) is not None


def is_line(value: object) -> bool:
    """True if ``value`` is a text on one line that says something."""
    return isinstance(value, str) and bool(value.strip()) and one_line(value) == value


def is_plain(kind: type, value: object) -> bool:
    """True if ``value`` is what the plain type ``kind`` is in JSON; a number may be whole."""
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is kind


class WrongValue(Exception):
    """A value that is not allowed, before its file is known; `MISSING`: the key is missing."""

    def __init__(self, key: str, value: object, allowed: str) -> None:
        super().__init__(key)
        self.key, self.value, self.allowed = key, value, allowed

    def below(self, where: str) -> WrongValue:
        """The same in the table, or at the key, ``where``."""
        dot = "." if where and self.key and not self.key.startswith("[") else ""
        self.key = f"{where}{dot}{self.key}"
        return self

    def line(self, file: Path | str) -> RequestError:
        """The error as one line, when the file is known."""
        if self.value is MISSING:
            return missing_key(file, self.key, self.allowed)
        return bad_input(file, self.key or "the content", self.value, self.allowed)


class UnknownKey(WrongValue):
    """A key that the table cannot have; ``allowed`` are those that it can."""

    def line(self, file: Path | str) -> RequestError:
        """The error with the nearest key and all of them."""
        return no_such_key(file, self.key, self.value, self.allowed.split())


@dataclass(frozen=True, eq=False)
class Form:
    """A value that its type, bounds and choices do not describe.

    :param allowed: in words; ``word``: for the column of a table.
    :param read: what a value means in a context; raises `WrongValue`.
    :param schema: JSON Schema, which may accept more.
    """

    allowed: str
    word: str
    read: Callable[[Any, Context], Any]
    schema: Mapping[str, Any]


def text_form(accepts: Callable[[str], object], allowed: str, word: str, pattern: str) -> Form:
    """The form of a text that is taken as it stands, or refused."""

    def read(value: Any, context: Context) -> str:
        if not isinstance(value, str) or not accepts(value):
            raise WrongValue("", value, allowed)
        return value

    return Form(allowed, word, read, {"type": "string", "pattern": pattern})


NAME = text_form(is_name, NAME_RULE, "name", f"^{_NAME}$")


@dataclass(frozen=True, kw_only=True, eq=False)
class Key:
    """A key of a file.

    :param summary: what it is.
    :param span: of a number: the least and the most; of a table, those of its key ``value``.
    :param choices: of a text: all that it may be, or what lists them.
    :param of: of a text: which names of the context it may be; of a mapping there, it is the value.
    :param count: of a list: the least and the most entries.
    :param table: the table's class, where the field holds the ``meaning()`` of its object, or the
        object itself.
    :param name: in the file, where the field has another.
    """

    summary: str
    span: tuple[float, float] | None = None
    unit: str = ""
    choices: Collection[str] | Callable[[], Collection[str]] = ()
    of: str = ""
    form: Form | None = None
    count: tuple[int, int] = (1, 1000)
    table: type | None = None
    name: str = ""


def key(
    summary: str,
    *,
    optional: bool = False,
    default: Any = MISSING,
    default_factory: Any = MISSING,
    **options: Any,
) -> Any:
    """A field that is a `Key`; without a key in the file, an ``optional`` one is None."""
    declared = {"declared": Key(summary=summary, **options)}
    if default_factory is not MISSING:
        return field(default_factory=default_factory, metadata=declared)
    return field(default=None if optional else default, metadata=declared)


@dataclass(frozen=True, eq=False)
class Entry:
    """A key of a table.

    :param kind: its type without None.
    :param default: without it in the file, or `MISSING`: it is needed.
    :param field: the name of its field.
    """

    name: str
    kind: Any
    key: Key
    default: Any
    field: str = ""

    @property
    def part(self) -> Any:
        """The type of a list's entries, or of a mapping's values; else None."""
        arguments = get_args(self.kind)
        return {tuple: arguments[:1], Mapping: arguments[1:]}.get(get_origin(self.kind), (None,))[0]

    @property
    def is_list(self) -> bool:
        """True if it is a list."""
        return get_origin(self.kind) is tuple

    @property
    def inner(self) -> Entry:
        """An entry of the list or the mapping."""
        return Entry("", self.part, self.key, MISSING)

    @property
    def table(self) -> Any:
        """The dataclass of the table, or of the tables in the list or mapping; else None."""
        kind = self.part or self.kind
        return None if self.key.form else kind if is_dataclass(kind) else None

    def choices(self, context: Context = NO_CONTEXT) -> Collection[str]:
        """All that a text may be; none: any."""
        own = self.key.choices
        return context.get(self.key.of, ()) if self.key.of else own() if callable(own) else own

    def allowed(self, context: Context = NO_CONTEXT) -> str:
        """What the value may be, in words."""
        least, most = self.key.span or self.key.count
        if self.key.form:
            return self.key.form.allowed
        choices = self.choices(context)
        if self.is_list and self.table:
            return f"{least} to {most} tables"
        if self.is_list:
            names = f"at least one of: {', '.join(choices)}; each at most once"
            return f"a list of {names if choices else 'texts'}"
        if self.part or self.table:
            return "a table"
        if self.kind in (int, float):
            kind = "an integer" if self.kind is int else "a number"
            bounds = f"{least}..{most}" if self.kind is int else f"{least:g}..{most:g}"
            return f"{kind} in {bounds}" + (f" ({self.key.unit})" if self.key.unit else "")
        if self.kind is bool:
            return "true or false"
        return f"one of {', '.join(sorted(choices))}" if choices else LINE_RULE

    def read(self, value: Any, context: Context) -> Any:
        """What ``value`` means; raises `WrongValue`."""
        if self.key.form:
            return self.key.form.read(value, context)
        wrong = WrongValue("", value, self.allowed(context))
        if self.is_list:
            return self._list(value, context, wrong)
        if self.part or self.table:
            if not isinstance(value, dict):
                raise wrong
            if self.table and not self.part:
                made = read_table(self.kind, value, context, self.key if self.key.span else None)
                return made.meaning() if hasattr(made, "meaning") else made
            return {name: _below(name, self.inner, value[name], context) for name in value}
        return self._plain(value, context, wrong)

    def _list(self, value: Any, context: Context, wrong: WrongValue) -> tuple[Any, ...]:
        least, most = self.key.count
        if not isinstance(value, list):
            raise wrong
        if not self.table:
            choices = self.choices(context)
            names = choices and ({*value} - {*choices} or len({*value}) < len(value))
            if len(value) < least or not all(map(is_line, value)) or names:
                raise wrong
            return tuple(value)
        if not all(isinstance(item, dict) for item in value):
            raise wrong
        if not least <= len(value) <= most:
            raise WrongValue("", f"{len(value)} tables", wrong.allowed)
        return tuple(_below(f"[{at}]", self.inner, item, context) for at, item in enumerate(value))

    def _plain(self, value: Any, context: Context, wrong: WrongValue) -> Any:
        if not is_plain(self.kind, value):
            raise wrong
        if self.kind is str:
            choices = self.choices(context)
            if not is_line(value) or ((choices or self.key.of) and value not in choices):
                wrong.allowed += nearest(value, choices) if is_line(value) else ""
                raise wrong
            return choices[value] if self.key.of and isinstance(choices, Mapping) else value
        if self.key.span and not self.key.span[0] <= value <= self.key.span[1]:
            raise wrong
        return float(value) if self.kind is float else value

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value."""
        (least, most), choices = self.key.count, self.choices()
        if self.key.form:
            return {**self.key.form.schema}
        if self.is_list:
            bounds = {"minItems": least} | ({"maxItems": most} if self.table else {})
            return {"type": "array", "items": self.inner.schema(), **bounds}
        if self.table and not self.part:
            return schema(self.kind, self.key if self.key.span else None)
        if self.part:
            return {"type": "object", "additionalProperties": self.inner.schema()}
        if self.kind in (int, float) and self.key.span:
            kind = "integer" if self.kind is int else "number"
            return {"type": kind, "minimum": self.key.span[0], "maximum": self.key.span[1]}
        if self.kind is bool:
            return {"type": "boolean"}
        return {"enum": [*choices]} if choices else {"type": "string", "pattern": r"\S"}

    def __str__(self) -> str:
        """The key for a person: what it is, what is allowed, whether a file must have it."""
        shown = "" if self.default is None or self.default == () else f", default {self.default}"
        need = "required" if self.default is MISSING else f"optional{shown}"
        lines = f"{self.name}: {self.key.summary}\n  allowed: {self.allowed()}; {need}"
        return f"{lines}\n  keys: {', '.join(entries_of(self.table))}" if self.table else lines


def _below(where: str, entry: Entry, value: Any, context: Context) -> Any:
    try:
        return entry.read(value, context)
    except WrongValue as wrong:
        raise wrong.below(where) from None


@cache
def entries_of(kind: Any, figure: Key | None = None) -> Mapping[str, Entry]:
    """The keys of a file, or table, of the dataclass ``kind``, by name.

    :param figure: what the key ``value`` may be.
    """
    hints, found = get_type_hints(kind), {}
    if version := getattr(kind, "schema_version", None):
        only = Key(summary="version of this format", span=(version, version))
        found["schema"] = Entry("schema", int, only, MISSING)
    for own in fields(kind):
        if declared := own.metadata.get("declared"):
            name = declared.name or own.name
            hint = declared.table or hints[own.name]
            parts = [part for part in get_args(hint) if part is not NoneType]
            hint = parts[0] if NoneType in get_args(hint) else hint
            used = figure if figure and name == "value" else declared
            default = own.default if own.default_factory is MISSING else own.default_factory()
            found[name] = Entry(name, hint, used, default, own.name)
    return found


def read_table(
    kind: type[T],
    table: Mapping[str, Any],
    context: Context = NO_CONTEXT,
    figure: Key | None = None,
) -> T:
    """An object of the dataclass ``kind`` from a file, or a table of it.

    The class may have a method ``check``: rules across keys. Its fields without a key are taken
    from the context.

    :param figure: what the key ``value`` may be.
    :raises WrongValue: for the first key that is unknown (a misspelt one is also missing), wrong or
        missing, then for the first rule that is not kept.
    """
    of: Any = kind
    entries = entries_of(of, figure)
    for name in table:
        if name not in entries:
            raise UnknownKey(name, table[name], " ".join(sorted(entries)))
    others = {own.name for own in fields(of)} - {entry.field for entry in entries.values()}
    given = {name: context[name] for name in others if name in context}
    for name, entry in entries.items():
        if name in table:
            given[entry.field] = _below(name, entry, table[name], context)
        elif entry.default is MISSING:
            raise WrongValue(name, MISSING, entry.allowed(context))
    given.pop("", None)  # the schema
    made = kind(**given)
    getattr(made, "check", lambda: None)()
    return made


def all_keys(kind: Any, where: str = "", figure: Key | None = None) -> Iterator[tuple[str, Entry]]:
    """Every key below ``kind`` with its dotted path, a table before what is in it."""
    for name, entry in entries_of(kind, figure).items():
        yield f"{where}{name}", entry
        if entry.table:
            by_name = "NAME." if entry.part and not entry.is_list else ""
            inner = entry.key if entry.key.span else None
            yield from all_keys(entry.table, f"{where}{name}.{by_name}", inner)


def schema(kind: Any, figure: Key | None = None) -> dict[str, Any]:
    """JSON Schema of a file, or table, of the dataclass ``kind``."""
    entries = entries_of(kind, figure)
    return {
        "type": "object",
        "properties": {
            name: {"description": entry.key.summary, **entry.schema()}
            for name, entry in entries.items()
        },
        "required": [name for name, entry in entries.items() if entry.default is MISSING],
        "additionalProperties": False,
    }
