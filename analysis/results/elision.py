# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of the effect of elision on gem5: ``results/elision.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis.results.agreement import CellMeasure
from analysis.results.origin import RESULTS, ResultRecord
from host.record import Record

FILE = RESULTS / "elision.json"


@dataclass(frozen=True)
class ElisionCase(Record):
    """One scenario executed and elided on the same CPUs; differences are the elided run's.

    :param busy_percent: mean share of the window in which a CPU was awake.
    :param residency_points: largest difference of an OPP's share of the window.
    :param alike: whether both answer every expectation alike; None where there is none.
    :param cpu_s_per_s: gem5's processor seconds per simulated second of the window, by column.
    :param times: executed as so many times elided.
    :param measures: by column, ``executed`` and ``elided``.
    """

    name: str
    warmup_ms: int
    window_ms: int
    busy_percent: float
    energy_percent: float
    residency_points: float
    alike: bool | None
    cpu_s_per_s: Mapping[str, float]
    times: float
    measures: tuple[CellMeasure, ...]


@dataclass(frozen=True)
class ElisionComparison(ResultRecord):
    """All cases on one platform."""

    platform: str
    variant: str
    seed: int
    cases: tuple[ElisionCase, ...]


def executed_costs(file: Path = FILE) -> dict[str, float]:
    """Processor seconds per simulated second of the committed record's executed runs, by case."""
    record = ElisionComparison.read(file)
    return {case.name: case.cpu_s_per_s["executed"] for case in record.cases}
