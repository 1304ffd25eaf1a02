# SPDX-License-Identifier: GPL-2.0-or-later
"""Levels with moved rails: the energy that is added, and the powers that a record has."""

import polars as pl
import pytest

from eascope.configs.activity import Activity
from eascope.configs.billing import MEASURED
from eascope.configs.platform import Platform
from eascope.configs.program_events import ClusterEvents, OppEvents
from eascope.power.model import SHARED_PART
from eascope.power.moved import moved_to_loop
from eascope.power.stated import StatedPower
from research.rail_levels import POWERS, added_j, powers

LOADS = "core.load_instructions"


@pytest.fixture
def metered(juno: Platform) -> dict[str, ClusterEvents]:
    opps = (OppEvents(800_000, 1000, 1.25, {LOADS: 0.25}),)
    names = [cluster.name for cluster in juno.clusters]
    return {name: ClusterEvents("sysbench-cpu", name, 1.0, 0.0, opps) for name in names}


def test_only_busy_time_and_ways_through_idle_states_cost_more(
    juno: Platform, juno_activity: Activity, metered: dict[str, ClusterEvents]
) -> None:
    after = moved_to_loop(juno, juno_activity, metered)
    row = {"cluster": 0, "cpu": 0, "t0_ns": 0, "t1_ns": 10**9, "khz": 800_000}
    row |= {"active_ns": 0, "entry_ns": 0, "exit_ns": 0, "idle0_ns": 0, "idle1_ns": 0}
    row |= {"idle2_ns": 0}
    cases = [
        row | {"active_ns": 6 * 10**8, "idle0_ns": 4 * 10**8},
        row | {"entry_ns": 10**8, "exit_ns": 10**8, "idle2_ns": 8 * 10**8},
        row | {"idle1_ns": 10**9},
        row | {"cpu": SHARED_PART, "active_ns": 10**9},
    ]
    little = juno.clusters[0]
    more_w = (
        StatedPower(after, MEASURED).busy_microwatt(little, 800_000)
        - StatedPower(juno, MEASURED).busy_microwatt(little, 800_000)
    ) / 1e6
    assert more_w != 0
    added = [added_j(juno, after, pl.DataFrame([case])) for case in cases]
    assert added == pytest.approx([0.6 * more_w, 0.1 * more_w, 0, 0], abs=1e-6)


def test_powers_before_and_after_have_the_ratio_of_derived_ones(
    juno: Platform, juno_activity: Activity, metered: dict[str, ClusterEvents]
) -> None:
    after = moved_to_loop(juno, juno_activity, metered)
    rows = [
        dict(zip(POWERS, row, strict=True)) for row in powers(juno, after, juno_activity, metered)
    ]
    assert [row["khz"] for row in rows] == [opp.khz for c in juno.clusters for opp in c.opps]
    for row in rows:
        wfi = juno.cluster(row["cluster"]).idle_states[0].power_uw
        grown = (row["moved_uw"] - wfi) / (row["metered_uw"] - wfi)
        assert grown == pytest.approx(row["derived_ratio"], rel=1e-3)
        loop = row["loop_clock_mw"] + row["loop_events_mw"]
        of = row["metered_clock_mw"] + row["metered_events_mw"]
        assert loop / of == pytest.approx(row["derived_ratio"])
