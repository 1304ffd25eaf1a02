"""Whole cells of scenarios on the fast engine: elided and executed runs are the same."""

from __future__ import annotations

import polars as pl
import pytest

from experiments.cell import Request, find, prepare
from experiments.runs import execute
from tests.engines import linux

pytestmark = [pytest.mark.long, pytest.mark.guest]

#: The cells that docs/concepts/fast-engine.md names.
SCENARIOS = (
    "smoke",
    "eas/video-playback",
    "uclamp/capped-tasks-spread",
    "uclamp/frequency-spike",
)


@pytest.mark.parametrize("variant", ["mainline", "cas"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_event_is_at_the_same_nanosecond(scenario: str, variant: str) -> None:
    """Every switch, wake-up, migration and OPP change, and every counter."""
    elided, executed = (
        execute(prepare(find(Request("juno-r2", variant, scenario, elide=elide)))).path
        for elide in (True, False)
    )
    events = linux.events(elided / "trace.dat")
    assert len(events) > 500
    assert events == linux.events(executed / "trace.dat")
    counters = (pl.read_parquet(run / "counters.parquet") for run in (elided, executed))
    assert next(counters).equals(next(counters))
    print(f"{scenario}, {variant}: {len(events)} events")
