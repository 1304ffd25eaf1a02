# SPDX-License-Identifier: GPL-2.0-or-later
"""Decisions of EAS, put together from the energies that it computes."""

from pathlib import Path

import polars as pl
import pytest

from eascope.analysis.energies import ComputedDecision, Load, computed_decisions
from eascope.analysis.trace import Trace, TraceError


def trace(*events: tuple[int, str, str]) -> Trace:
    """A trace of (CPU, event, fields) at 10 ns, 20 ns .."""
    rows = [
        (10 * number, cpu, 1, "x", event, detail)
        for number, (cpu, event, detail) in enumerate(events, 1)
    ]
    schema = ["t_ns", "cpu", "pid", "comm", "event", "detail"]
    return Trace(Path("trace.dat"), pl.DataFrame(rows, schema=schema, orient="row"))


def waking(pid: int, slept_on: int, on: int = 0) -> tuple[int, str, str]:
    return on, "sched_waking", f"comm=a b pid={pid} prio=120 target_cpu={slept_on:03}"


def energy(pid: int, dst_cpu: int, value: int, on: int = 0) -> tuple[int, str, str]:
    fields = f"comm=a b pid={pid} dst_cpu={dst_cpu} energy={value} max_util=9 busy_time=8"
    return on, "sched_compute_energy", fields


def migrated(pid: int, orig: int, dest: int, on: int = 0) -> tuple[int, str, str]:
    fields = f"comm=a b pid={pid} prio=120 orig_cpu={orig} dest_cpu={dest}"
    return on, "sched_migrate_task", fields


SWITCH = (0, "sched_switch", "prev_comm=x prev_pid=1 ...")
#: By CPU, the domain's load without the task and with it.
SAME = dict.fromkeys((1, 2, 4), (Load(9, 8), Load(9, 8)))
#: Whether it was woken, where from, where to, and the energies by CPU.
Taken = tuple[bool, int, int, dict[int, int]]


def taken(*events: tuple[int, str, str]) -> list[Taken]:
    decided = computed_decisions(trace(*events))
    return [(item.woken, item.prev_cpu, item.dst_cpu, dict(item.energies)) for item in decided]


def test_a_task_moves_where_it_adds_least() -> None:
    """Two domains: what is without the task is taken off; the second has one candidate."""
    result = computed_decisions(
        trace(
            waking(7, slept_on=1),
            *(energy(7, -1, 100), energy(7, 1, 130), energy(7, 2, 120)),
            *(energy(7, -1, 500), energy(7, 4, 590)),
            migrated(7, 1, 2),
            SWITCH,
        )
    )
    assert result == [ComputedDecision(20, "a b", 7, True, 1, 2, {1: 30, 2: 20, 4: 90}, SAME)]


def test_a_task_that_does_not_migrate_stays_where_it_slept() -> None:
    events = waking(7, slept_on=3), energy(7, -1, 100), energy(7, 3, 101), migrated(8, 0, 1)
    assert taken(*events) == [(True, 3, 3, {3: 1})]


def test_a_domain_whose_candidate_fits_worse_is_computed_without_the_task_alone() -> None:
    events = waking(7, 0), energy(7, -1, 5), energy(7, 0, 6), energy(7, -1, 50), SWITCH
    assert taken(*events) == [(True, 0, 0, {0: 1})]


def test_decisions_of_several_tasks_and_cpus_do_not_mix() -> None:
    assert taken(
        *(waking(7, slept_on=1), waking(8, slept_on=2, on=5), energy(7, -1, 10)),
        *(energy(8, -1, 20, on=5), energy(8, 2, 25, on=5), energy(7, 1, 11)),
        *(waking(9, slept_on=4), energy(9, -1, 1), energy(9, 4, 3), migrated(8, 2, 0, on=5)),
    ) == [(True, 1, 1, {1: 1}), (True, 2, 0, {2: 5}), (True, 4, 4, {4: 2})]


def test_a_queued_task_that_is_pushed_was_not_woken() -> None:
    """It is asked about by its own CPU, which looks at the same task again later."""
    asked = (energy(7, -1, 10, on=3), energy(7, 3, 15, on=3), energy(7, 0, 12, on=3))
    assert taken(*asked, *asked, migrated(7, 3, 0, on=3)) == [
        (False, 3, 3, {3: 5, 0: 2}),
        (False, 3, 0, {3: 5, 0: 2}),
    ]


def test_other_events_may_come_between() -> None:
    """Load tracking is updated before energies are computed."""
    pelt = (0, "lisa__sched_pelt_se", "cpu=0 path=(null) ...")
    events = waking(7, slept_on=2), pelt, energy(7, -1, 10), energy(7, 2, 11), pelt
    assert taken(*events, migrated(7, 2, 1)) == [(True, 2, 1, {2: 1})]


def test_strange_fields_are_one_line() -> None:
    with pytest.raises(TraceError, match="event sched_compute_energy cannot be parsed: 'pid=x'"):
        computed_decisions(trace((0, "sched_compute_energy", "pid=x")))
