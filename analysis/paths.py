# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths into ``result.json`` that can be a measure; they are known before any run.

The types of `Result`, and of what measures return, state the keys. A measure by task has the
scenario's tasks below it. Names of clusters belong to the platform, and a statement may be about
another platform.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from eascope.analysis.measures import MEASURES
from eascope.analysis.records.result import Result
from eascope.analysis.tables.task_energy import IDLE, SHARED_PART
from eascope.analysis.tables.tasks import OTHER
from eascope.host.errors import nearest

PROGRAM = "program"
#: What the keys of a measure are, of those that the scenario names.
_NAMED = {
    (measure.name,): measure.by.strip("<>")
    for measure in MEASURES
    if measure.by in ("<task>", "<program>", "<group>", "<load>")
} | {("task_work_s",): "task", ("energy_j", "task"): "task", ("energy_j", "group"): "group"}
#: Names of a scenario: of its tasks (programs among them: they have threads), programs, groups and
#: loads of interrupts.
Named = Mapping[str, Sequence[str]]
#: Types of all keys: of a measure, what its function returns.
_TYPES = get_type_hints(Result) | {
    measure.name: get_type_hints(measure.function)["return"] for measure in MEASURES
}
_BY_NAME = (Mapping, dict)
#: What is no number of a run's: what other statements say of it, and names.
NO_MEASURES = ("engine", "expect", "more", "power_model")


def wrong_path(path: Sequence[str], named: Named) -> str:
    """Why ``path`` cannot be a measure, in words; empty if it can.

    :param named: names of the scenario, by ``task``, ``program``, ``group`` and ``load``.
    """
    here: Any = Result
    for depth, key in enumerate(path):
        known = _keys(here, path[:depth], named)
        if known is None:
            return f"{'.'.join(path[:depth])} is a number, without {key!r} below it"
        if known and key not in known:
            return f"no {key!r} there: allowed: {', '.join(known)}{nearest(key, known)}"
        if get_origin(here) is tuple and not key.isdigit():
            return f"{key!r} is not an index; expected a number from 0"
        here = _below(here, key)
    if _keys(here, path, named) is not None:
        return f"{'.'.join(path)} is several numbers; choose one of them, such as " + ".".join(
            [*path, _example(here, path, named)]
        )
    return ""


def _keys(here: Any, path: Sequence[str], named: Named) -> list[str] | None:
    """Keys below ``here``, empty if any key is allowed; None if it is a number."""
    if here is Result:
        return sorted(name for name in _TYPES if name not in NO_MEASURES)
    if is_dataclass(here):
        return sorted(field.name for field in fields(here))
    if get_origin(here) in _BY_NAME and (kind := _NAMED.get(tuple(path))):
        return [*named[kind], *((OTHER, IDLE, SHARED_PART) if len(path) > 1 else ())]
    return [] if get_origin(here) in (*_BY_NAME, tuple) else None


def _below(here: Any, key: str) -> Any:
    """The type of the value at ``key`` of a ``here``, without "or none"."""
    if is_dataclass(here):
        hint = (_TYPES if here is Result else get_type_hints(here))[key]
    else:
        hint = get_args(here)[1 if get_origin(here) in _BY_NAME else 0]
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (part for part in get_args(hint) if part is not NoneType)
    return hint


def _example(here: Any, path: Sequence[str], named: Named) -> str:
    return (_keys(here, path, named) or ["0" if get_origin(here) is tuple else "NAME"])[0]
