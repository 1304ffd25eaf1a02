# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of a shipped campaign, such as ``results/campaign-opp-sweep.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from analysis.difference import Difference
from analysis.results.origin import ResultRecord
from host.record import Record

#: Measures of a cell: mJ for a unit of work; us; a count in the window; units of work.
ENERGY, LATENCY, MISSED, WORK = "energy", "latency", "missed", "work"


@dataclass(frozen=True)
class SweptDifference(Record):
    """A mean less that of the reference, over common seeds; in the measure's unit.

    :param baseline: size of the reference's mean.
    :param seeds: number of common seeds.
    :param low: lower end of the 95 % interval of ``value``; None with too few seeds.
    :param percent_low: lower end of the 95 % interval of the difference in percent; None with too
        few seeds, and where one seed makes the reference differ from zero.
    """

    baseline: float
    seeds: int
    value: float
    low: float | None
    high: float | None
    percent_low: float | None
    percent_high: float | None

    @property
    def made(self) -> Difference:
        """The same as the statistics have it."""
        percent = 100 * self.value / self.baseline if self.baseline else None
        low, high = self.percent_low, self.percent_high
        return Difference(
            *(self.value, percent, self.low, self.high, self.baseline, self.seeds),
            percent_ends=None if low is None or high is None else (low, high),
        )


@dataclass(frozen=True)
class SweptMeasure(Record):
    """A measure of a cell over its seeds.

    :param low: lower end of the 95 % interval of the mean; None with too few seeds.
    :param against: the difference from the reference; None for the reference itself, and where
        none is made.
    """

    mean: float
    low: float | None
    high: float | None
    against: SweptDifference | None


@dataclass(frozen=True)
class SweptCell(Record):
    """A combination of the axes' values, over seeds.

    :param axes: the value of each axis, in words.
    :param seeds: number of its runs.
    :param beaten_by: values of the page's axis that are clearly better, all else equal.
    :param measures: by name; a measure that a run cannot give is absent.
    :param floors: the noise floors of its measures in percent, as far as they are known: those of
        mainline on the platform as it is, at the cell's speeds.
    """

    axes: Mapping[str, str]
    seeds: int
    beaten_by: tuple[str, ...]
    measures: Mapping[str, SweptMeasure]
    floors: Mapping[str, float] = field(default_factory=dict)

    def sign(self, measure: str) -> int:
        """-1 or 1 where it clearly differs from the reference, on its side; 0 elsewhere."""
        known = self.measures.get(measure)
        if known is None or known.against is None:
            return 0
        if not known.against.made.clear_above(self.floors.get(measure)):
            return 0
        return 1 if known.against.value > 0 else -1


@dataclass(frozen=True)
class SweptScenario(Record):
    """The meaning of measures on a scenario, in words; empty where there is no such measure.

    :param work_unit: the unit of work.
    :param latency: whose latency is stated.
    :param missed: what is counted as missed.
    :param error: of the fast engine's energy against gem5's, on the campaign's first platform.
    """

    scenario: str
    work_unit: str
    latency: str
    missed: str
    error: str


@dataclass(frozen=True)
class CampaignResult(ResultRecord):
    """A campaign's cells over the seeds that were run.

    A difference is clear if its interval excludes zero, and if it exceeds the noise floor where one
    is known (`Difference.clear_above`).

    :param question: the campaign's, as ``limits`` and ``summary``.
    :param planned_seeds: number of the campaign's seeds; ``seeds`` are those of the record.
    :param left_out: values of axes that the campaign has and the record has not.
    :param reference: values of axes; each cell is compared with the one that has these.
    """

    campaign: str
    summary: str
    question: str
    limits: str
    engine: str
    power: str
    duration: str
    kernel: str
    planned_seeds: int
    seeds: tuple[int, ...]
    axes: Mapping[str, tuple[str, ...]]
    left_out: Mapping[str, tuple[str, ...]]
    reference: Mapping[str, str]
    scenarios: tuple[SweptScenario, ...]
    cells: tuple[SweptCell, ...]
