# SPDX-License-Identifier: GPL-2.0-or-later
"""Which cells of a campaign stand in which drawing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from analysis.results.campaigns import MISSED, CampaignResult, SweptCell
from studies.campaigns.cells import grouped, varied
from studies.campaigns.opps import varied_opps
from studies.campaigns.plan import CROSSING, FRONTS, LINES, ROWS
from studies.campaigns.shipped import PAGES

_TITLES = {
    LINES: "Energy per unit of work, latency and misses",
    CROSSING: "EAS with a wrong energy model compared with CAS",
    FRONTS: "Energy per unit of work against latency",
    ROWS: "Energy per unit of work and latency, differences from mainline",
}


@dataclass(frozen=True)
class DrawingView:
    """The cells of a drawing.

    :param kind: of `studies.campaigns.plan`.
    """

    kind: str
    title: str
    cells: tuple[SweptCell, ...]


def views(record: CampaignResult) -> dict[str, DrawingView]:
    """The drawings of a page by the names of their files."""
    kind = PAGES[record.campaign].drawing
    apart = varied(record, _apart(record, kind))
    made = {}
    for values, cells in grouped(record.cells, apart).items():
        words = [
            value if name in ("platform", "scenario") else f"{name.rpartition('.')[2]} {value}"
            for name, value in zip(apart, values, strict=True)
        ]
        slug = re.sub(r"[^a-z0-9]+", "-", " ".join([kind, *words]).lower())
        title = ", ".join([_title(kind, cells), *words])
        made[slug] = DrawingView(kind, title, tuple(cells))
    return made


def _title(kind: str, cells: Sequence[SweptCell]) -> str:
    misses = kind == FRONTS and worth_a_row(cells, MISSED)
    return f"{_TITLES[kind]}{' and misses' if misses else ''}"


def worth_a_row(cells: Sequence[SweptCell], measure: str) -> bool:
    """Whether a drawing of fronts has a measure: misses if two cells differ by more than one."""
    means = [cell.measures[measure].mean for cell in cells if measure in cell.measures]
    return bool(means) and (measure != MISSED or max(means) - min(means) > 1)


def _apart(record: CampaignResult, kind: str) -> tuple[str, ...]:
    """The axes each of whose values has a drawing: one fits a page of a paper."""
    if kind == ROWS:
        return tuple(name for name in record.axes if name not in ("scenario", "variant"))
    many = kind == FRONTS or bool(varied_opps(record))
    return ("platform", "scenario") if many else ("platform",)
