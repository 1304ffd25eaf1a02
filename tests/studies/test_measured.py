# SPDX-License-Identifier: GPL-2.0-or-later
"""Records of measurements: what is kept, and the words of their pages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.results.measured import FigureRecord, FigureSet
from analysis.results.origin import RESULTS, RUNS
from studies import measured
from studies.scale.page import parts
from studies.scale.plan import NAME
from studies.scale.schedule import cost_of


@pytest.fixture
def scale() -> FigureRecord:
    return FigureRecord.read(RESULTS / f"{NAME}.json")


def with_figures(record: FigureRecord, name: str, **figures: float) -> FigureRecord:
    made = FigureSet("a command", RUNS, figures)
    return replace(record, measured={**record.measured, name: made})


def test_a_measurement_takes_the_place_of_its_own_figures_alone(
    scale: FigureRecord, tmp_path: Path
) -> None:
    figures = {"cells": 100_000, "status_s": 3.25, "sweep_s": 7.0}
    measured.keep(NAME, "commands", figures, "a command", tmp_path)
    kept = FigureRecord.read(tmp_path / f"{NAME}.json")
    assert kept.measured["commands"].figures == figures
    assert (kept.measured["commands"].command, kept.measured["commands"].made_from) == (
        "a command",
        RUNS,
    )
    assert {**kept.measured, "commands": None} == {**scale.measured, "commands": None}
    page = (tmp_path / f"{NAME}.md").read_text()
    assert "| 3.2 s | 5 s: met | commands |" in page
    assert "| 7.0 s | 5 s: missed | commands |" in page


def test_a_cell_is_what_a_part_has_more_of(scale: FigureRecord) -> None:
    scale = with_figures(scale, "part", cells=1, shared_s=4.0)
    scale = with_figures(scale, "boot", cells=21, shared_s=24.0, alone_s=60.0)
    cost = cost_of(scale)
    assert (cost.each_s, cost.start_s) == (1.0, 3.0)


@pytest.mark.parametrize(
    ("shared_s", "words"),
    [
        (30.0, "would take 15.0 s. The goal of 12 s of wall time is missed."),
        (22.0, "it would be 16.4 s: nothing shows that the goal of 12 s is met."),
        (10.0, "it would be 7.5 s: by that the goal of 12 s is met."),
    ],
)
def test_the_page_says_whether_the_demo_meets_its_goal(
    scale: FigureRecord, shared_s: float, words: str
) -> None:
    scale = with_figures(scale, "two_jobs", cells=16, efficiency_percent=67.0)
    scale = with_figures(scale, "demo", runs=20, shared_s=shared_s, alone_s=60.0)
    assert words in parts(scale)["demo"]
