# SPDX-License-Identifier: GPL-2.0-or-later
"""rt-app's own markers: after every turn of its phases a thread writes one ``rtapp_stats`` line."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from analysis.records.cell import TaskRecord
from analysis.records.result import Deadlines, Percentiles
from analysis.tables.latency import percentiles
from analysis.tables.tasks import thread_names
from analysis.trace import Trace
from analysis.window import Window

#: Fields of the line that analysis reads, in us: time from the beginning to the end of the turn's
#: work; how late the thread ran after its timer was due; time left before the timer is due again;
#: how long after the last time that is.
FIELDS = ("run", "wu_lat", "slack", "c_period")


def markers(trace: Trace, window: Window, tasks: Sequence[TaskRecord]) -> pl.DataFrame:
    """One row per turn that ended within the window: ``task`` and :data:`FIELDS` (us).

    A field that the line lacks is null. Threads that are not of ``tasks`` are left out.
    """
    threads = thread_names(tasks)
    comms = dict(trace.table("sched_switch").select("next_pid", "next_comm").iter_rows())
    task_of = {pid: threads[comm] for pid, comm in comms.items() if comm in threads}
    detail = pl.col("detail")
    return (
        trace.events.filter((pl.col("event") == "print") & detail.str.contains("rtapp_stats: "))
        .with_columns(
            (pl.col("t_ns") + window.offset_ns).alias("t_ns"),
            pl.col("pid")
            .replace_strict(task_of, default=None, return_dtype=pl.String)
            .alias("task"),
            *(
                detail.str.extract(rf"rtapp_stats: .*\b{name}=(-?\d+)").cast(pl.Int64).alias(name)
                for name in FIELDS
            ),
        )
        .filter(
            (pl.col("t_ns") > window.t0_ns)
            & (pl.col("t_ns") <= window.t1_ns)
            & pl.col("task").is_not_null()
        )
        .select("task", *FIELDS)
    )


def deadlines(marks: pl.DataFrame, tasks: Sequence[TaskRecord]) -> dict[str, Deadlines]:
    """Turns of each task, and how many of them were late: a negative slack is a missed deadline.

    Tasks that wrote no marker within the window, or have no deadline, are absent.
    """
    result = {}
    for task in tasks:
        slack = marks.filter(pl.col("task") == task.name)["slack"].drop_nulls()
        if task.deadline_us and slack.len():
            result[task.name] = Deadlines(jobs=slack.len(), missed=int((slack < 0).sum()))
    return result


def times(marks: pl.DataFrame, name: str, tasks: Sequence[TaskRecord]) -> dict[str, Percentiles]:
    """``{task: percentiles}`` of the field ``name`` over turns that have it, in us."""
    result = {}
    for task in tasks:
        values = marks.filter(pl.col("task") == task.name)[name].drop_nulls().to_list()
        if values:
            result[task.name] = percentiles([float(value) for value in values])
    return result


def activations(marks: pl.DataFrame, tasks: Sequence[TaskRecord]) -> dict[str, Percentiles]:
    """``{task: percentiles}`` of the time from the beginning to the end of a turn's work, in us.

    The time that a thread was preempted is part of it. Turns without work are left out.
    """
    return times(marks.filter(pl.col("run") > 0), "run", tasks)


def lateness(marks: pl.DataFrame, tasks: Sequence[TaskRecord]) -> dict[str, Percentiles]:
    """``{task: percentiles}`` of how late a thread ran after its timer was due, in us.

    Unlike the wake-up latency, which begins at ``sched_waking``, this holds what comes before: the
    timer's slack, and the exit from the idle state of the CPU on which the timer fires. Only tasks
    with a period have it.
    """
    return times(marks, "wu_lat", [task for task in tasks if task.period_us])


def responses(marks: pl.DataFrame, tasks: Sequence[TaskRecord]) -> dict[str, Percentiles]:
    """``{task: percentiles}`` of the time from when a turn was due to its end, in us.

    That is the turn's period less the slack: what the thread waits for is part of it, and what it
    was late with before. Only tasks with a period have it.
    """
    result: dict[str, Percentiles] = {}
    for task in tasks:
        if task.period_us:
            response = pl.col("c_period") - pl.col("slack")
            turns = marks.with_columns(response.alias("response"))
            result |= times(turns, "response", [task])
    return result
