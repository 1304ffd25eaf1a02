# SPDX-License-Identifier: GPL-2.0-or-later
"""The form of a measure: a function of a run that declares its name, its unit and its inputs."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from eascope.analysis.run_data import RunData

Function = Callable[[RunData], Any]
#: The smallest and the largest value.
Range = tuple[float, float]

#: What a measure may read besides trace events.
LOGS = "program-*.log"
#: Keys of percentiles that have a line.
PERCENTILES = ("p50", "p95", "p99", "max")


@dataclass(frozen=True)
class Lines:
    """A measure's lines in the table of a comparison: one for each name that it goes by.

    :param label: of a line, with ``{name}``, ``{key}`` of ``keys``, ``{cluster}`` of a CPU and
        ``{mhz}`` of an OPP, ``{state}`` of a CPU.
    :param keys: keys below the name that have a line each.
    :param unit: None: that of the measure, with shares in percent.
    """

    group: str
    label: str = "{name}"
    keys: tuple[str, ...] = ()
    unit: str | None = None
    digits: int = 1


@dataclass(frozen=True)
class Measure:
    """A key of ``result.json``.

    :param keys: names of the parts below it, such as ``<cluster>``; empty for a number.
    :param unit: of its numbers; empty for counts and truth values.
    :param lines: None: it has none, or `analysis.rows` has them.
    :param summary: one line for the reference page.
    :param events: trace events that it needs (names of `analysis.trace.FIELDS`).
    :param files: further files of the run that it reads.
    :param function: computes it; returns None if the run cannot give it.
    """

    name: str
    keys: str
    unit: str
    range: Range
    lines: Lines | None
    summary: str
    events: tuple[str, ...]
    files: tuple[str, ...]
    function: Function

    @property
    def billed(self) -> bool:
        """True if it depends on the power model: energies and powers do."""
        return self.unit in ("J", "W")

    @property
    def by(self) -> str:
        """What its first keys are: ``<task>``, ``<program>``, ``<cluster>``, ``<cpu>``, or none."""
        first = self.keys.partition(".")[0]
        return first if first.startswith("<") else ""


#: All measures, in the order in which they are defined.
REGISTERED: list[Measure] = []


def measure(
    *,
    keys: str = "",
    unit: str = "",
    range_: Range | None = None,
    lines: Lines | None = None,
    events: tuple[str, ...] = (),
    files: tuple[str, ...] = (),
) -> Callable[[Function], Measure]:
    """Make a measure of a function of a `RunData`, with its name.

    The first line of its docstring is the summary.

    A run that cannot give the measure gets None, or an empty mapping.
    """
    most = 1.0 if unit.startswith("share") else math.inf

    def declare(function: Function) -> Measure:
        summary = (inspect.getdoc(function) or "").splitlines()[0]
        REGISTERED.append(
            Measure(
                name=function.__name__,
                keys=keys,
                unit=unit,
                range=range_ or (0.0, most),
                lines=lines,
                summary=summary,
                events=events,
                files=files,
                function=function,
            )
        )
        return REGISTERED[-1]

    return declare
