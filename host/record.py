# SPDX-License-Identifier: GPL-2.0-or-later
"""Records: JSON files as frozen dataclasses, read strictly and written with the same bytes.

A class that inherits from `Record` states a file's keys as fields. Reading checks every key and
type, so a damaged file gives one line and never a traceback. A field without a default is always
written. A field with a default is left out of the file while it has that value. `REST` marks the
one field that takes all keys without a field. `json_key` states a key that cannot be the name of a
field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self

from eascope.host.decode import REST, decode_dataclass, json_key, key_of
from eascope.host.errors import EascopeError, shown
from eascope.host.keys import WrongValue

__all__ = [
    "REST",
    "Record",
    "RecordError",
    "WrongValue",
    "child",
    "json_bytes",
    "json_key",
    "load_json",
    "parse_json",
]

#: Numbers in records are at most this large, so that tables can hold them.
_INT64 = 1 << 63
#: No record nests deeper.
_DEEPEST = 64


class RecordError(EascopeError):
    """A file that is no such record; one line: file, key, value, what is allowed."""


def load_json(path: Path) -> Any:
    """Any JSON value from a file that may be damaged.

    :raises RecordError: one line when the file is missing, is no regular file, is not UTF-8 or not
        JSON, is nested too deeply, repeats a key, or holds a number or text that nothing can use.
    """
    try:
        if path.exists() and not path.is_file():
            raise RecordError(f"{path}: is not a regular file")
        return parse_json(path.read_bytes())
    except FileNotFoundError as error:
        raise RecordError(f"{path}: is missing") from error
    except OSError as error:
        raise RecordError(f"{path}: not readable: {error.strerror or error}") from error
    except RecursionError as error:
        raise RecordError(f"{path}: not readable as JSON: nested too deeply") from error
    except ValueError as error:
        why = (str(error).splitlines() or [repr(error)])[0]
        raise RecordError(f"{path}: not readable as JSON: {why}") from error


def parse_json(data: bytes) -> Any:
    """The JSON value in ``data``.

    :raises ValueError: not UTF-8, not JSON, a repeated key, a number or text that cannot be used,
        nested too deeply for `check_depth`.
    :raises RecursionError: nested too deeply.
    """
    value = json.loads(
        data.decode(),
        parse_int=_integer,
        parse_float=_finite,
        parse_constant=_finite,
        object_pairs_hook=_unique,
    )
    check_depth(value)
    # Half of a surrogate pair is legal JSON, but no text that could be printed.
    json.dumps(value, ensure_ascii=False).encode()
    return value


def check_depth(value: object, left: int = _DEEPEST) -> None:
    """Refuse lists and tables so deep that code for them ends in a RecursionError.

    :raises ValueError: nested deeper than any of our files.
    """
    if left < 0:
        raise ValueError(f"nested more than {_DEEPEST} levels deep")
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        check_depth(part, left - 1)


def _integer(text: str) -> int:
    if len(text) > 20 or not -_INT64 <= int(text) < _INT64:
        raise ValueError(f"{text[:20]}... is not a 64-bit integer")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if value - value != 0:
        raise ValueError(f"{text} is not a finite number")
    return value


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"key {shown(twice)} appears twice")
    return content


@dataclass(frozen=True)
class Record:
    """The base of all records; see the module."""

    #: Whether the file has ASCII alone, with escapes for everything else.
    ascii_only: ClassVar[bool] = False
    #: The one value of the key ``schema`` that is read; None for a record without that key.
    schema_read: ClassVar[int | None] = None

    @classmethod
    def decode(cls, value: object, file: Path | str) -> Self:
        """The record from a JSON value.

        :raises RecordError: for the first key that is missing, unknown or of another type.
        """
        try:
            return decode_dataclass(cls, value)
        except WrongValue as wrong:
            raise RecordError(str(wrong.line(file))) from None

    @classmethod
    def read(cls, path: Path) -> Self:
        """The record in a file.

        :raises RecordError: one line when the file cannot be read or is no such record.
        """
        return cls.decode(load_json(path), path)

    def encode(self) -> dict[str, Any]:
        """The record as JSON values: dictionaries, lists, texts and numbers."""
        content: dict[str, Any] = {}
        for entry in fields(self):
            value = getattr(self, entry.name)
            if entry.metadata.get("rest"):
                content |= _encode(value)
            elif not _left_out(entry, value):
                content[key_of(entry)] = _encode(value)
        return content

    def to_bytes(self) -> bytes:
        """The file's content: readable, and the same bytes for the same record."""
        return json_bytes(self.encode(), ascii_only=self.ascii_only)

    def write(self, path: Path) -> None:
        """Write the file; no process may read its folder yet."""
        path.write_bytes(self.to_bytes())


def json_bytes(value: object, *, ascii_only: bool = False) -> bytes:
    """``value`` as every record is written: sorted keys, one space of indent, a line at the end."""
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=ascii_only)
    return text.encode() + b"\n"


def child(value: object, key: str) -> Any:
    """The value at ``key`` of a record, a mapping or a sequence (there the key is an index).

    :raises KeyError: when there is no such thing, or the field was left out.
    """
    if isinstance(value, Record):
        for entry in fields(value):
            if entry.metadata.get("rest"):
                if key in (rest := getattr(value, entry.name)):
                    return rest[key]
            elif key_of(entry) == key:
                field_value = getattr(value, entry.name)
                if _left_out(entry, field_value):
                    break
                return field_value
    elif isinstance(value, Mapping) and key in value:
        return value[key]
    elif isinstance(value, list | tuple) and key.isdecimal() and int(key) < len(value):
        return value[int(key)]
    raise KeyError(key)


def _left_out(entry: Field[Any], value: object) -> bool:
    """True if a field has the value with which it is left out of the file."""
    if entry.default is not MISSING:
        return bool(value == entry.default)
    return entry.default_factory is not MISSING and value == entry.default_factory()


def _encode(value: Any) -> Any:
    if isinstance(value, Record):
        return value.encode()
    if isinstance(value, Mapping):
        return {key: _encode(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_encode(part) for part in value]
    return value
