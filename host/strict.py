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
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from host.errors import (
    RequestError,
    bad_input,
    missing_key,
    names_allowed,
    nearest,
    no_such_key,
    one_line,
)

#: Magnitude of the largest integer of a file.
INTEGER_BITS = 63

_REPO = Path(__file__).resolve().parent.parent
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
#: What `is_name` accepts, in words.
NAME_RULE = "lower-case letters, digits and single dashes, beginning with a letter"


def is_name(text: str) -> bool:
    """Whether ``text`` can stand in file names, flags and columns: `NAME_RULE`."""
    return _NAME.fullmatch(text) is not None


def shown_path(path: Path) -> str:
    """``path`` as a person would type it in the repository: relative to its root when inside."""
    # Not Path.resolve(): it raises on a loop of symbolic links.
    resolved = Path(os.path.realpath(path))
    inside = resolved.is_relative_to(_REPO)
    return one_line(str(resolved.relative_to(_REPO) if inside else path))


def _read_text(path: Path, kind: str) -> str:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # to open a FIFO would wait for a writer
            raise RequestError(f"{shown_path(path)}: not a regular file: allowed: {kind}")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise RequestError(
            f"{shown_path(path)}: byte {error.start} is not UTF-8: allowed: {kind}"
        ) from error
    except OSError as error:
        raise RequestError(f"{shown_path(path)}: {error.strerror}: allowed: {kind}") from error


def _parse(path: Path, language: str, parse: Callable[[str], Any]) -> Any:
    """The content of the file at ``path``, by ``parse``; see `read_toml` and `read_json`."""
    text = _read_text(path, f"a readable {language} file")
    try:
        data = parse(text)
        _check_integers(data)
    except json.JSONDecodeError as error:
        raise RequestError(
            f"{shown_path(path)}: not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from error
    except RecursionError as error:
        raise RequestError(f"{shown_path(path)}: nested too deeply: allowed: {language}") from error
    except ValueError as error:  # TOML's own, a key given twice, an integer of 4300 digits
        reason = str(error).partition(";")[0]
        raise RequestError(f"{shown_path(path)}: not {language}: {one_line(reason)}") from error
    return data


def _check_integers(value: Any) -> None:
    """Refuse integers beyond 64 bits, as TOML does: Python cannot even print very long ones.

    :raises ValueError: the first of them.
    """
    if isinstance(value, int) and value.bit_length() > INTEGER_BITS:
        raise ValueError(f"an integer of {value.bit_length()} bits, where {INTEGER_BITS} is most")
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            _check_integers(item)


def read_toml(path: Path) -> StrictTable:
    """The TOML file at ``path``.

    :raises RequestError: when it cannot be read or is not TOML (with line and column).
    """
    return StrictTable(shown_path(path), _parse(path, "TOML", _toml))


#: Contents of TOML texts by text, pickled: a campaign reads a core's file for every platform, and
#: to parse it takes ten times as long.
_KEPT: dict[str, bytes] = {}
_MOST_KEPT = 256


def _toml(text: str) -> dict[str, Any]:
    """The content of ``text``; each caller has its own."""
    if (kept := _KEPT.get(text)) is not None:
        own: dict[str, Any] = pickle.loads(kept)
        return own
    data = tomllib.loads(text)
    if len(_KEPT) < _MOST_KEPT:
        _KEPT[text] = pickle.dumps(data, pickle.HIGHEST_PROTOCOL)
    return data


def read_json(path: Path) -> StrictTable:
    """The JSON object in the file at ``path``, in which no key is given twice.

    :raises RequestError: when it cannot be read, is not JSON, or is not an object.
    """
    data = _parse(path, "JSON", lambda text: json.loads(text, object_pairs_hook=_unique_keys))
    if not isinstance(data, dict):
        raise RequestError(f"{shown_path(path)}: a {type(data).__name__}: allowed: a JSON object")
    return StrictTable(shown_path(path), data)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs of a JSON object; Python would take the last of a key's values in silence.

    :raises ValueError: a key that is there twice.
    """
    unique = dict(pairs)
    if len(unique) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} is there twice in one object")
    return unique


class StrictTable:
    """One table of a file; the accessors check values, and remember the keys that were read.

    :param file: the file's name for messages.
    :param data: the parsed content.
    :param where: dotted path of this table inside the file, empty for the top.
    """

    def __init__(self, file: str, data: Mapping[str, Any], where: str = "") -> None:
        self.file = file
        self.data = data
        self.where = where
        self._asked: set[str] = set()

    def key(self, key: str) -> str:
        """Dotted path of ``key`` inside the file."""
        return f"{self.where}.{key}" if self.where else key

    def error(self, key: str, allowed: str) -> RequestError:
        """The line for a wrong value at ``key``."""
        return bad_input(self.file, self.key(key), self.data.get(key), allowed)

    def has(self, key: str) -> bool:
        """Whether ``key`` is there; it counts as read."""
        self._asked.add(key)
        return key in self.data

    def _get(self, key: str, allowed: str) -> Any:
        if not self.has(key):
            raise missing_key(self.file, self.key(key), allowed)
        return self.data[key]

    def integer(self, key: str, minimum: int, maximum: int, unit: str = "") -> int:
        """An integer in ``minimum..maximum``; a boolean or a float is not one."""
        allowed = f"an integer in {minimum}..{maximum}" + (f" ({unit})" if unit else "")
        value = self._get(key, allowed)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(key, allowed)
        if not minimum <= value <= maximum:
            raise self.error(key, allowed)
        return value

    def flag(self, key: str) -> bool:
        """``true`` or ``false``."""
        value = self._get(key, "true or false")
        if not isinstance(value, bool):
            raise self.error(key, "true or false")
        return value

    def number(self, key: str, minimum: float, maximum: float, unit: str = "") -> float:
        """A finite integer or float in ``minimum..maximum``."""
        allowed = f"a number in {minimum:g}..{maximum:g}" + (f" ({unit})" if unit else "")
        value = self._get(key, allowed)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(key, allowed)
        if not math.isfinite(value) or not minimum <= value <= maximum:
            raise self.error(key, allowed)
        return float(value)

    def text(self, key: str, choices: Iterable[str] = (), listing: str = "") -> str:
        """A non-empty string without control characters; one of ``choices`` when given.

        :param listing: as for `host.errors.unknown`.
        """
        known = sorted(choices)
        allowed = f"one of {', '.join(known)}" if known else "a non-empty string on one line"
        value = self._get(key, allowed)
        if not isinstance(value, str) or not value.strip() or one_line(value) != value:
            raise self.error(key, allowed)
        if known and value not in known and listing:
            raise self.error(key, f"a known name{names_allowed(value, known, listing)}")
        if known and value not in known:
            raise self.error(key, allowed + nearest(value, known))
        return value

    def name(self, key: str) -> str:
        """A string that can stand in file names, flags and columns."""
        value = self._get(key, NAME_RULE)
        if not isinstance(value, str) or not is_name(value):
            raise self.error(key, NAME_RULE)
        return value

    def table(self, key: str) -> StrictTable:
        """The table at ``key``."""
        value = self._get(key, "a table")
        if not isinstance(value, dict):
            raise self.error(key, "a table")
        return StrictTable(self.file, value, self.key(key))

    def tables(self, key: str, minimum: int, maximum: int) -> tuple[StrictTable, ...]:
        """The array of tables at ``key``, with ``minimum..maximum`` entries."""
        allowed = f"{minimum} to {maximum} tables"
        value = self._get(key, allowed)
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(key, allowed)
        if not minimum <= len(value) <= maximum:
            raise bad_input(self.file, self.key(key), f"{len(value)} tables", allowed)
        return tuple(
            StrictTable(self.file, item, f"{self.key(key)}[{index}]")
            for index, item in enumerate(value)
        )

    def only(self, keys: Iterable[str]) -> None:
        """Complain about a key that is none of ``keys``, before a missing key is noticed.

        A misspelt key is both unknown and missing; the unknown key is the better message.

        :raises RequestError: naming the key, its value, the nearest of ``keys`` and all of them.
        """
        known = sorted(keys)
        for key in self.data:
            if key not in known:
                raise no_such_key(self.file, self.key(key), self.data[key], known)

    def finish(self) -> None:
        """Complain about the first key that no accessor has read.

        :raises RequestError: naming the key, its value, the nearest known key and all of them.
        """
        self.only(self._asked)
