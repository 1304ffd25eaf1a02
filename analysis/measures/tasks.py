# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures of tasks: how soon, where, how fast and how fairly they ran."""

from __future__ import annotations

import polars as pl

from eascope.analysis.measures.energy import by_group
from eascope.analysis.measures.registry import LOGS, PERCENTILES, Lines, measure
from eascope.analysis.programs import OPERATIONS
from eascope.analysis.records.result import Percentiles
from eascope.analysis.run_data import RunData
from eascope.analysis.tables import idle_waits, markers, shares, slices
from eascope.analysis.tables.latency import percentiles
from eascope.engines.records import COUNTERS


def latencies_us(data: RunData) -> dict[str, list[float]]:
    """By task the latencies of its wake-ups, in us."""
    return {
        task.name: [
            ns / 1000
            for ns in data.latency.filter(pl.col("task") == task.name)["latency_ns"].to_list()
        ]
        for task in data.cell.tasks
    }


@measure(
    keys="<task>.p50, .p90, .p95, .p99, .max",
    unit="us",
    events=("sched_switch", "sched_waking"),
    lines=Lines("wake-up latency", "{name} {key}", PERCENTILES),
)
def latency_us(data: RunData) -> dict[str, Percentiles]:
    """Wake-up latency, from ``sched_waking`` to the ``sched_switch`` that brings the thread in."""
    return {task: percentiles(us) for task, us in latencies_us(data).items() if us}


@measure(
    keys="<task>",
    unit="us",
    events=("sched_switch", "sched_waking", "cpu_idle"),
    lines=Lines("wake-up latency", "{name} of p99 in ways of idle states"),
)
def latency_in_idle_us(data: RunData) -> dict[str, float]:
    """Of the 99th percentile of wake-up latency, what was the CPU's way into or out of idle."""
    return idle_waits.at_p99(data.latency, data.idle_waits)


@measure(keys="<task>", events=("print", "sched_switch", "sched_waking", "cpu_idle"))
def missed_in_idle(data: RunData) -> dict[str, float]:
    """Missed deadlines that were met if CPUs took no time to enter and leave idle states."""
    return idle_waits.late_by_idle(
        data.marks, data.ended, data.window, data.cell.tasks, data.idle_waits
    )


@measure(events=("print", "sched_switch", "sched_waking", "cpu_idle"))
def frames_late_in_idle(data: RunData) -> float | None:
    """Late frames that were in time if CPUs took no time to enter and leave idle states."""
    return idle_waits.late_frames_by_idle(
        data.marks, data.ended, data.window, data.cell, data.idle_waits
    )


@measure(keys="<task>", events=("sched_switch", "sched_waking"))
def wakeups(data: RunData) -> dict[str, float]:
    """Wake-ups that led to a run within the window."""
    return {task: len(us) for task, us in latencies_us(data).items()}


@measure(keys="<task>.<cluster>", unit="share of its running time", events=("sched_switch",))
def run_share(data: RunData) -> dict[str, dict[str, float]]:
    """Where a task ran, by cluster; absent for a task that did not run."""
    times = shares.by_cpu(data.placement, data.platform, data.cell.tasks)
    return shares.run_share(times, data.platform)


@measure(keys="<task>.<cpu>", unit="share of its running time", events=("sched_switch",))
def cpu_share(data: RunData) -> dict[str, tuple[float, ...]]:
    """Where a task ran, by CPU; absent for a task that did not run."""
    return shares.cpu_share(shares.by_cpu(data.placement, data.platform, data.cell.tasks))


@measure(
    keys="<group>",
    unit="s",
    events=("sched_switch",),
    lines=Lines("running time by group", digits=3),
)
def group_run_s(data: RunData) -> dict[str, float]:
    """How long threads of a group's tasks ran, all together; where any task is in a group."""
    ran = dict.fromkeys((task.name for task in data.cell.tasks), 0.0)
    for task, run_ns in data.placement.select("task", "run_ns").iter_rows():
        if task is not None:
            ran[task] += run_ns / 1e9
    return by_group(data.cell, ran)


@measure(
    keys="<task>",
    unit="1 = the largest CPU at its top OPP, all the time",
    events=("sched_switch",),
    files=(COUNTERS,),
    lines=Lines("speed, 100 % = all of a largest CPU", unit="%", digits=2),
)
def speed(data: RunData) -> dict[str, float]:
    """Work of a task per thread and time, by the busy loop's speed where and when it ran."""
    return shares.speeds(
        slices=data.worked,
        frequency=data.frequency,
        platform=data.platform,
        activity=data.activity,
        window=data.window,
        tasks=data.cell.tasks,
    )


@measure(unit="1 = all equal", range_=(0.0, 1.0), events=("print", "sched_switch"))
def fairness(data: RunData) -> float | None:
    """Jain's index of the running times of all threads, until the first has done all jobs."""
    # Threads that do the same work have run equally long once all are done, whoever had to wait.
    return shares.fairness(_together(data), data.cell.tasks)


@measure(keys="<task>", unit="1 = all equal", range_=(0.0, 1.0), events=("print", "sched_switch"))
def task_fairness(data: RunData) -> dict[str, float]:
    """The same of a task's own threads."""
    together = _together(data)
    found = {task.name: shares.fairness(together, (task,)) for task in data.cell.tasks}
    return {name: index for name, index in found.items() if index is not None}


def _together(data: RunData) -> pl.DataFrame:
    """Where threads ran until the first had done all of its jobs."""
    until = slices.until(data.slices, markers.first_end(data.ended, data.window))
    return slices.placement(until, data.platform)


@measure(unit="s", events=("sched_switch",))
def stirred_s(data: RunData) -> float | None:
    """Running time of threads that only stir, which is to end before the window."""
    threads = pl.col("thread").is_in(data.cell.replicate.stirring)
    return float(data.placement.filter(threads)["run_ns"].sum()) / 1e9 or None


@measure(keys="<program>", unit="1/s", files=(LOGS,), lines=Lines("throughput"))
def throughput(data: RunData) -> dict[str, float]:
    """Operations of a program per second, by its own count and the guest's clock."""
    return {name: out.rate for name, out in data.outputs.items() if out.rate is not None}


@measure(keys="<program>.<measure>", files=(LOGS,))
def program(data: RunData) -> dict[str, dict[str, float]]:
    """What a program of the programs image printed; names end in their units."""
    return {
        name: {**out.measures, **({} if out.operations is None else {OPERATIONS: out.operations})}
        for name, out in data.outputs.items()
        if out.measures
    }
