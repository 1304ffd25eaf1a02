# SPDX-License-Identifier: GPL-2.0-or-later
"""A platform and its activity as one JSON document, exactly as a run used them, and back.

A finished run is read with this document. The files that it was made from may have changed since,
or be gone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, ClassVar

from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.host.record import Record

#: Of the document: any other is refused.
SCHEMA = 2


def machine_json(platform: Platform, activity: Activity) -> bytes:
    """Both as readable JSON: the same bytes, wherever their files are.

    Keys keep their order: it is that of the files, and lists of figures follow it.
    """
    document = {"schema": SCHEMA, "platform": _plain(platform), "activity": _plain(activity)}
    return json.dumps(document, indent=0, ensure_ascii=False).encode() + b"\n"


@dataclass(frozen=True)
class _Machine(Record):
    schema_read: ClassVar[int] = SCHEMA

    schema: int
    platform: Platform
    activity: Activity


def read_machine(path: Path) -> tuple[Platform, Activity]:
    """What `machine_json` wrote to ``path``.

    :raises RecordError: one line, when the file cannot be read or does not hold a machine.
    """
    document = _Machine.read(path)
    return document.platform, document.activity


def _plain(value: Any) -> Any:
    """``value`` as what JSON has; a path is its last part, which is the same on every machine."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, Path):
        return value.name
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{type(value).__name__} has no JSON form")
