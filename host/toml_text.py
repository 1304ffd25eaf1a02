# SPDX-License-Identifier: GPL-2.0-or-later
"""Writing TOML: files that a person can read and the loaders read again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


def toml_text(document: Mapping[str, Any]) -> str:
    """``document`` as TOML: values first, then tables; lists of tables inline."""
    return "".join(f"{line}\n" for line in _lines(document, ""))


def _lines(table: Mapping[str, Any], where: str) -> list[str]:
    plain = {key: value for key, value in table.items() if not isinstance(value, dict)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    for key, value in table.items():
        if isinstance(value, dict):
            here = f"{where}.{_key(key)}" if where else _key(key)
            lines += ["", f"[{here}]", *_lines(value, here)]
    return lines


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        if value and isinstance(value[0], dict):
            return "[\n" + "".join(f"    {_value(item)},\n" for item in value) + "]"
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)
