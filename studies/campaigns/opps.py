# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of opp-sweep: the number of OPPs from which on more of them save no energy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.results.campaigns import CampaignResult, SweptCell
from studies.campaigns.cells import grouped, joined, varied
from studies.campaigns.plan import ENDS, OPPS, spacing_of


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


def answer(record: CampaignResult) -> str:
    """Of each cluster and spacing, over all scenarios and variants."""
    clusters = []
    for axis, cluster in varied_opps(record).items():
        least: dict[str, list[tuple[int, bool]]] = {}
        for cells in grouped(record.cells, ("scenario", "variant")).values():
            for spacing, series in spacings(cells, axis).items():
                least.setdefault(spacing, []).append(enough_opps(series, spacing))
        words = []
        for spacing, made in least.items():
            counts = sorted({count for count, _ in made})
            more = "" if all(decided for _, decided in made) else " or more"
            ends = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
            words.append(f"{ends}{more} ({spacing})")
        clusters.append(f"of the {cluster} cluster {joined(words)}")
    return (
        "OPPs from which on no larger number clearly saves energy, by scenario and variant: "
        + "; ".join(clusters)
    )


def points(record: CampaignResult) -> Iterator[str]:
    """Of each scenario and variant."""
    for (scenario, variant), cells in grouped(record.cells, ("scenario", "variant")).items():
        clusters = []
        for axis, cluster in varied_opps(record).items():
            counts = []
            for spacing, series in spacings(cells, axis).items():
                count, decided = enough_opps(series, spacing)
                counts.append(f"{count}{'' if decided else ' or more'} ({spacing})")
            clusters.append(f"{cluster} {joined(counts)}")
        yield f"{scenario} with {variant}: {'; '.join(clusters)}"
