# SPDX-License-Identifier: GPL-2.0-or-later
"""Drawings of campaigns: their panels, and the committed ones."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.colors import to_hex

from analysis.figures import style
from analysis.results.campaigns import CampaignResult, SweptMeasure
from analysis.results.origin import RESULTS
from studies.campaigns import figures as campaign_figures
from studies.campaigns.page import draw
from studies.campaigns.plan import record_name
from studies.campaigns.shipped import PAGES
from studies.campaigns.views import views
from studies.draw import DRAWINGS
from studies.notes import PAGES as FOLDER
from tests.support.made_campaigns import MadeRecord, by_topology, flat


def test_no_bar_of_a_drawing_begins_below_zero(made_record: MadeRecord) -> None:
    """Half of the seeds miss one frame; intervals are as wide as few seeds make them."""
    record = made_record("rate-limit-sweep", flat)
    wide = {"missed": SweptMeasure(0.3, -0.2, 0.9, None)}
    cells = tuple(replace(each, measures={**each.measures, **wide}) for each in record.cells)
    record = replace(record, cells=cells)
    (view,) = views(record).values()
    with style.styled():
        shown = campaign_figures.draw(record, view)
    *_, missed = shown.axes
    lows = [float(np.min(np.asarray(line.get_ydata()))) for line in missed.lines]
    assert min(lows) == 0.0
    assert missed.get_ylim()[0] == 0.0


def test_misses_have_a_panel_and_words_where_they_differ(
    made_record: MadeRecord,
) -> None:
    """Nothing is decided by misses, so no point of their panel is open."""
    record = made_record("topology-sweep", by_topology)
    (alone,) = views(record).values()
    assert alone.title == "Energy per unit of work against latency"
    cells = tuple(
        replace(
            cell, measures={**cell.measures, "missed": SweptMeasure(3.0 * place, None, None, None)}
        )
        for place, cell in enumerate(record.cells)
    )
    record = replace(record, cells=cells)
    (view,) = views(record).values()
    assert view.title == "Energy per unit of work against latency and misses"
    with style.styled():
        latency, missed = campaign_figures.draw(record, view).axes
    open_points = [
        sum(to_hex(line.get_markerfacecolor()) == "#ffffff" for line in axes.lines)
        for axes in (latency, missed)
    ]
    assert open_points == [1, 0]


def content(svg: Path) -> list[str]:
    """The words of a drawing; how letters are drawn differs between versions of matplotlib."""
    return re.findall(r"<!-- (.+?) -->", svg.read_text())


def test_committed_drawings_are_drawn_from_their_records(tmp_path: Path) -> None:
    for campaign in PAGES:
        name = record_name(campaign)
        if name not in DRAWINGS:
            continue
        record = CampaignResult.read(RESULTS / f"{name}.json")
        draw(record, tmp_path / name)
        for made in (FOLDER / name, tmp_path / name):
            assert {path.name for path in made.iterdir()} == {
                f"{view}{end}" for view in views(record) for end in (".svg", ".pdf")
            }
        for view in views(record):
            committed, again = (folder / name / f"{view}.svg" for folder in (FOLDER, tmp_path))
            assert content(committed) == content(again), "run: make pages"
