# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of TOML and JSON, whose keys are declared (`host.keys`), and TOML that is written."""

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

from eascope.host.errors import RequestError, one_line, shortened, shown, unknown
from eascope.host.keys import Place
from eascope.host.record import check_depth, parse_json

#: Magnitude of the largest integer of a file.
INTEGER_BITS = 63

_REPO = Path(__file__).resolve().parent.parent


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
    expected = "expected a name, or a file that ends in .toml"
    if os.path.isdir(name) and (Path(name).name != name or "." in name):
        return RequestError(f"{kind} {shown(name)} is a directory; {expected}")
    if os.path.exists(name) and not os.path.isdir(name):
        return RequestError(f"{kind} {shown(name)} is a file; {expected}{more}")
    return unknown(kind, name, known, listing)


def read_text(path: Path, kind: str) -> str:
    """The text of a file.

    :param kind: what is allowed, for the line of a file that cannot be read.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # to open a FIFO would wait for a writer
            raise RequestError(f"{shown_path(path)}: not a regular file; expected {kind}")
        return path.read_text(encoding="utf-8-sig")  # some editors begin a file with a mark
    except UnicodeDecodeError as error:
        raise RequestError(
            f"{shown_path(path)}: byte {error.start} is not UTF-8; expected {kind}"
        ) from error
    except OSError as error:
        raise RequestError(f"{shown_path(path)}: {error.strerror}; expected {kind}") from error


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
        raise RequestError(f"{shown_path(path)}: nested too deeply for {language}") from error
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


def read_toml(path: Path) -> Place:
    """The TOML file at ``path``.

    :raises RequestError: when it cannot be read, is not TOML (with line and column), or has a date,
        a time or a number that no key allows.
    """
    file = shown_path(path)
    return Place(file, _parse(path, "TOML", lambda text: parse_toml(file, text)))


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


def read_json(path: Path) -> Place:
    """The JSON object in the file at ``path``, in which no key is given twice.

    :raises RequestError: when it cannot be read, is not JSON, or is not an object.
    """
    data = _parse(path, "JSON", lambda text: parse_json(text.encode()))
    if not isinstance(data, dict):
        raise RequestError(f"{shown_path(path)}: a {type(data).__name__}; expected a JSON object")
    return Place(shown_path(path), data)


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
