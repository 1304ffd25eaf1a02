# SPDX-License-Identifier: GPL-2.0-or-later
"""The first figure's record and page, from made-up runs of its two variants."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.compare import Comparison, comparison
from analysis.derive import derive
from analysis.results.first_figure import ComparedMeasure, FirstFigure
from analysis.results.origin import RUNS, Origin
from configs.activity import Activity
from configs.platform import Platform
from studies.first_figure import record as first_figure
from studies.first_figure.page import parts
from studies.first_figure.plan import MEASURES
from studies.first_figure.record import record_of
from tests.support.synthetic import make_run

#: What the made-up runs, whose tasks have other names, have of the page's measures.
KNOWN = tuple(measure for measure in MEASURES if "render" not in measure[1])


def compared(root: Path, juno: Platform, activity: Activity, seeds: int) -> Comparison:
    """Made-up runs of both variants."""
    runs = {
        variant: [
            derive(make_run(root, juno, variant, seed), juno, activity) for seed in range(seeds)
        ]
        for variant in ("mainline", "cas")
    }
    return comparison(juno, runs)


def test_measures_have_means_differences_and_intervals(
    tmp_path: Path, juno: Platform, juno_activity: Activity, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_figure, "MEASURES", KNOWN)
    record = record_of(compared(tmp_path, juno, juno_activity, 10), "a test")
    assert (record.baseline, record.variant, record.seeds) == ("mainline", "cas", 10)
    total = record.measures[0]
    assert total.variant - total.baseline == pytest.approx(total.difference)
    assert total.percent == pytest.approx(100 * total.difference / total.baseline)
    assert total.low <= total.difference <= total.high
    shown = parts(record)
    row = next(line for line in shown["measures"].splitlines() if "energy: total" in line)
    assert f"| {total.baseline:.1f} | {total.variant:.1f} | {total.difference:+.1f} (" in row
    low, high = (100 * end / total.baseline for end in (total.low, total.high))
    assert shown["energy"] == f"{total.percent:+.1f} % ({low:+.1f} to {high:+.1f})"
    assert "10 seeds" in shown["conditions"]


def test_few_seeds_make_no_record(
    tmp_path: Path, juno: Platform, juno_activity: Activity, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_figure, "MEASURES", KNOWN)
    with pytest.raises(ValueError, match="not measured with 10 seeds or more"):
        record_of(compared(tmp_path, juno, juno_activity, 2), "a test")


def test_a_difference_that_is_rounded_to_zero_has_no_sign() -> None:
    total = ComparedMeasure("energy: total (mJ)", 100.0, 101.0, 1.0, 1.0, 0.5, 1.5, 0.4, 1.6)
    few = ComparedMeasure(
        "missed deadlines: all tasks", 0.05, 0.0, -0.05, None, -0.25, 0.001, None, None
    )
    none = ComparedMeasure("migrations", 1.01, 1.0, -0.01, None, -0.04, 0.04, None, None)
    origin = Origin("a test", RUNS, {})
    figure = FirstFigure(origin, "juno-r2", "smoke", "mainline", "cas", 20, 3.0, (total, few, none))
    rows = parts(figure)["measures"].splitlines()
    assert "| 0.05 | 0.00 | -0.05 | -0.25 .. 0 |" in rows[-2]
    assert "| 1.0 | 1.0 | 0 | 0 .. 0 |" in rows[-1]
