# SPDX-License-Identifier: GPL-2.0-or-later
"""Decisions of EAS from the energies that it computes, on kernels that record nothing else.

``find_energy_efficient_cpu()`` computes for each performance domain the energy without the task
(``dst_cpu=-1``), and then the energy with the task on up to two of its CPUs: the task's previous
CPU, and the CPU with most spare capacity. The event ``eascope:sched_compute_energy`` has all of
them. On the same CPU, a task's wake-up comes before them, and its migration, if there is one, after
them. Interrupts are off meanwhile, so no other task is switched to, woken or moved there.

These events do not show whether a task fits (so why a CPU was no candidate). Nor do they show
decisions that compared no CPU.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from eascope.analysis.trace import Trace, TraceError

#: What EAS computes, on any kernel of ours.
COMPUTE_EVENT = "sched_compute_energy"
WAKING, MIGRATE = "sched_waking", "sched_migrate_task"
#: Events that are looked at. Others, which a person may have asked for, can come between.
_READ = (COMPUTE_EVENT, WAKING, MIGRATE, "sched_switch", "sched_wakeup")

_FIELDS = {
    COMPUTE_EVENT: re.compile(
        r"comm=(?P<comm>.*) pid=(?P<pid>\d+) dst_cpu=(?P<cpu>-?\d+) energy=(?P<energy>\d+) "
        r"max_util=(?P<max_util>\d+) busy_time=(?P<busy>\d+)"
    ),
    WAKING: re.compile(r"comm=(?P<comm>.*) pid=(?P<pid>\d+) .*target_cpu=(?P<cpu>\d+)"),
    MIGRATE: re.compile(
        r"comm=(?P<comm>.*) pid=(?P<pid>\d+) .*orig_cpu=(?P<from>\d+) dest_cpu=(?P<cpu>\d+)"
    ),
}


class Load(NamedTuple):
    """What a domain's energy is computed of, in the kernel's unit of 1024 for the largest CPU.

    :param most: the utilization for which its OPP is chosen.
    :param busy: the sum of its CPUs' utilizations.
    """

    most: int
    busy: int


@dataclass
class ComputedDecision:
    """The energies that one call of EAS computed, and the task's CPU after it.

    :param t_ns: of the first energy, in the trace's clock.
    :param woken: whether it was asked by a wake-up; else by a push of a task that is queued.
    :param prev_cpu: the task's CPU before: for a wake-up, the CPU on which it slept.
    :param energies: the energy that the task adds to a CPU's domain, by CPU, in the kernel's order.
    :param loads: by CPU its domain's `Load` without the task and with it there.
    """

    t_ns: int
    thread: str
    pid: int
    woken: bool
    prev_cpu: int
    dst_cpu: int
    energies: dict[int, int] = field(default_factory=dict)
    loads: dict[int, tuple[Load, Load]] = field(default_factory=dict)


def computed_decisions(trace: Trace) -> list[ComputedDecision]:
    """All decisions that the trace's energies show, in the order of time.

    :raises TraceError: an event has other fields than expected.
    """
    computed = [
        decision
        for (cpu,), events in trace.events.group_by(["cpu"], maintain_order=True)
        for decision in _of_cpu(trace, int(str(cpu)), events)
    ]
    return sorted(computed, key=lambda decision: decision.t_ns)


def _of_cpu(trace: Trace, cpu: int, events: pl.DataFrame) -> Iterator[ComputedDecision]:
    """The decisions that were made on ``cpu``: runs of energies of one task, without a gap."""
    # Of these, only those next to an energy matter.
    events = events.filter(pl.col("event").is_in(_READ))
    own = pl.col("event") == COMPUTE_EVENT
    near = own | own.shift(1, fill_value=False) | own.shift(-1, fill_value=False)
    last: tuple[str, int, int] | None = None
    open_one: ComputedDecision | None = None
    base, without = 0, Load(0, 0)
    for t_ns, event, detail in events.filter(near).select("t_ns", "event", "detail").iter_rows():
        fields = _fields(trace, event, detail)
        if event != COMPUTE_EVENT:
            if open_one:
                yield _ended(open_one, event, fields)
            open_one = None
            last = (fields["pid"], int(fields["cpu"]), t_ns) if event == WAKING else None
            continue
        pid, at, energy = int(fields["pid"]), int(fields["cpu"]), int(fields["energy"])
        if open_one and (open_one.pid != pid or at in open_one.energies):
            # The task was asked about again. That no energy is without it is the event's order.
            yield open_one
            open_one = None
        if open_one is None:
            woken = last is not None and last[0] == fields["pid"]
            prev_cpu = last[1] if woken and last else cpu
            open_one = ComputedDecision(
                t_ns=t_ns,
                thread=fields["comm"],
                pid=pid,
                woken=woken,
                prev_cpu=prev_cpu,
                dst_cpu=prev_cpu,
            )
        last = None
        load = Load(int(fields["max_util"]), int(fields["busy"]))
        if at < 0:
            base, without = energy, load
        else:
            open_one.energies[at] = energy - base
            open_one.loads[at] = (without, load)
    if open_one:
        yield open_one


def _fields(trace: Trace, event: str, detail: str) -> dict[str, str]:
    """The fields of an event that are read; none of one that is not."""
    pattern = _FIELDS.get(event)
    if pattern is None:
        return {}
    parsed = pattern.match(detail)
    if parsed is None:
        raise TraceError(f"{trace.path}: event {event} cannot be parsed: {detail!r}")
    return parsed.groupdict()


def _ended(decision: ComputedDecision, event: str, fields: dict[str, str]) -> ComputedDecision:
    """``decision`` with the task's CPU after it, by the event that follows its last energy."""
    if event == MIGRATE and int(fields["pid"]) == decision.pid:
        decision.dst_cpu = int(fields["cpu"])
        if not decision.woken:
            decision.prev_cpu = int(fields["from"])
    return decision
