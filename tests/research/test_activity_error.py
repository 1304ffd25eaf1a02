# SPDX-License-Identifier: GPL-2.0-or-later
"""What the fast engine states of activity against what gem5 counts: both ways of one bill."""

from __future__ import annotations

import polars as pl
import pytest

from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.engines.records import SHARED_PART
from eascope.power.derived import CYCLE
from eascope.power.events import load_events
from eascope.power.model import DerivedPower, busy_events
from research.activity_error import billed, compare, events

NS = 1_000_000


def _rows(platform: Platform, activity: Activity, factor: float) -> tuple[pl.DataFrame, int]:
    """One row of CPU 0, on and active for `NS`, with ``factor`` times the busy loop's events."""
    cluster = platform.clusters[0]
    power = load_events(cluster.core.name)
    counts, _ = busy_events(power, cluster, activity)
    opp = cluster.opps[-1]
    cycles = NS * opp.khz / 1e6
    row = {
        **{"cluster": 0, "cpu": 0, "t0_ns": 0, "t1_ns": NS, "khz": opp.khz, "uv": opp.uv},
        **{"active_ns": NS, "on_ns": NS, "exit_ns": 0},
        "instructions": round(cycles * activity.ipc(cluster)),
        **{event: factor * count * cycles for event, count in counts.items() if event != CYCLE},
        CYCLE: cycles,
    }
    return pl.DataFrame([row]), round(cycles)


def test_the_loop_itself_costs_the_same_both_ways(juno: Platform, juno_activity: Activity) -> None:
    cluster, model = juno.clusters[0], DerivedPower(juno, juno_activity)
    rows, _ = _rows(juno, juno_activity, 1.0)
    counted, stated = billed(model, cluster, rows)
    assert counted == pytest.approx(stated, rel=1e-4)
    assert stated == pytest.approx(model.busy_microwatt(cluster, cluster.max_khz) * 1e-6 * NS / 1e9)
    more, of_loop = billed(model, cluster, _rows(juno, juno_activity, 2.0)[0])
    assert of_loop == stated
    assert more > 1.1 * stated


def test_events_are_those_of_an_instruction(juno: Platform, juno_activity: Activity) -> None:
    cluster = juno.clusters[0]
    power = load_events(cluster.core.name)
    rows, cycles = _rows(juno, juno_activity, 2.0)
    counts, _ = busy_events(power, cluster, juno_activity)
    stated = {event: count / juno_activity.ipc(cluster) for event, count in counts.items()}
    by_event = events(power, 0.9, stated, rows)
    instructions = rows["instructions"][0]
    assert by_event[CYCLE].counted == pytest.approx(cycles / instructions, rel=1e-5)
    for event, of_event in by_event.items():
        if event != CYCLE:
            assert of_event.counted == pytest.approx(2 * of_event.stated, rel=1e-5), event
        wanted = power.energy_pj[event] * power.level.power.dynamic_scale(0.9)
        assert of_event.pj == pytest.approx(wanted, rel=1e-5)
    assert events(power, 0.9, stated, rows.with_columns(instructions=pl.lit(0))) == {}


def test_every_cluster_and_kernel_has_its_line(juno: Platform, juno_activity: Activity) -> None:
    rows, _ = _rows(juno, juno_activity, 1.0)
    shared = rows.with_columns(
        cpu=pl.lit(SHARED_PART, dtype=pl.Int64), on_ns=pl.lit(0, dtype=pl.Int64)
    )
    lines = compare(
        juno, juno_activity, {"little": "A", "big": "B"}, rows, pl.concat([rows, shared])
    )
    assert [(line.cluster, line.model) for line in lines] == [("little", "A"), ("big", "B")]
    assert lines[0].counted_s == lines[0].active_s == NS / 1e9
    assert lines[1].events == {}
    assert lines[1].energy_counted_j == lines[1].energy_stated_j == 0
