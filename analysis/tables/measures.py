"""Measures that come from the trace alone: deadlines, migrations, overutilization."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from analysis.tables.tasks import thread_names
from analysis.trace import Trace
from analysis.window import Window

_SLACK = re.compile(r"rtapp_stats: .*\bslack=(-?\d+)")


def deadlines(
    trace: Trace, window: Window, tasks: Sequence[Mapping[str, Any]]
) -> dict[str, dict[str, int]]:
    """``{task: {jobs, missed}}`` from rt-app's own markers: a negative slack is a missed deadline.

    Tasks that wrote no marker within the window, or have no period, are absent: the run cannot
    tell.
    """
    threads = thread_names([task for task in tasks if task.get("period_us")])
    comms = dict(trace.table("sched_switch").select("next_pid", "next_comm").iter_rows())
    marks = (
        trace.events.filter(
            (pl.col("event") == "print") & pl.col("detail").str.contains("rtapp_stats:")
        )
        .with_columns(
            (pl.col("t_ns") + window.offset_ns).alias("t_ns"),
            pl.col("detail").str.extract(_SLACK.pattern).cast(pl.Int64).alias("slack"),
        )
        .filter(
            (pl.col("t_ns") > window.t0_ns)
            & (pl.col("t_ns") <= window.t1_ns)
            & pl.col("slack").is_not_null()
        )
    )
    result: dict[str, dict[str, int]] = {}
    for pid, comm, slack in marks.select("pid", "comm", "slack").iter_rows():
        task = threads.get(comms.get(pid, comm))
        if task is None:
            continue
        entry = result.setdefault(task, {"jobs": 0, "missed": 0})
        entry["jobs"] += 1
        entry["missed"] += slack < 0
    return {task["name"]: result[task["name"]] for task in tasks if task["name"] in result}


def migrations(trace: Trace, window: Window, threads: Mapping[str, str]) -> dict[str, int]:
    """Number of ``sched_migrate_task`` events per thread of the scenario within the window."""
    counts = dict.fromkeys(threads, 0)
    moved = trace.table("sched_migrate_task").with_columns(pl.col("t_ns") + window.offset_ns)
    inside = moved.filter(
        (pl.col("t_ns") >= window.t0_ns)
        & (pl.col("t_ns") <= window.t1_ns)
        & (pl.col("orig_cpu") != pl.col("dest_cpu"))
    )
    for comm, number in inside.group_by("comm").len().iter_rows():
        if comm in counts:
            counts[comm] = number
    return counts


def overutilized_share(trace: Trace, window: Window) -> float | None:
    """Share of the window in which the root domain was overutilized, or None when not known.

    The state at START is that of the last event before it (the trace has the warm-up); without one
    the share is that of the time after the first event. No event at all: not known.
    """
    events = trace.table("lisa__sched_overutilized").with_columns(pl.col("t_ns") + window.offset_ns)
    times = events["t_ns"].to_list()
    states = events["overutilized"].to_list()
    inside = [(t, s) for t, s in zip(times, states, strict=True) if t <= window.t1_ns]
    if not inside:
        return None
    earlier = [state for t, state in inside if t <= window.t0_ns]
    points = [(t, state) for t, state in inside if t > window.t0_ns]
    if earlier:
        points.insert(0, (window.t0_ns, earlier[-1]))
    known = window.t1_ns - points[0][0]
    if known <= 0:
        return None
    over = 0
    for (t, state), (end, _) in zip(points, [*points[1:], (window.t1_ns, 0)], strict=True):
        over += (end - t) if state else 0
    return over / known
