# SPDX-License-Identifier: GPL-2.0-or-later
"""Levels of rails: each figure's run, and the record's figures."""

from pathlib import Path

import pytest

from eascope.configs.platform_file import load_platform
from research.draw import records_of
from research.levels import BUSY, COLUMNS, CPU, IDLE, STUDY, request_of

RAIL = records_of(STUDY)["meter"]["rail"]


@pytest.mark.parametrize(
    ("state", "scenario", "disabled"),
    [
        ("one", BUSY["one"], []),
        ("wfi", IDLE, [1, 2]),
        ("cpu-sleep-0", IDLE, [2]),
        ("cluster-sleep-0", IDLE, []),
    ],
)
def test_a_figures_run(state: str, scenario: str, disabled: list[int], tmp_path: Path) -> None:
    """Its cluster has the OPP alone, so no limit of the policy weighs on the CPUs' capacity."""
    row = {"platform": "juno-r2", "cluster": "big", "khz": 1_000_000, "state": state}
    request = request_of(row, tmp_path)
    assert request.scenario == scenario
    clusters = load_platform(request.platform).clusters
    assert [[opp.khz for opp in cluster.opps] for cluster in clusters] == [
        [450_000, 800_000, 950_000],
        [1_000_000],
    ]
    assert request.controls.switches == tuple(
        (f"{CPU}/cpu{cpu}/cpuidle/state{number}/disable", "1")
        for cpu in (4, 5)
        for number in disabled
    )


def test_the_record_has_the_meters_figures() -> None:
    """And with all CPUs busy, whom nothing wakes, the bill is the sum of its parts."""
    levels = records_of(STUDY)["levels"]["levels"]
    assert [{key: row[key] for key in COLUMNS[:-1]} for row in levels] == RAIL
    whole = [row for row in levels if row["state"] == "all"]
    assert len(whole) == 6
    assert [row["ours"] for row in whole] == pytest.approx([row["milliwatt"] for row in whole])
