# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells of a record: in groups, their clear differences, and the overloaded ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from analysis.results.campaigns import ENERGY, LATENCY, MISSED, WORK, CampaignResult, SweptCell
from studies.campaigns.plan import FRAMES_LATE

#: More frames that are missed, for one that is drawn, than this: latencies are a backlog.
_MOST = 0.5
#: Half of the last digit of a difference in percent.
_LEAST = 0.05


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


def overloaded(record: CampaignResult, cell: SweptCell) -> bool:
    """Whether more than half as many frames are missed as are drawn."""
    meaning = next(each for each in record.scenarios if each.scenario == cell.axes["scenario"])
    if not (meaning.missed.startswith(FRAMES_LATE) and MISSED in cell.measures):
        return False
    return cell.measures[MISSED].mean > _MOST * cell.measures[WORK].mean


def mostly_overloaded(record: CampaignResult, cells: Sequence[SweptCell]) -> bool:
    """Whether half of ``cells`` or more are overloaded."""
    return 2 * sum(overloaded(record, cell) for cell in cells) >= len(cells)


def overloads(record: CampaignResult) -> Iterator[str]:
    """Platforms and scenarios with overloaded cells, and how many these are."""
    for (platform, scenario), cells in grouped(record.cells, ("platform", "scenario")).items():
        count = sum(overloaded(record, cell) for cell in cells)
        if count:
            yield f"{scenario} on {platform} in {count} of {len(cells)} combinations"


def percent(cell: SweptCell, measure: str) -> float | None:
    """The difference of a measure from the reference in percent; None if there is none."""
    known = cell.measures.get(measure)
    return None if known is None or known.against is None else known.against.made.percent


def difference_words(cell: SweptCell) -> str:
    """``energy -2.1 %, work +3.0 %``: the energy, and of latency and work what differs clearly."""
    words = []
    for measure in (ENERGY, LATENCY, WORK):
        made = percent(cell, measure)
        # A clear difference may still be none in the digits that are shown.
        shown = measure == ENERGY or (cell.sign(measure) and made and abs(made) >= _LEAST)
        if made is not None and shown:
            words.append(f"{measure} {made:+.1f} %")
    return ", ".join(words)
