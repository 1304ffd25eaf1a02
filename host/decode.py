# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON values as objects of dataclasses, strictly: the one reader of them.

A dataclass states keys and types. Its fields may be texts, numbers, paths, tuples, mappings (also
by whole numbers), unions and further dataclasses. `host.record` reads files with it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from eascope.host.keys import WrongValue, is_plain

T = TypeVar("T")

#: ``field(default_factory=dict, metadata=REST)``: takes all keys that no other field names.
REST = {"rest": True}


def json_key(name: str) -> Mapping[str, str]:
    """``field(metadata=json_key("rt-app"))``: the field's key in the file is ``name``."""
    return {"key": name}


def key_of(entry: Field[Any]) -> str:
    """The key of a field in the file."""
    return str(entry.metadata.get("key", entry.name))


@cache
def _fields(kind: Any) -> list[tuple[Field[Any], Any]]:
    """The fields of the class ``kind``, with their types."""
    types = get_type_hints(kind)
    return [(entry, types[entry.name]) for entry in fields(kind)]


def decode_dataclass(kind: type[T], value: object, key: str = "") -> T:
    """An object of the dataclass ``kind`` from a JSON value.

    :param key: where it stands in the file; empty for the whole.
    :raises WrongValue: for the first key that is missing, unknown or of another type.
    """
    if not isinstance(value, dict):
        raise WrongValue(key, value, "an object")
    schema = getattr(kind, "schema_read", None)
    if schema is not None and value.get("schema") != schema:
        allowed = f"{schema}, in this version of eascope"
        raise WrongValue(_at(key, "schema"), value.get("schema"), allowed)
    hashed = cast(Hashable, kind)  # mypy takes a class for its objects
    known, rest = _fields(hashed), dict(value)
    given: dict[str, Any] = {}
    for entry, kind_of in known:
        if entry.metadata.get("rest"):
            continue
        if (name := key_of(entry)) in rest:
            given[entry.name] = _decode(kind_of, rest.pop(name), key, name)
        elif entry.default is MISSING and entry.default_factory is MISSING:
            raise WrongValue(_at(key, name), MISSING, _words(kind_of))
    for entry, kind_of in known:
        if entry.metadata.get("rest"):
            part = get_args(kind_of)[1]
            given[entry.name] = {name: _decode(part, rest[name], key, name) for name in rest}
            rest = {}
    if rest:
        name = next(iter(rest))
        raise WrongValue(_at(key, name), rest[name], "no such key in this version")
    return kind(**given)


def _at(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


def _decode(kind: Any, value: Any, key: str, name: str) -> Any:
    """``value`` as the type ``kind`` of a field or of a part of it."""
    where = _at(key, name)
    if kind is Any:
        return value
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return _decode_union(get_args(kind), value, key, name)
    if origin is tuple:
        return _decode_tuple(get_args(kind), value, where)
    if origin is Mapping:
        if not isinstance(value, dict):
            raise WrongValue(where, value, "an object")
        of_key, part = get_args(kind)
        return {
            _key(of_key, name, where): _decode(part, inner, where, name)
            for name, inner in value.items()
        }
    if isinstance(kind, type) and is_dataclass(kind):
        return decode_dataclass(kind, value, where)
    if kind is Path and isinstance(value, str):
        return Path(value)
    if not is_plain(kind, value):
        raise WrongValue(where, value, _WORDS[kind])
    return value


def _key(kind: type, key: str, where: str) -> str | int:
    """A key of an object as the type that a mapping has; JSON knows texts alone."""
    if kind is not int:
        return key
    if not key.isdecimal():
        raise WrongValue(_at(where, key), key, "a whole number as the key")
    return int(key)


def _decode_union(kinds: tuple[Any, ...], value: Any, key: str, name: str) -> Any:
    """The first of ``kinds`` that ``value`` is; the error is that of the last."""
    for kind in kinds[:-1]:
        try:
            return _decode(kind, value, key, name)
        except WrongValue:
            continue
    # What a person should read is the type that is not "null".
    last = kinds[-1] if kinds[-1] is not NoneType else kinds[0]
    if kinds[-1] is NoneType and value is None:
        return None
    return _decode(last, value, key, name)


def _decode_tuple(kinds: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise WrongValue(where, value, "a list")
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(kinds) != len(value):
        raise WrongValue(where, value, f"a list of {len(kinds)}")
    return tuple(
        _decode(kind, part, where, str(number))
        for number, (kind, part) in enumerate(zip(kinds, value, strict=True))
    )


_WORDS = {
    str: "a text",
    Path: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    NoneType: "null",
}


def _words(kind: Any) -> str:
    """A type in words, for messages."""
    if get_origin(kind) is tuple:
        return "a list"
    return _WORDS.get(kind, "an object")
