# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of opp-sweep: the number of OPPs from which on more of them save no energy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from analysis.results.campaigns import LATENCY, CampaignResult, SweptCell
from studies.campaigns.cells import (
    difference_words,
    grouped,
    joined,
    mostly_overloaded,
    percent,
    varied,
)
from studies.campaigns.plan import ENDS, OPPS, spacing_of

#: The question is about EAS; other variants have lines of their own.
_EAS = "mainline"


def varied_opps(record: CampaignResult) -> dict[str, str]:
    """By the axes of which the record has several numbers of OPPs: the cluster."""
    known = [axis for axis in OPPS if axis in record.axes]
    return {axis: axis.partition(".")[0] for axis in varied(record, known)}


def spacings(cells: Sequence[SweptCell], axis: str) -> dict[str, list[tuple[int, SweptCell]]]:
    """Numbers of OPPs and cells by spacing; the two ends alone belong to every spacing.

    :param axis: whose OPPs are counted; a cell that varies them leaves the other cluster's as is.
    """
    known = [(made, cell) for cell in cells if (made := spacing_of(cell.axes[axis])) is not None]
    ends = [(count, cell) for (count, _), cell in known if count == ENDS]
    series: dict[str, list[tuple[int, SweptCell]]] = {}
    for (count, spacing), cell in sorted(known, key=lambda each: each[0][0]):
        if count != ENDS:
            series.setdefault(spacing, list(ends)).append((count, cell))
    return series


def enough_opps(series: Sequence[tuple[int, SweptCell]], spacing: str) -> tuple[int, bool]:
    """The least number of OPPs from which on none is clearly beaten by a larger one.

    :returns: the number, and whether larger ones were tried.
    """
    enough = series[-1][0]
    for count, cell in reversed(series):
        others = [made for each in cell.beaten_by if (made := spacing_of(each)) is not None]
        if [other for other in others if other[1] == spacing]:
            break
        enough = count
    return enough, enough < series[-1][0]


@dataclass(frozen=True)
class Enough:
    """The number of OPPs of a cluster at one spacing.

    :param count: of `enough_opps`; ``decided`` is whether larger ones were tried.
    :param cell: the cell that has it.
    """

    cluster: str
    spacing: str
    count: int
    decided: bool
    cell: SweptCell


def _every(record: CampaignResult) -> Iterator[tuple[str, str, list[Enough]]]:
    """Scenario (and whether it is overloaded), variant, and their numbers of OPPs."""
    for (scenario, variant), cells in grouped(record.cells, ("scenario", "variant")).items():
        named = f"{scenario}{' (overloaded)' if mostly_overloaded(record, cells) else ''}"
        made = [
            Enough(cluster, spacing, count, decided, dict(series)[count])
            for axis, cluster in varied_opps(record).items()
            for spacing, series in spacings(cells, axis).items()
            for count, decided in (enough_opps(series, spacing),)
        ]
        yield named, variant, made


def answer(record: CampaignResult) -> str:
    """Of EAS, for each scenario, cluster and spacing, with the latency."""
    scenarios = [
        f"{named}: {'; '.join(_clusters(made, _price))}"
        for named, variant, made in _every(record)
        if variant == _EAS
    ]
    return (
        f"OPPs from which on no larger number clearly saves energy with {_EAS}, and the latency "
        f"with them compared with the board's own OPPs: {' · '.join(scenarios)}"
    )


def _price(cell: SweptCell) -> str:
    made = percent(cell, LATENCY)
    if made is None:
        return "latency not known"
    return f"latency {made:+.1f} %{'' if cell.sign(LATENCY) else ', not clear'}"


def _clusters(made: Sequence[Enough], words: Callable[[SweptCell], str]) -> Iterator[str]:
    """``big 2 even and geometric (latency +1.0 %) and 12 or more power (latency +0.1 %)``."""
    groups: dict[str, dict[str, list[Enough]]] = {}
    for each in made:
        # Spacings share the cell that has the two ends alone.
        same = f"{each.count} {each.decided} {words(each.cell)}"
        groups.setdefault(each.cluster, {}).setdefault(same, []).append(each)
    for cluster, counts in groups.items():
        yield f"{cluster} {joined([_count(own, words) for own in counts.values()])}"


def _count(same: Sequence[Enough], words: Callable[[SweptCell], str]) -> str:
    first = same[0]
    more = "" if first.decided else " or more"
    return f"{first.count}{more} {joined([e.spacing for e in same])} ({words(first.cell)})"


def points(record: CampaignResult) -> Iterator[str]:
    """Of each scenario and variant."""
    for named, variant, made in _every(record):
        yield f"{named} with {variant}: {'; '.join(_clusters(made, difference_words))}"
