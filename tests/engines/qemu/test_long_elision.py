# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole cells of scenarios on the fast engine: elided and executed runs are the same."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from eascope.engines.records import MARKS, STOP, read_marks
from eascope.experiments.controls import Controls
from eascope.experiments.runs.cell import prepare
from eascope.experiments.runs.request import Request, resolve
from eascope.experiments.runs.store import execute
from tests.support import linux

pytestmark = [pytest.mark.long, pytest.mark.guest]

#: The cells that docs/concepts/fast-engine.md names.
SCENARIOS = ("smoke", "eas/video-playback", "uclamp/capped-tasks-spread", "uclamp/frequency-spike")


#: Each draws another start, so that slices end at other places of the loops.
SEEDS = (0, 1, 2)


#: As by default.
NO_CONTROLS = Controls()


def pair(scenario: str, variant: str, seed: int, controls: Controls = NO_CONTROLS) -> list[Path]:
    """The folders of the elided and of the executed run."""
    request = Request("juno-r2", variant, scenario, seed=seed, controls=controls)
    requests = (replace(request, elide=elide) for elide in (True, False))
    return [execute(prepare(resolve(half))).path for half in requests]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("variant", ["mainline", "cas"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_event_is_at_the_same_nanosecond(scenario: str, variant: str, seed: int) -> None:
    """Every switch, wake-up, migration and OPP change, and every counter."""
    elided, executed = pair(scenario, variant, seed)
    events = linux.events(elided / "trace.dat")
    assert len(events) > 500
    assert events == linux.events(executed / "trace.dat")
    assert_same_rows(*(pl.read_parquet(run / "counters.parquet") for run in (elided, executed)))
    print(f"{scenario}, {variant}, seed {seed}: {len(events)} events")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_window_is_the_same_where_the_loop_has_a_rate_of_its_own(
    scenario: str, seed: int
) -> None:
    """Up to STOP: after it rt-app's file is put away, which is another one in each run."""
    events, rows = [], []
    for run in pair(scenario, "mainline", seed, Controls(speeds="measured")):
        [stop] = [mark for mark in read_marks(run / MARKS) if mark.id == STOP]
        events.append(
            [event for event in linux.events(run / "trace.dat") if event.ns < stop.mono_ns]
        )
        rows.append(pl.read_parquet(run / "counters.parquet").filter(pl.col("t1_ns") <= stop.t_ns))
    assert len(events[0]) > 500
    assert events[0] == events[1]
    assert_same_rows(*rows)


def assert_same_rows(first: pl.DataFrame, second: pl.DataFrame) -> None:
    """Every column, to the unit."""
    assert first.height > 0
    assert_frame_equal(first, second)
