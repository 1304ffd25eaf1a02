# SPDX-License-Identifier: GPL-2.0-or-later
"""Differences along one axis of a campaign: each value against the first, all else equal.

The axis may be the platform, a topology, the variant or any other axis. So one table, and one
drawing, has all comparisons of a campaign.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eascope.analysis.difference import Difference, difference
from eascope.experiments.sweeps.campaign import Campaign
from eascope.experiments.sweeps.long_table import MeasuredCell
from eascope.experiments.sweeps.point import CONTROL
from eascope.host.errors import RequestError

#: Columns after those of the axes.
COLUMNS = (
    *("against", "measure", "unit", "baseline", "difference", "percent", "low", "high"),
    *("seeds", "p"),
)


@dataclass(frozen=True)
class AxisDifference:
    """A measure at one value of an axis, less the measure at the axis's first value.

    :param axes: the value of each axis, in words.
    :param against: the first value of the axis, with the measure's mean ``baseline``.
    :param difference: the difference over the seeds that both have.
    """

    axes: tuple[str, ...]
    against: str
    measure: str
    unit: str
    baseline: float
    difference: Difference

    def cells(self) -> list[str]:
        """A line of the table; empty cells where there is no interval."""
        diff = self.difference
        numbers = [self.baseline, diff.absolute, diff.percent, diff.low, diff.high]
        texts = ["" if number is None else repr(float(number)) for number in numbers]
        p = "" if diff.p is None else repr(float(diff.p))
        words = [*self.axes, self.against, self.measure, self.unit]
        return [*words, *texts, str(diff.seeds), p]


def place_of(campaign: Campaign, axis: str) -> int:
    """The position of ``axis`` among the campaign's.

    :raises RequestError: there is none of this name, or it has one value.
    """
    varied = [axis.name for axis in campaign.axes if len(axis.choices) > 1]
    axis = axis if axis in varied else axis.removeprefix(CONTROL)
    if axis not in varied:
        raise RequestError(
            f"--against {axis}: allowed: an axis of {campaign.file} with more than one value"
            + (f": {', '.join(varied)}" if varied else "; it has none")
        )
    return [axis.name for axis in campaign.axes].index(axis)


def other_work(campaign: Campaign, axis: str) -> bool:
    """Whether values of ``axis`` may stand for different work in the same microseconds.

    A scenario's microseconds are those of the largest CPU at its top OPP, unless the campaign has a
    reference.
    """
    choices = next(one.choices for one in campaign.axes if one.name == axis)
    changes = any({"platform", "overrides"} & set(choice.sets) for choice in choices)
    return changes and "reference" not in dict(campaign.common.get("controls", {}))


def differences(cells: Sequence[MeasuredCell], place: int, first: str) -> Iterator[AxisDifference]:
    """Every measure at every value of an axis against the first, in the order of ``cells``.

    A measure that one of the two lacks, or has for other seeds, is left out.

    :param place: of the axis; ``first``: its first value.
    """
    values: dict[tuple[tuple[str, ...], str], dict[int, float]] = {}
    units: dict[str, str] = {}
    for cell in cells:
        values.setdefault((cell.axes, cell.measure), {})[cell.seed] = cell.value
        units[cell.measure] = cell.unit
    for (axes, measure), of_cell in values.items():
        if axes[place] == first:
            continue
        base = values.get(((*axes[:place], first, *axes[place + 1 :]), measure), {})
        seeds = sorted(base.keys() & of_cell.keys())
        if seeds:
            of_first = [base[seed] for seed in seeds]
            diff = difference(of_first, [of_cell[seed] for seed in seeds])
            mean = sum(of_first) / len(seeds)
            yield AxisDifference(
                axes=axes,
                against=first,
                measure=measure,
                unit=units[measure],
                baseline=mean,
                difference=diff,
            )
