# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures of jobs, from the line that rt-app writes after each job of a task's phases."""

from __future__ import annotations

import math

import polars as pl

from eascope.analysis.measures.registry import PERCENTILES, Lines, measure
from eascope.analysis.records.result import Completion, Deadlines, Frames, Percentiles
from eascope.analysis.run_data import RunData
from eascope.analysis.tables import markers
from eascope.analysis.tables.frames import frames_of

#: rt-app's markers are ``print`` events; the switches say whose thread it was.
_MARKERS = ("print", "sched_switch")
_KEYS = "<task>.p50, .p90, .p95, .p99, .max"


@measure(keys=_KEYS, unit="us", events=_MARKERS)
def activation_us(data: RunData) -> dict[str, Percentiles]:
    """From the beginning to the end of a job's work, preemption included."""
    return markers.activations(data.jobs, data.cell.tasks)


@measure(
    keys=_KEYS,
    unit="us",
    events=_MARKERS,
    lines=Lines("lateness after the timer", "{name} {key}", PERCENTILES),
)
def lateness_us(data: RunData) -> dict[str, Percentiles]:
    """How late a thread ran after its timer was due; tasks with a period alone."""
    return markers.lateness(data.jobs, data.cell.tasks)


@measure(
    keys=_KEYS,
    unit="us",
    events=_MARKERS,
    lines=Lines("response time", "{name} {key}", PERCENTILES),
)
def response_us(data: RunData) -> dict[str, Percentiles]:
    """From when a job was due to its end; tasks with a period alone."""
    return markers.responses(data.jobs, data.cell.tasks)


@measure(keys="<task>", unit="us", events=_MARKERS, lines=Lines("response time", "{name} mean"))
def response_mean_us(data: RunData) -> dict[str, float]:
    """The same on average over jobs."""
    due = {task.name for task in data.cell.tasks if task.period_us}
    rows = data.jobs.filter(pl.col("task").is_in(due)).group_by("task", maintain_order=True)
    mean = rows.agg((pl.col("c_period") - pl.col("slack")).mean())
    return {name: us for name, us in mean.iter_rows() if us is not None}


@measure(keys="<task>", events=_MARKERS, lines=Lines("jobs that ended", digits=0))
def turns(data: RunData) -> dict[str, float]:
    """Jobs that ended within the window; those of all threads of a task."""
    counts = dict(data.jobs["task"].value_counts().iter_rows())
    return {task.name: counts.get(task.name, 0) for task in data.cell.tasks}


@measure(
    keys="<task>.jobs, .missed, .late, .unfinished",
    events=_MARKERS,
    lines=Lines("missed deadlines", keys=("missed",), digits=0),
)
def deadlines(data: RunData) -> dict[str, Deadlines]:
    """Jobs due within the window, and those that ended late or not at all; with a period alone."""
    return data.deadlines


@measure(events=_MARKERS, lines=Lines("missed deadlines", "all tasks", digits=0))
def missed_deadlines(data: RunData) -> float | None:
    """Jobs of all tasks that did not end by their deadline; absent where no task has one."""
    missed = [entry.missed for entry in data.deadlines.values()]
    return sum(missed) if missed else None


@measure(
    keys="drawn, late, skipped",
    events=_MARKERS,
    lines=Lines("frames", "{key}", ("drawn", "late", "skipped"), digits=0),
)
def frames(data: RunData) -> Frames | None:
    """Frames drawn, those of them that were late, and frames that were due and not drawn."""
    return frames_of(data.marks, data.ended, data.window, data.cell)


@measure(
    keys="<task>.first, .last",
    unit="s",
    events=_MARKERS,
    lines=Lines("completion", "{name}, {key}", ("first", "last"), digits=3),
)
def completion_s(data: RunData) -> dict[str, Completion]:
    """When the first and last thread of a task had done all jobs, from START; tasks that end."""
    return markers.completions(data.ended, data.window, data.cell.tasks)


@measure(
    keys="<task>",
    unit="1 = all at once",
    events=_MARKERS,
    lines=Lines("completion", "{name}, last / first", digits=3),
    range_=(1.0, math.inf),
)
def completion_spread(data: RunData) -> dict[str, float]:
    """When the last thread of a task had done all jobs, divided by when the first had."""
    ended = markers.completions(data.ended, data.window, data.cell.tasks)
    return {task: entry.last / entry.first for task, entry in ended.items()}
