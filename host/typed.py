# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON files as frozen dataclasses: the fields are the schema, and a wrong file gets one line.

Fields may be numbers, strings, truth values, ``None``, other dataclasses, tuples of one kind,
tuples of fixed length, and mappings from strings. A key that is missing, unknown or of another kind
is an error; only a field that has a default may be absent.
"""

from __future__ import annotations

import dataclasses
import json
import math
import types
import typing
from pathlib import Path
from typing import Any, TypeVar

from host.cache import write_atomic
from host.errors import bad_input, missing_key, nearest
from host.strict import read_json

T = TypeVar("T")

_WORDS = {int: "an integer", float: "a finite number", str: "a string", bool: "true or false"}


def read_record(path: Path, kind: type[T]) -> T:
    """The file at ``path`` as a ``kind``.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    table = read_json(path)
    found: T = _Reader(table.file).value(kind, table.data, "")
    return found


def write_record(path: Path, record: object) -> None:
    """Write a dataclass as JSON: the same bytes for the same record, all digits of every number.

    :raises ValueError: when a number is not finite.
    """
    if not dataclasses.is_dataclass(record) or isinstance(record, type):
        raise TypeError(f"{record!r} is no dataclass")
    text = _json(dataclasses.asdict(record), "")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, (text + "\n").encode())


def _json(value: Any, indent: str) -> str:
    """JSON with what holds no further list or object on one line."""
    inner = value.values() if isinstance(value, dict) else value
    nested = isinstance(value, dict | list | tuple)
    if not nested or not any(isinstance(one, dict | list | tuple) for one in inner):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    deeper = indent + " "
    if isinstance(value, dict):
        lines = [f"{json.dumps(name)}: {_json(one, deeper)}" for name, one in value.items()]
        return "{\n" + ",\n".join(deeper + line for line in lines) + f"\n{indent}}}"
    lines = [_json(one, deeper) for one in value]
    return "[\n" + ",\n".join(deeper + line for line in lines) + f"\n{indent}]"


class _Reader:
    """Turns parsed JSON into what annotations say.

    :param file: the file's name for messages.
    """

    def __init__(self, file: str) -> None:
        self.file = file

    def value(self, kind: Any, found: Any, key: str) -> Any:
        """``found`` as a ``kind``; ``key`` is its dotted path."""
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin in (types.UnionType, typing.Union):
            return self._optional(arguments, found, key)
        if origin is tuple:
            return self._tuple(arguments, found, key)
        if origin is dict:
            pairs = self._kind(dict, found, key, "an object").items()
            return {name: self.value(arguments[1], one, _below(key, name)) for name, one in pairs}
        if dataclasses.is_dataclass(kind):
            return self._record(kind, found, key)
        return self._scalar(kind, found, key)

    def _optional(self, arguments: tuple[Any, ...], found: Any, key: str) -> Any:
        if found is None:
            return None
        (inner,) = (one for one in arguments if one is not types.NoneType)
        return self.value(inner, found, key)

    def _tuple(self, arguments: tuple[Any, ...], found: Any, key: str) -> tuple[Any, ...]:
        items = self._kind(list, found, key, "a list")
        if arguments[1:] == (Ellipsis,):
            arguments = (arguments[0],) * len(items)
        if len(arguments) != len(items):
            raise bad_input(self.file, key, items, f"a list of {len(arguments)}")
        return tuple(
            self.value(one, item, f"{key}[{number}]")
            for number, (one, item) in enumerate(zip(arguments, items, strict=True))
        )

    def _record(self, kind: Any, found: Any, key: str) -> Any:
        data = self._kind(dict, found, key, "an object")
        fields = {one.name: one for one in dataclasses.fields(kind)}
        hints = typing.get_type_hints(kind)
        for name, value in data.items():
            if name not in fields:
                allowed = f"no such key{nearest(name, fields)}; keys here: {', '.join(fields)}"
                raise bad_input(self.file, _below(key, name), value, allowed)
        values = {}
        for name, field in fields.items():
            if name in data:
                values[name] = self.value(hints[name], data[name], _below(key, name))
            elif (
                field.default is dataclasses.MISSING
                and field.default_factory is dataclasses.MISSING
            ):
                raise missing_key(self.file, _below(key, name), _kind_words(hints[name]))
        return kind(**values)

    def _scalar(self, kind: Any, found: Any, key: str) -> Any:
        whole = isinstance(found, int) and not isinstance(found, bool)
        if kind is float and (whole or isinstance(found, float)) and math.isfinite(found):
            return float(found)
        if (kind is int and whole) or (kind in (str, bool) and isinstance(found, kind)):
            return found
        raise bad_input(self.file, key, found, _kind_words(kind))

    def _kind(self, kind: type[T], found: Any, key: str, words: str) -> T:
        if not isinstance(found, kind):
            raise bad_input(self.file, key, found, words)
        return found


def _below(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def _kind_words(kind: Any) -> str:
    if kind in _WORDS:
        return _WORDS[kind]
    return {tuple: "a list", dict: "an object"}.get(typing.get_origin(kind), "an object")
