# SPDX-License-Identifier: GPL-2.0-or-later
"""The form of a measure: a function of a run that declares its name, its unit and its inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from eascope.analysis.source import RunData

Function = Callable[[RunData], Any]

#: What a measure may read besides trace events.
LOGS = "program-*.log"


@dataclass(frozen=True)
class Measure:
    """A key of ``result.json``.

    :param name: the key.
    :param keys: names of the parts below it, such as ``<cluster>``; empty for a number.
    :param unit: of its numbers; empty for counts and truth values.
    :param summary: one line for the reference page.
    :param events: trace events that it needs (names of `analysis.trace.FIELDS`).
    :param files: further files of the run that it reads.
    :param function: computes it; returns None if the run cannot give it.
    """

    name: str
    keys: str
    unit: str
    summary: str
    events: tuple[str, ...]
    files: tuple[str, ...]
    function: Function


def measure(
    name: str,
    *,
    keys: str = "",
    unit: str = "",
    events: tuple[str, ...] = (),
    files: tuple[str, ...] = (),
) -> Callable[[Function], Measure]:
    """Make a measure of a function of a `RunData`; its docstring's first line is the summary.

    A run that cannot give the measure gets None, or an empty mapping.
    """

    def made(function: Function) -> Measure:
        summary = (inspect.getdoc(function) or "").splitlines()[0]
        return Measure(
            name=name,
            keys=keys,
            unit=unit,
            summary=summary,
            events=events,
            files=files,
            function=function,
        )

    return made
