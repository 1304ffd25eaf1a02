# SPDX-License-Identifier: GPL-2.0-or-later
"""A platform and its activity as one JSON document, exactly as a run used them, and back.

A finished run is read by this document and not by the files that it was made from: those may have
changed since, or be gone. Fields are written by name, so a class may gain a field with a default
and still read what was written before.
"""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from configs.activity import Activity
from configs.platform import Platform
from host.errors import EascopeError

Record = TypeVar("Record")

#: Raised when a document of an older version could no longer be read for what it meant.
SCHEMA = 1


def machine_json(platform: Platform, activity: Activity) -> bytes:
    """Both as readable JSON: the same bytes wherever the files that they come from lie.

    Keys keep their order: it is that of the files, and lists of figures follow it.
    """
    document = {"schema": SCHEMA, "platform": _plain(platform), "activity": _plain(activity)}
    return json.dumps(document, indent=0, ensure_ascii=False).encode() + b"\n"


def read_machine(path: Path) -> tuple[Platform, Activity]:
    """What `machine_json` wrote to ``path``.

    :raises EascopeError: one line, when the file cannot be read or does not hold a machine.
    """
    try:
        document = json.loads(path.read_bytes())
        if document["schema"] != SCHEMA:
            raise ValueError(f"schema {document['schema']!r}: allowed: {SCHEMA}")
        return _made(Platform, document["platform"]), _made(Activity, document["activity"])
    except OSError as error:
        raise EascopeError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise EascopeError(f"{path}: not a resolved platform: {_one_line(error)}") from error


def _one_line(error: Exception) -> str:
    text = str(error).partition("\n")[0]
    return f"{type(error).__name__} {text}".strip()[:120]


def _plain(value: Any) -> Any:
    """``value`` as what JSON has; a path is its last part, which is the same on every machine."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, Path):
        return value.name
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _made(kind: type[Record], data: Any) -> Record:
    """An object of the dataclass ``kind`` from what `_plain` made of one."""
    hints = get_type_hints(kind)
    fields = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    values = {name: _typed(hints[name], data[name]) for name in fields if name in data}
    return kind(**values)


def _typed(hint: Any, data: Any) -> Any:
    """``data`` as the type ``hint``.

    :raises TypeError: when it is of another type.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (inner,) = (part for part in arguments if part is not type(None))
        return None if data is None else _typed(inner, data)
    if dataclasses.is_dataclass(hint):
        return _made(hint, data)  # type: ignore[arg-type]
    if origin is tuple:
        return tuple(_typed(arguments[0], part) for part in _of(list, data))
    if origin is Mapping:
        key_type, value_type = arguments
        return {key_type(key): _typed(value_type, part) for key, part in _of(dict, data).items()}
    if hint is Path:
        return Path(_of(str, data))
    if hint is float and type(data) is int:
        return float(data)
    return _of(hint, data)


def _of(kind: type[Record], data: Any) -> Record:
    if type(data) is not kind:
        raise TypeError(f"{data!r:.40} is no {kind.__name__}")
    return data
