# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of the first figure's comparison: ``results/first-figure.json``."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.results.origin import ResultRecord
from host.record import Record


@dataclass(frozen=True)
class ComparedMeasure(Record):
    """One measure of two variants: means over seeds, and the difference paired over seeds.

    :param percent: the difference in per cent of the baseline; None where that says nothing.
    :param low: lower end of the difference's 95 % interval.
    :param percent_low: the same of ``percent``.
    """

    name: str
    baseline: float
    variant: float
    difference: float
    percent: float | None
    low: float
    high: float
    percent_low: float | None
    percent_high: float | None


@dataclass(frozen=True)
class FirstFigure(ResultRecord):
    """Two variants on one scenario."""

    platform: str
    scenario: str
    baseline: str
    variant: str
    seeds: int
    window_s: float
    measures: tuple[ComparedMeasure, ...]
