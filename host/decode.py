# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON and TOML values as objects of dataclasses, strictly: the one reader of them.

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

from eascope.host.errors import EascopeError, bad_input, missing_key, no_such_key
from eascope.host.keys import Key, declared

T = TypeVar("T")

#: ``field(default_factory=dict, metadata=REST)``: takes all keys that no other field names.
REST = {"rest": True}


def json_key(name: str) -> Mapping[str, str]:
    """``field(metadata=json_key("rt-app"))``: the field's key in the file is ``name``."""
    return {"key": name}


def key_of(entry: Field[Any]) -> str:
    """The key of a field in the file."""
    return str(entry.metadata.get("key", entry.name))


class WrongValue(Exception):
    """A value that is not allowed, before its file is known; `Record.decode` names the file."""

    def __init__(self, key: str, value: object, allowed: str) -> None:
        super().__init__(key)
        self.key, self.value, self.allowed = key, value, allowed

    def line(self, file: Path | str) -> EascopeError:
        """The error as one line, when the file is known."""
        if self.value is MISSING:
            return missing_key(file, self.key, self.allowed)
        return bad_input(file, self.key or "the content", self.value, self.allowed)


class UnknownKey(WrongValue):
    """A key that a person's file cannot have."""

    def __init__(self, key: str, value: object, known: list[str]) -> None:
        super().__init__(key, value, "")
        self.known = known

    def line(self, file: Path | str) -> EascopeError:
        """The error with the nearest key and all of them."""
        return no_such_key(file, self.key, self.value, self.known)


@cache
def _types(kind: Hashable) -> dict[str, Any]:
    """Type of every field of the class ``kind``."""
    return get_type_hints(kind)


@cache
def _fields(kind: Any) -> tuple[Field[Any], ...]:
    return fields(kind)


def decode_dataclass(kind: type[T], value: object, key: str = "", figure: Key | None = None) -> T:
    """An object of the dataclass ``kind`` from a JSON value.

    Its fields may be declared (`host.keys`), and it may have a method ``check``: rules across keys.

    :param key: where it stands in the file; empty for the whole.
    :param figure: of a table with the key ``value``: what that may be.
    :raises WrongValue: for the first key that is missing, unknown or of another type.
    """
    if not isinstance(value, dict):
        raise WrongValue(key, value, "an object")
    schema = getattr(kind, "schema_read", None)
    if schema is not None and value.get("schema") != schema:
        allowed = f"{schema}, in this version of eascope"
        raise WrongValue(_at(key, "schema"), value.get("schema"), allowed)
    hashed = cast(Hashable, kind)  # mypy takes a class for its objects
    known, types, rest = _fields(hashed), _types(hashed), dict(value)
    given: dict[str, Any] = {}
    if any(map(declared, known)):
        _refuse_unknown(known, rest, key)
    for entry in known:
        if entry.metadata.get("rest"):
            continue
        kind_of, name = types[entry.name], key_of(entry)
        if own := declared(entry):
            own = figure if figure and name == "value" else own
            if name in rest:
                given[entry.name] = _decode_declared(kind_of, rest.pop(name), _at(key, name), own)
            elif entry.default is MISSING:
                words = "a table" if is_dataclass(kind_of) else own.allowed
                raise WrongValue(_at(key, name), MISSING, words)
        elif name in rest:
            given[entry.name] = _decode(kind_of, rest.pop(name), key, name)
        elif entry.default is MISSING and entry.default_factory is MISSING:
            raise WrongValue(_at(key, name), MISSING, _words(kind_of))
    for entry in known:
        if entry.metadata.get("rest"):
            part = get_args(types[entry.name])[1]
            given[entry.name] = {name: _decode(part, rest[name], key, name) for name in rest}
            rest = {}
    if rest:
        name = next(iter(rest))
        raise WrongValue(_at(key, name), rest[name], "no such key in this version")
    return _checked(kind(**given), key)


def _checked(decoded: T, key: str) -> T:
    """``decoded``, of which all rules across its keys are true."""
    try:
        getattr(decoded, "check", lambda: None)()
    except WrongValue as wrong:
        raise WrongValue(_at(key, wrong.key), wrong.value, wrong.allowed) from None
    return decoded


def _refuse_unknown(known: tuple[Field[Any], ...], value: Mapping[str, Any], key: str) -> None:
    """A misspelt key is both unknown and missing; that it is unknown says more."""
    names = sorted(map(key_of, known))
    for name in value:
        if name not in names:
            raise UnknownKey(_at(key, name), value[name], names)


def _decode_declared(kind: Any, value: Any, where: str, key: Key) -> Any:
    """``value`` of a declared key, as its type and within what is allowed."""
    kind = next((part for part in get_args(kind) if part is not NoneType), kind)
    if is_dataclass(kind):
        if not isinstance(value, dict):
            raise WrongValue(where, value, "a table")
        return decode_dataclass(cast(type, kind), value, where, key)
    if not _is_plain(kind, value) or not key.accepts(value):
        raise WrongValue(where, value, key.allowed + key.near(value))
    return value


def _at(key: str, name: str) -> str:
    return f"{key}.{name}" if key and name else key or name


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
    if not _is_plain(kind, value):
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


def _is_plain(kind: type, value: object) -> bool:
    """Whether ``value`` is what the plain type ``kind`` is in JSON; a number may be whole."""
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is kind
