# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells of a record: in groups, counted, and the overloaded ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from analysis.results.campaigns import ENERGY, LATENCY, MISSED, WORK, CampaignResult, SweptCell
from studies.campaigns.plan import FRAMES_LATE


def grouped(
    cells: Iterable[SweptCell], axes: Sequence[str]
) -> dict[tuple[str, ...], list[SweptCell]]:
    """Cells by their values of ``axes``, in order."""
    groups: dict[tuple[str, ...], list[SweptCell]] = {}
    for cell in cells:
        groups.setdefault(tuple(cell.axes[name] for name in axes), []).append(cell)
    return groups


def varied(record: CampaignResult, axes: Iterable[str]) -> list[str]:
    """Those of ``axes`` that have more than one value in the record."""
    return [name for name in axes if len(record.axes[name]) > 1]


def joined(words: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def counted(record: CampaignResult, cells: Sequence[SweptCell], measure: str) -> str:
    """How many cells clearly have less and more of a measure than the reference."""
    signs = Counter(record.sign(cell, measure) for cell in cells)
    return f"clearly less in {signs[-1]} and clearly more in {signs[1]} of {len(cells)}"


def percents(cell: SweptCell) -> Iterator[tuple[str, float]]:
    """Measures and their differences from the reference in percent."""
    for measure in (ENERGY, LATENCY):
        known = cell.measures.get(measure)
        if known is None or known.against is None or known.against.made.percent is None:
            continue
        yield measure, known.against.made.percent


#: More frames late, for one that is drawn, than this: most of the time is a backlog.
_MOST = 0.5


def overloaded(record: CampaignResult, cell: SweptCell) -> bool:
    """Whether more than half as many frames are late as are drawn."""
    meaning = next(each for each in record.scenarios if each.scenario == cell.axes["scenario"])
    if not (meaning.missed.startswith(FRAMES_LATE) and MISSED in cell.measures):
        return False
    return cell.measures[MISSED].mean > _MOST * cell.measures[WORK].mean


def overloads(record: CampaignResult) -> Iterator[str]:
    """Platforms and scenarios with overloaded cells, and how many these are."""
    for (platform, scenario), cells in grouped(record.cells, ("platform", "scenario")).items():
        count = sum(overloaded(record, cell) for cell in cells)
        if count:
            yield f"{scenario} on {platform} in {count} of {len(cells)} combinations"
