# SPDX-License-Identifier: GPL-2.0-or-later
"""Keys of people's files, each declared once: a field of a dataclass, made by `key`.

`read_table` reads and checks by them. ``eascope explain`` and the JSON Schemas of ``eascope
schema`` follow from the same declarations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache, cached_property
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from eascope.host.errors import (
    RequestError,
    bad_input,
    missing_key,
    names_allowed,
    nearest,
    no_such_key,
    one_line,
)

T = TypeVar("T")
#: What a file is read for, by name: a platform, further fields, the ``place`` in it.
Context = Mapping[str, Any]

_NAME = r"[a-z][a-z0-9]*(-[a-z0-9]+)*"
#: What `is_name` accepts, in words.
NAME_RULE = "lower-case letters, digits and single dashes, beginning with a letter"


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

    def line(self, file: Path | str) -> RequestError:
        """The error as one line, when the file is known."""
        if self.value is MISSING:
            return missing_key(file, self.key, self.allowed)
        return bad_input(file, self.key or "the content", self.value, self.allowed)


class Place:
    """A table of a file, for the lines of rules that no key's declaration has.

    :param where: dotted path of this table inside the file, empty for the top.
    """

    def __init__(self, file: str, data: Any, where: str = "") -> None:
        self.file, self.data, self.where = file, data, where

    def key(self, key: str) -> str:
        """Dotted path of ``key`` inside the file."""
        dot = "." if self.where and key and key[0] != "[" else ""
        return f"{self.where}{dot}{key}"

    def line(self, wrong: WrongValue) -> RequestError:
        """The line for what is wrong in this table."""
        return WrongValue(self.key(wrong.key), wrong.value, wrong.allowed).line(self.file)

    def error(self, key: str, allowed: str) -> RequestError:
        """The line for a wrong value at ``key``."""
        return bad_input(self.file, self.key(key), self.data.get(key), allowed)

    def inside(self, key: str) -> Place:
        """The table at ``key``, or it is an error."""
        return Place(self.file, self.read(key, dict, form=TABLE), self.key(key))

    def rows(self, key: str, least: int = 0, most: int = 1000) -> list[Place]:
        """The tables of the list at ``key``, or it is an error."""
        allowed, here = f"{least} to {most} tables", self.key(key)
        rows = self.read(key, list, form=form_of(lambda value: isinstance(value, list), allowed))
        if not all(isinstance(row, dict) for row in rows):
            raise self.error(key, allowed)
        if not least <= len(rows) <= most:
            raise bad_input(self.file, here, f"{len(rows)} tables", allowed)
        return [Place(self.file, row, f"{here}[{at}]") for at, row in enumerate(rows)]

    def read(self, key: str, kind: type[T], **declared: Any) -> T:
        """What the value at ``key`` means, by a declaration that no dataclass has.

        :param declared: fields of `Key`.
        """
        entry = Entry(key, kind, Key(**declared))
        if key not in self.data:
            raise self.lacks(key, entry.allowed)
        value: T = read_at(key, entry, self.data[key], {"place": self})
        return value

    def decoded(self, kind: Callable[..., T], **context: Any) -> T:
        """The table as the dataclass ``kind`` declares it.

        :param context: as for `read_table`.
        """
        try:
            return read_table(kind, {**context, "place": self})
        except WrongValue as wrong:
            raise self.line(wrong) from None

    def lacks(self, key: str, allowed: str) -> RequestError:
        """The line for a ``key`` that is missing."""
        return missing_key(self.file, self.key(key), allowed)

    def within(self, key: str, least: int, most: int, unit: str) -> None:
        """Refuse a number whose bounds depend on another key."""
        if key in self.data and not least <= self.data[key] <= most:
            raise self.error(key, f"an integer in {least}..{most} ({unit})")

    def one_of(self, key: str, known: Iterable[str], listing: str = "") -> str:
        """The text at ``key``, which is one of ``known``, or it is an error.

        :param listing: as for `host.errors.unknown`.
        """
        names = sorted(known)

        def allowed(value: str = "") -> str:
            if listing:
                return f"a known name{names_allowed(value, names, listing)}"
            return f"one of {', '.join(names)}{nearest(value, names)}"

        value = self.read(key, str, allowed=allowed())
        if value not in names:
            raise self.error(key, allowed(value))
        return value

    def only(self, allowed: Iterable[str]) -> None:
        """Complain about a key that is none of ``allowed``, before a missing key is noticed.

        A misspelt key is both unknown and missing; the unknown key is the better message.

        :raises RequestError: naming the key, its value, the nearest of ``allowed`` and all of them.
        """
        known = sorted(allowed)
        for key in self.data:
            if key not in known:
                raise no_such_key(self.file, self.key(key), self.data[key], known)

    def exactly(self, names: Collection[str], allowed: str = "a table") -> None:
        """Complain about a key that is none of ``names``, then about one that is missing."""
        self.only(names)
        for name in names:
            if name not in self.data:
                raise self.lacks(name, allowed)


@dataclass(frozen=True, kw_only=True)
class Placed:
    """What is declared of a table for which there are further rules."""

    place: Place = field(repr=False, compare=False)

    def need(self, *names: str) -> None:
        """Complain about the first key that is missing, though its declaration has a default."""
        kind: Any = type(self)
        for name in names:
            if name not in self.place.data:
                raise self.place.lacks(name, entries_of(kind)[name].allowed)

    def need_with(self, name: str, other: str, *, there: bool) -> None:
        """Complain about a key that is missing, though the ``other`` is there, or the reverse."""
        if there:
            self.need(name)
        elif name in self.place.data:
            raise self.place.error(name, f"only together with {other}")


@dataclass(eq=False)
class Form:
    """A value that its type, bounds and choices do not describe.

    :param allowed: in words; ``schema`` is JSON Schema, which may accept more.
    :param read: what a value means in a context; raises `WrongValue`.
    """

    allowed: str
    schema: Mapping[str, Any]
    read: Callable[[Any, Context], Any]


def form_of(accepts: Callable[[Any], object], allowed: str, **schema: Any) -> Form:
    """The form of a value that is taken as it stands, or refused."""

    def read(value: Any, context: Context) -> Any:
        if not accepts(value):
            raise WrongValue("", value, allowed)
        return value

    return Form(allowed, schema, read)


def text_form(accepts: Callable[[str], object], allowed: str, pattern: str) -> Form:
    """The same of a text."""
    is_text = lambda value: isinstance(value, str) and accepts(value)  # noqa: E731
    return form_of(is_text, allowed, type="string", pattern=pattern)


def label(most: int) -> Form:
    """The form of a name of a thread or a timer."""
    pattern = f"[a-z][a-z0-9_]{{0,{most - 1}}}"
    allowed = f"1 to {most} of a-z 0-9 _, beginning with a letter"
    return text_form(re.compile(pattern).fullmatch, allowed, f"^{pattern}$")


def named(allowed: str) -> Form:
    """The form of what `Place.one_of` checks, where all that it may be is known."""
    return Form(allowed, {"type": "string"}, lambda value, context: value)


#: A table that another reader checks.
TABLE = form_of(lambda value: isinstance(value, dict), "a table", type="object")
NAME = text_form(is_name, NAME_RULE, f"^{_NAME}$")


@dataclass(eq=False)
class Key:
    """A key of a file.

    :param span: of a number: the least and the most; of a table, those of its key ``value``.
    :param choices: of a text: all that it may be, or what lists them.
    :param form: of the value; ``each``: of each entry of a list or a mapping.
    :param count: of a list: the least and the most entries.
    :param table: the table's class, where the field's type is another.
    :param name: in the file, where the field has another.
    :param of: of a source: the keys that it is about.
    :param label: of a mapping: the field in which each table has its name.
    :param default: without it in the file; ``...``: the file must have it.
    :param allowed: in words, where it is not what the others say.
    """

    summary: str = ""
    span: tuple[float, float] | None = None
    unit: str = ""
    choices: Collection[str] | Callable[[], Collection[str]] = ()
    form: Form | None = None
    each: Form | None = None
    count: tuple[int, int] = (1, 1000)
    table: Any = None
    name: str = ""
    of: Collection[str] = ()
    label: str = ""
    default: Any = ...
    allowed: str = ""


def key(
    summary: str, least: float | None = None, most: float = 0, unit: str = "", **more: Any
) -> Any:
    """A field that is a `Key`, by `Key`'s fields; without a ``default`` a file must have it."""
    declared = Key(summary, None if least is None else (least, most), unit, **more)
    metadata = {"declared": declared}
    if isinstance(declared.default, dict):
        return field(default_factory=dict, metadata=metadata)
    default = MISSING if declared.default is ... else declared.default
    return field(default=default, metadata=metadata)


def maybe(summary: str, *bounds: Any, **more: Any) -> Any:
    """A field that is a key, or None."""
    return key(summary, *bounds, default=None, **more)


class Entry:
    """A key of a table: its name, its type without None, and the name of its field."""

    def __init__(self, name: str, kind: Any, key: Key, field: str = "") -> None:
        self.name, self.key, self.field = name, key, field
        parts = [part for part in get_args(kind) if part is not NoneType]
        self.kind = kind = parts[0] if NoneType in get_args(kind) else kind
        self.is_list, self.is_mapping = get_origin(kind) is tuple, get_origin(kind) is Mapping
        #: The type of each entry of a list or a mapping, and the dataclass of a table, or of each.
        self.part = get_args(kind)[self.is_mapping] if self.is_list or self.is_mapping else None
        table = self.part or kind
        while get_origin(table) is Mapping:
            table = get_args(table)[1]
        self.table: Any = table if is_dataclass(table) and not key.form else None

    @cached_property
    def inner(self) -> Entry:
        """Each entry of the list or the mapping."""
        own = self.key
        return Entry("", self.part, Key(own.summary, own.span, own.unit, own.choices, own.each))

    @property
    def below(self) -> Mapping[str, Entry]:
        """The keys of the table, or of each of the tables."""
        return entries_of(self.table, self.key if self.key.span else None) if self.table else {}

    @property
    def need(self) -> str:
        """In words: required, optional or the default."""
        own, default = self.key, self.key.default
        if default is ...:
            return "required"
        unstated = default in (None, "", (), {}) or (own.span and default < own.span[0])
        if unstated or is_dataclass(default):
            return "optional"
        return f"{str(default).lower() if isinstance(default, bool) else default} by default"

    @property
    def choices(self) -> Collection[str]:
        """All that a text may be; none: any."""
        return self.key.choices() if callable(self.key.choices) else self.key.choices

    @property
    def allowed(self) -> str:
        """What the value may be, in words."""
        own, choices = self.key, self.choices
        if own.allowed or own.form:
            return own.allowed or (own.form.allowed if own.form else "")
        if self.is_list and self.table:
            return f"{own.count[0]} to {own.count[1]} tables"
        if self.is_list:
            names = f"at least one of: {', '.join(choices)}; each at most once"
            return f"a list of {names if choices else 'texts'}"
        if self.table and own.span:
            least, most = own.span
            return f"a table with value ({least}..{most} {own.unit}) and source"
        if self.is_mapping and own.span:
            return f"a table, each {self.inner.allowed}"
        if self.is_mapping or self.table:
            return "a table"
        if own.span:
            least, most = own.span
            words = f"a number in {least:g}..{most:g}"
            words = f"an integer in {least}..{most}" if self.kind is int else words
            return f"{words} ({own.unit})" if own.unit else words
        if self.kind is bool:
            return "true or false"
        return (
            f"one of {', '.join(sorted(choices))}" if choices else "a non-empty string on one line"
        )

    def read(self, value: Any, context: Context) -> Any:
        """What ``value`` means; raises `WrongValue`."""
        if self.key.form:
            return self.key.form.read(value, context)
        if self.is_list:
            return self._list(value, context)
        if self.is_mapping or self.table:
            if not isinstance(value, dict):
                raise WrongValue("", value, self.allowed)
            if self.is_mapping:
                own, label = self.inner, self.key.label
                return {
                    name: read_at(name, own, value[name], {**context, label: name})
                    for name in value
                }
            made = read_table(self.kind, context, self.key if self.key.span else None)
            return made.meaning() if hasattr(made, "meaning") else made
        span = self.key.span
        if not is_plain(self.kind, value) or (span and not span[0] <= value <= span[1]):
            raise WrongValue("", value, self.allowed)
        if self.kind is str:
            choices = self.choices
            if not is_line(value) or (choices and value not in choices):
                near = nearest(value, choices) if is_line(value) else ""
                raise WrongValue("", value, f"{self.allowed}{near}")
        return float(value) if self.kind is float else value

    def _list(self, value: Any, context: Context) -> tuple[Any, ...]:
        least, most = self.key.count
        wrong = WrongValue("", value, self.allowed)
        if not isinstance(value, list):
            raise wrong
        if self.table:
            if not all(isinstance(item, dict) for item in value):
                raise wrong
            if not least <= len(value) <= most:
                raise WrongValue("", f"{len(value)} tables", wrong.allowed)
            inner = self.inner
            return tuple(read_at(f"[{at}]", inner, row, context) for at, row in enumerate(value))
        if len(value) < least or not all(map(is_line, value)):
            raise wrong
        if self.choices and (not {*value} <= {*self.choices} or len({*value}) < len(value)):
            raise wrong
        return tuple(value)

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the value."""
        if self.key.form:
            return {**self.key.form.schema}
        if self.is_list:
            least, most = self.key.count
            bounds = {"minItems": least} | ({"maxItems": most} if self.table else {})
            return {"type": "array", "items": self.inner.schema, **bounds}
        if self.is_mapping:
            return {"type": "object", "additionalProperties": self.inner.schema}
        if self.table:
            return schema(self.kind, self.key if self.key.span else None)
        if self.key.span:
            kind = "integer" if self.kind is int else "number"
            return {"type": kind, "minimum": self.key.span[0], "maximum": self.key.span[1]}
        if self.kind is bool:
            return {"type": "boolean"}
        return {"enum": [*self.choices]} if self.choices else {"type": "string", "pattern": r"\S"}


def read_at(part: str, entry: Entry, value: Any, context: Context) -> Any:
    """What the ``value`` at ``part`` of the context's place means, by its declaration.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    above = context["place"]
    place = Place(above.file, value, above.key(part))
    try:
        return entry.read(value, {**context, "place": place})
    except WrongValue as wrong:
        raise place.line(wrong) from None


@cache
def entries_of(kind: Any, figure: Key | None = None) -> Mapping[str, Entry]:
    """The keys of a file, or table, of the dataclass ``kind``, by name; required ones first.

    :param figure: what the key ``value`` may be.
    """
    hints, found = get_type_hints(kind), {}
    if version := getattr(kind, "schema_version", None):
        own = Key("version of this format", (version, version))
        found["schema"] = Entry("schema", int, own)
    for entry in fields(kind):
        if declared := entry.metadata.get("declared"):
            name = declared.name or entry.name
            used = declared
            if figure and name == "value":
                used = Key(figure.summary, figure.span, figure.unit)
            found[name] = Entry(name, declared.table or hints[entry.name], used, entry.name)
    return dict(sorted(found.items(), key=lambda item: item[1].key.default is not ...))


def read_table(kind: Callable[..., T], context: Context, figure: Key | None = None) -> T:
    """An object of the dataclass ``kind`` from the context's place, a table of a file.

    The class may have a method ``check``: rules across keys. The fields that the context has
    are taken from there.

    :param figure: what the key ``value`` may be.
    :raises RequestError: for the first key that is unknown (a misspelt one is also missing), wrong
        or missing; then the first rule that is not kept may also raise `WrongValue`.
    """
    entries = entries_of(kind, figure)
    table = context["place"].data
    context["place"].only(entries)
    of: Any = kind
    given = {own.name: context[own.name] for own in fields(of) if own.name in context}
    for name, entry in entries.items():
        if entry.field in given:
            continue
        if name in table:
            given[entry.field] = read_at(name, entry, table[name], context)
        elif entry.key.default is ...:
            raise context["place"].lacks(name, entry.allowed)
    given.pop("", None)  # the schema
    made = kind(**given)
    getattr(made, "check", lambda: None)()
    return made


def same(kind: Any, table: object) -> dict[str, Any]:
    """The fields that the dataclass ``kind`` and ``table`` both have."""
    names = (own.name for own in fields(kind))
    return {name: getattr(table, name) for name in names if hasattr(table, name)}


def schema(kind: Any, figure: Key | None = None) -> dict[str, Any]:
    """JSON Schema of a file, or table, of the dataclass ``kind``."""
    entries = entries_of(kind, figure)
    return {
        "type": "object",
        "properties": {
            name: {"description": entry.key.summary, **entry.schema}
            for name, entry in entries.items()
        },
        "required": [name for name, entry in entries.items() if entry.key.default is ...],
        "additionalProperties": False,
    }
