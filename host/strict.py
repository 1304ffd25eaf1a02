# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading TOML and JSON strictly: every key is asked for, typed and bounded, or it is an error.

A wrong file gets one line: file, key, value, what is allowed. There are no silent defaults, and no
key is ignored: `StrictTable.finish` complains about keys that were not read.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import re
import stat
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from eascope.host import keys
from eascope.host.errors import (
    RequestError,
    bad_input,
    names_allowed,
    one_line,
    shortened,
    shown,
    unknown,
)
from eascope.host.keys import Place
from eascope.host.record import check_depth, parse_json

#: Magnitude of the largest integer of a file.
INTEGER_BITS = 63

T = TypeVar("T")

_REPO = Path(__file__).resolve().parent.parent
# Other rooms take them from here.
NAME_RULE, is_line, is_name = keys.NAME_RULE, keys.is_line, keys.is_name


def shown_path(path: Path) -> str:
    """``path`` as a person would type it in the repository: relative to its root when inside."""
    # Not Path.resolve(): it raises on a loop of symbolic links.
    resolved = Path(os.path.realpath(path))
    inside = resolved.is_relative_to(_REPO)
    return one_line(str(resolved.relative_to(_REPO) if inside else path))


def no_such_name(
    kind: str, name: str, known: Iterable[str], listing: str = "", more: str = ""
) -> RequestError:
    """One line for a ``name`` that is not ``known``, and no file that ends in ``.toml``.

    :param listing: as for `host.errors.unknown`.
    :param more: what to do instead with a file of another format.
    """
    allowed = "allowed: a name, or a file that ends in .toml"
    if os.path.isdir(name) and (Path(name).name != name or "." in name):
        return RequestError(f"{kind} {shown(name)}: a folder: {allowed}")
    if os.path.exists(name) and not os.path.isdir(name):
        return RequestError(f"{kind} {shown(name)}: a file: {allowed}{more}")
    return unknown(kind, name, known, listing)


def read_text(path: Path, kind: str) -> str:
    """The text of a file.

    :param kind: what is allowed, for the line of a file that cannot be read.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # to open a FIFO would wait for a writer
            raise RequestError(f"{shown_path(path)}: not a regular file: allowed: {kind}")
        return path.read_text(encoding="utf-8-sig")  # some editors begin a file with a mark
    except UnicodeDecodeError as error:
        raise RequestError(
            f"{shown_path(path)}: byte {error.start} is not UTF-8: allowed: {kind}"
        ) from error
    except OSError as error:
        raise RequestError(f"{shown_path(path)}: {error.strerror}: allowed: {kind}") from error


def _parse(path: Path, language: str, parse: Callable[[str], Any]) -> Any:
    """The content of the file at ``path``, by ``parse``; see `read_toml` and `read_json`."""
    text = read_text(path, f"a readable {language} file")
    try:
        return parse(text)
    except json.JSONDecodeError as error:
        raise RequestError(
            f"{shown_path(path)}: not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from error
    except RecursionError as error:
        raise RequestError(f"{shown_path(path)}: nested too deeply: allowed: {language}") from error
    except ValueError as error:  # TOML's own, a key given twice, an integer of 4300 digits
        reason = str(error).partition(";")[0]
        raise RequestError(f"{shown_path(path)}: not {language}: {one_line(reason)}") from error


def _check_values(file: str, key: str, value: Any) -> None:
    """Refuse what is TOML, but the value of no key; Python cannot even print very long integers.

    :raises RequestError: the first date, time, number that is not finite or beyond 64 bits.
    """
    if isinstance(value, dict):
        for name, item in value.items():
            _check_values(file, f"{key}.{name}" if key else name, item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check_values(file, f"{key}[{index}]", item)
    elif isinstance(value, int) and value.bit_length() > INTEGER_BITS:
        given = f"an integer of {value.bit_length()} bits"
        raise RequestError(f"{file}: {shortened(key)} = {given}: allowed: {INTEGER_BITS} bits")
    elif not isinstance(value, str | int) and not (
        isinstance(value, float) and math.isfinite(value)
    ):
        raise RequestError(
            f"{file}: {shortened(key)} = {value}: allowed: a text, a finite number, true, false, a "
            "list or a table"
        )


def read_toml(path: Path) -> StrictTable:
    """The TOML file at ``path``.

    :raises RequestError: when it cannot be read, is not TOML (with line and column), or has a date,
        a time or a number that no key allows.
    """
    file = shown_path(path)
    return StrictTable(file, _parse(path, "TOML", lambda text: parse_toml(file, text)))


#: Contents of sound TOML texts by text, pickled: a campaign reads a core's file for every platform,
#: and to parse it takes ten times as long.
_KEPT: dict[str, bytes] = {}
_MOST_KEPT = 256


def parse_toml(file: str, text: str) -> dict[str, Any]:
    """The content of ``text``, the text of ``file``; each caller has its own.

    :raises ValueError: it is not TOML.
    :raises RequestError: see `read_toml`.
    """
    if (kept := _KEPT.get(text)) is not None:
        own: dict[str, Any] = pickle.loads(kept)
        return own
    data = tomllib.loads(text)
    check_depth(data)
    _check_values(file, "", data)
    if len(_KEPT) < _MOST_KEPT:
        _KEPT[text] = pickle.dumps(data, pickle.HIGHEST_PROTOCOL)
    return data


def read_json(path: Path) -> StrictTable:
    """The JSON object in the file at ``path``, in which no key is given twice.

    :raises RequestError: when it cannot be read, is not JSON, or is not an object.
    """
    data = _parse(path, "JSON", lambda text: parse_json(text.encode()))
    if not isinstance(data, dict):
        raise RequestError(f"{shown_path(path)}: a {type(data).__name__}: allowed: a JSON object")
    return StrictTable(shown_path(path), data)


class StrictTable(Place):
    """One table of a file; the accessors check values, and remember the keys that were read."""

    def __init__(self, file: str, data: Mapping[str, Any], where: str = "") -> None:
        super().__init__(file, data, where)
        self._asked: set[str] = set()

    def has(self, key: str) -> bool:
        """Whether ``key`` is there; it counts as read."""
        self._asked.add(key)
        return key in self.data

    def value(self, key: str, allowed: str) -> Any:
        """The value of ``key`` of whatever type, for a key that takes several.

        :param allowed: for the message when it is missing.
        """
        if not self.has(key):
            raise self.lacks(key, allowed)
        return self.data[key]

    def read(self, key: str, kind: type[T], **options: Any) -> T:
        """The value of ``key`` by a declaration (`host.keys`)."""
        entry = keys.Entry(key, kind, keys.Key(**options))
        read: T = keys.read_at(key, entry, self.value(key, entry.allowed), {"place": self})
        return read

    def integer(self, key: str, minimum: int, maximum: int, unit: str = "") -> int:
        """An integer in ``minimum..maximum``; a boolean or a float is not one."""
        return self.read(key, int, span=(minimum, maximum), unit=unit)

    def flag(self, key: str) -> bool:
        """``true`` or ``false``."""
        return self.read(key, bool)

    def number(self, key: str, minimum: float, maximum: float, unit: str = "") -> float:
        """An integer or float in ``minimum..maximum``."""
        return self.read(key, float, span=(minimum, maximum), unit=unit)

    def text(self, key: str, choices: Iterable[str] = (), listing: str = "") -> str:
        """A non-empty string without control characters; one of ``choices`` when given.

        :param listing: as for `host.errors.unknown`.
        """
        known = sorted(choices)
        allowed = f"a known name{names_allowed('', known, listing)}" if known and listing else ""
        value: str = self.read(key, str, choices=() if listing else known, allowed=allowed)
        if listing and known and value not in known:
            raise self.error(key, f"a known name{names_allowed(value, known, listing)}")
        return value

    def name(self, key: str) -> str:
        """A string that can stand in file names, flags and columns."""
        return self.read(key, str, form=keys.NAME)

    def texts(
        self, key: str, choices: Collection[str] = (), allowed: str = "", least: int = 1
    ) -> tuple[str, ...]:
        """A list of ``least`` or more texts; each is another one of ``choices`` when given.

        :param allowed: for messages; by default it lists the choices.
        """
        count = (least, 0)
        return self.read(key, tuple[str, ...], choices=choices, allowed=allowed, count=count)

    def table(self, key: str) -> StrictTable:
        """The table at ``key``."""
        return StrictTable(self.file, self.read(key, dict, form=keys.TABLE), self.key(key))

    def tables(self, key: str, minimum: int, maximum: int) -> tuple[StrictTable, ...]:
        """The array of tables at ``key``, with ``minimum..maximum`` entries."""
        allowed = f"{minimum} to {maximum} tables"
        value = self.value(key, allowed)
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(key, allowed)
        if not minimum <= len(value) <= maximum:
            raise bad_input(self.file, self.key(key), f"{len(value)} tables", allowed)
        return tuple(
            StrictTable(self.file, item, f"{self.key(key)}[{index}]")
            for index, item in enumerate(value)
        )

    def decoded(self, kind: Callable[..., T], **context: Any) -> T:
        """The keys of the dataclass ``kind``; the table has no others but those read before.

        :param context: as for `host.keys.read_table`.
        """
        names = {*keys.entries_of(kind)} - {*context}
        self.only(names | self._asked)
        self._asked |= names
        own = {name: self.data[name] for name in self.data if name in names}
        try:
            return keys.read_table(kind, {**context, "place": Place(self.file, own, self.where)})
        except keys.WrongValue as wrong:
            raise self.line(wrong) from None

    def finish(self) -> None:
        """Complain about the first key that no accessor has read.

        :raises RequestError: naming the key, its value, the nearest known key and all of them.
        """
        self.only(self._asked)


def toml_text(document: Mapping[str, Any]) -> str:
    """``document`` as TOML that loaders read again: values, then tables; lists of tables inline."""
    return "".join(f"{line}\n" for line in _toml_lines(document, ""))


def _toml_lines(table: Mapping[str, Any], where: str) -> list[str]:
    plain = {key: value for key, value in table.items() if not isinstance(value, dict)}
    lines = [f"{_toml_key(key)} = {_toml_value(value)}" for key, value in plain.items()]
    for key, value in table.items():
        if isinstance(value, dict):
            here = f"{where}.{_toml_key(key)}" if where else _toml_key(key)
            lines += ["", f"[{here}]", *_toml_lines(value, here)]
    return lines


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _toml_value(value: object) -> str:
    if isinstance(value, dict):
        pairs = (f"{_toml_key(key)} = {_toml_value(item)}" for key, item in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list):
        if value and isinstance(value[0], dict):
            return "[\n" + "".join(f"    {_toml_value(item)},\n" for item in value) + "]"
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    if isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)
