# SPDX-License-Identifier: GPL-2.0-or-later
"""How old EAS finds the blocked load of idle CPUs, of traces whose answer is known."""

from pathlib import Path

import polars as pl
import pytest

from eascope.analysis.trace import Trace
from eascope.analysis.window import Window
from research.blocked_age import Read, reads, ticking

MS = 1_000_000
WINDOW = Window(100 * MS, 200 * MS, offset_ns=90 * MS)
#: Time in ms, CPU, event, fields.
Event = tuple[float, int, str, str]


def trace(*events: Event) -> Trace:
    rows = [(round(MS * ms), cpu, 1, "x", event, detail) for ms, cpu, event, detail in events]
    schema = ["t_ns", "cpu", "pid", "comm", "event", "detail"]
    return Trace(Path("trace.dat"), pl.DataFrame(rows, schema=schema, orient="row"))


def switch(ms: float, cpu: int, pid: int) -> Event:
    return ms, cpu, "sched_switch", f"prev_comm=x prev_pid=1 next_comm=y next_pid={pid} next_prio=1"


def updated(ms: float, cpu: int, util: int, path: str = "/") -> Event:
    fields = f"cpu={cpu} path={path} load=9 util={util} update_time=8 runnable=7"
    return ms, cpu, "lisa__sched_pelt_cfs", fields


def decision(ms: float, cpu: int, pid: int) -> tuple[Event, Event]:
    fields = f"comm=t pid={pid} dst_cpu={{}} energy=5 max_util=9 busy_time=8"
    return (
        (ms, cpu, "sched_compute_energy", fields.format(-1)),
        (ms, cpu, "sched_compute_energy", fields.format(3)),
    )


def test_age_and_what_has_decayed() -> None:
    """Of idle CPUs alone, by their own runqueue's last update before the decision."""
    of = trace(
        updated(1, 0, 64),
        switch(1, 0, 0),
        updated(2, 1, 100),
        updated(3, 2, 200),
        switch(3, 2, 0),
        updated(30, 0, 7, path="/group"),
        switch(32, 2, 5),
        *decision(33, 1, 8),
        updated(34, 0, 30),
        switch(35, 2, 0),
        *decision(36, 1, 9),
        # After the window.
        *decision(150, 1, 8),
    )
    assert reads(of, WINDOW) == (
        2,
        [Read(0, 32.0, 64), Read(0, 2.0, 30), Read(2, 33.0, 200)],
    )
    assert Read(0, 32.0, 64).decayed == pytest.approx(32)
    assert Read(0, 0.0, 64).decayed == 0


def test_share_of_idle_time_with_the_tick() -> None:
    of = trace(
        switch(20, 0, 0),
        (23, 0, "tick_stop", "success=0 dependency=NONE"),
        (24, 0, "tick_stop", "success=1 dependency=NONE"),
        switch(30, 0, 5),
        switch(40, 1, 0),
        switch(50, 1, 5),
        # The tick that was stopped before goes on.
        switch(60, 0, 0),
        switch(70, 0, 5),
        # Before the window.
        switch(1, 2, 0),
        switch(90, 2, 5),
    )
    assert ticking(of, WINDOW) == pytest.approx((4 + 10 + 10) / 30)
    assert ticking(trace(), WINDOW) == 0
