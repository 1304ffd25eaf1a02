# SPDX-License-Identifier: GPL-2.0-or-later
"""rt-app's own markers: a thread writes one ``rtapp_stats`` line after every job of its phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from eascope.analysis.records.cell import TaskRecord
from eascope.analysis.records.result import Completion, Deadlines, Percentiles
from eascope.analysis.tables.latency import percentiles
from eascope.analysis.tables.tasks import thread_names
from eascope.analysis.trace import Trace
from eascope.analysis.window import Window

#: Fields of the line that analysis reads, in us: time from the beginning to the end of the job's
#: work; how late the thread ran after its timer was due; time left before the timer is due again;
#: how long after the last time that is, 0 where rt-app's end broke the job off.
FIELDS = ("run", "wu_lat", "slack", "c_period")
_LINE = r"rtapp_stats: .*\b{}=(-?\d+)"


def marks_of(trace: Trace, window: Window, tasks: Sequence[TaskRecord]) -> pl.DataFrame:
    """One row per job of the whole trace: ``t_ns``, ``thread``, ``task`` and :data:`FIELDS` (us).

    A field that the line lacks is null. Threads that are not of ``tasks`` are left out. A job
    that is not late writes its line when its timer wakes it, a late one at its end.
    """
    lines = _prints(trace, window, tasks, "rtapp_stats: ")
    fields = (
        pl.col("detail").str.extract(_LINE.format(name)).cast(pl.Int64).alias(name)
        for name in FIELDS
    )
    return lines.with_columns(*fields).select("t_ns", "thread", "task", *FIELDS)


def markers(marks: pl.DataFrame, window: Window) -> pl.DataFrame:
    """The jobs of `marks_of` that ended within the window."""
    return marks.filter((pl.col("t_ns") > window.t0_ns) & (pl.col("t_ns") <= window.t1_ns))


def ends(trace: Trace, window: Window, tasks: Sequence[TaskRecord]) -> dict[str, int]:
    """``{thread: ns}``: when a thread had done all of its jobs."""
    rows = _prints(trace, window, tasks, "rtapp_task: event=end")
    return dict(rows.select("thread", "t_ns").iter_rows())


def first_end(over: Mapping[str, int], window: Window) -> int:
    """When the first thread had done all of its jobs, in ns since power-on; else the window's end.

    :param over: when threads had done all of their jobs (`ends`).
    """
    return min(
        (ns for ns in over.values() if window.t0_ns < ns < window.t1_ns), default=window.t1_ns
    )


def completions(
    over: Mapping[str, int], window: Window, tasks: Sequence[TaskRecord]
) -> dict[str, Completion]:
    """When each task's first and last thread had done all of its jobs, in s from START.

    A task is absent unless each of its threads ended within the window.

    :param over: when threads had done all of their jobs (`ends`).
    """
    done = {}
    for task in tasks:
        times = [over[thread] for thread in task.threads if thread in over]
        within = [ns - window.t0_ns for ns in times if window.t0_ns < ns <= window.t1_ns]
        if task.threads and len(within) == len(task.threads):
            done[task.name] = Completion(min(within) / 1e9, max(within) / 1e9)
    return done


def _prints(trace: Trace, window: Window, tasks: Sequence[TaskRecord], words: str) -> pl.DataFrame:
    """Markers of the tasks' threads that have ``words``, in ns since power-on."""
    threads = thread_names(tasks)
    comms = dict(trace.table("sched_switch").select("next_pid", "next_comm").iter_rows())
    ours = {pid: comm for pid, comm in comms.items() if comm in threads}
    return (
        trace.events.filter(
            (pl.col("event") == "print")
            & pl.col("detail").str.contains(words, literal=True)
            & pl.col("pid").is_in(list(ours))
        )
        .with_columns(
            (pl.col("t_ns") + window.offset_ns).alias("t_ns"),
            pl.col("pid")
            .replace_strict(ours, default=None, return_dtype=pl.String)
            .alias("thread"),
        )
        .with_columns(
            pl.col("thread")
            .replace_strict(threads, default=None, return_dtype=pl.String)
            .alias("task")
        )
    )


def deadlines(
    marks: pl.DataFrame, over: Mapping[str, int], window: Window, tasks: Sequence[TaskRecord]
) -> dict[str, Deadlines]:
    """Deadlines of each task within the window, and how many of them its jobs did not meet.

    rt-app's timers are absolute: each job is due one period after the last one, however late the
    thread is. Tasks that have no deadline are absent.

    :param over: when threads had done all of their jobs, where they had (`ends`).
    """
    return {
        task.name: _added(
            [
                _of_thread(marks.filter(pl.col("thread") == name), over.get(name), window, *times)
                for name in task.threads
            ]
        )
        for task in tasks
        if all(times := (task.period_us or 0, task.deadline_us or 0))
    }


def _added(parts: Sequence[Deadlines]) -> Deadlines:
    jobs, late, unfinished = (
        sum(getattr(part, name) for part in parts) for name in ("jobs", "late", "unfinished")
    )
    return Deadlines(jobs=jobs, missed=late + unfinished, late=late, unfinished=unfinished)


def _of_thread(
    marks: pl.DataFrame, over: int | None, window: Window, period_us: int, deadline_us: int
) -> Deadlines:
    """One thread's deadlines: those of the jobs that it ended, then one in each period.

    A job that ended writes its line at the period's end at the earliest, however short its
    deadline is. So a job without a line counts from its period's end on.
    """
    period_ns = 1000 * period_us
    last_ns = window.t1_ns if over is None else min(over, window.t1_ns)
    whole = _whole(marks, period_us)
    if not whole.height:
        due = max(0, last_ns - window.t0_ns) // period_ns
        return Deadlines(jobs=due, missed=due, late=0, unfinished=due)
    within = judged(marks, over, window, period_us, deadline_us)
    known = int(whole["due_ns"].tail(1).item())
    before = max(0, (window.t0_ns - known) // period_ns)
    unfinished = max(0, (last_ns - known) // period_ns - before)
    missed = int(within["late"].sum())
    jobs = within.height + unfinished
    return Deadlines(jobs=jobs, missed=missed + unfinished, late=missed, unfinished=unfinished)


def _whole(marks: pl.DataFrame, period_us: int) -> pl.DataFrame:
    """A thread's jobs that were not broken off, with when the timer was due (``due_ns``)."""
    jobs = marks.filter(pl.col("c_period").fill_null(period_us) > 0).drop_nulls("slack")
    return jobs.with_columns(due_ns().alias("due_ns"))


def judged(
    marks: pl.DataFrame, over: int | None, window: Window, period_us: int, deadline_us: int
) -> pl.DataFrame:
    """One thread's jobs that were due in the window.

    ``due_at`` is the deadline, ``end_ns`` the end, ``late`` whether it was missed.
    """
    last_ns = window.t1_ns if over is None else min(over, window.t1_ns)
    # How long before the timer is due again; a period that varies is its own job's deadline.
    early_us = pl.lit(0)
    if deadline_us != period_us:
        early_us = pl.col("c_period").fill_null(period_us) - deadline_us
    due_at = pl.col("due_ns") - 1000 * early_us
    return (
        _whole(marks, period_us)
        .with_columns(
            due_at.alias("due_at"),
            (pl.col("due_ns") - 1000 * pl.col("slack")).alias("end_ns"),
            (pl.col("slack") < early_us).alias("late"),
        )
        .filter((pl.col("due_at") > window.t0_ns) & (pl.col("due_at") <= last_ns))
    )


def due_ns() -> pl.Expr:
    """When a job with a timer was due to end: the timer's time, in ns since power-on."""
    at_wake = pl.col("t_ns") - 1000 * pl.col("wu_lat").fill_null(0)
    at_end = pl.col("t_ns") + 1000 * pl.col("slack")
    return pl.when(pl.col("slack") < 0).then(at_end).otherwise(at_wake)


def times(marks: pl.DataFrame, name: str, tasks: Sequence[TaskRecord]) -> dict[str, Percentiles]:
    """``{task: percentiles}`` of the field ``name`` over jobs that have it, in us."""
    result = {}
    for task in tasks:
        values = marks.filter(pl.col("task") == task.name)[name].drop_nulls().to_list()
        if values:
            result[task.name] = percentiles([float(value) for value in values])
    return result


def activations(marks: pl.DataFrame, tasks: Sequence[TaskRecord]) -> dict[str, Percentiles]:
    """``{task: percentiles}`` of the time from the beginning to the end of a job's work, in us.

    The time that a thread was preempted is part of it. Jobs without work are left out.
    """
    return times(marks.filter(pl.col("run") > 0), "run", tasks)


def lateness(marks: pl.DataFrame, tasks: Sequence[TaskRecord]) -> dict[str, Percentiles]:
    """``{task: percentiles}`` of how late a thread ran after its timer was due, in us.

    The wake-up latency begins at ``sched_waking``. Lateness also has the time before: the timer's
    slack, and the exit from the idle state of the CPU on which the timer fires. Only tasks with a
    period have it.
    """
    return times(marks, "wu_lat", [task for task in tasks if task.period_us])


def responses(marks: pl.DataFrame, tasks: Sequence[TaskRecord]) -> dict[str, Percentiles]:
    """``{task: percentiles}`` of the time from when a job was due to its end, in us.

    It is the job's period less the slack. The thread's waiting and its earlier lateness are part
    of it. Only tasks with a period have it.
    """
    result: dict[str, Percentiles] = {}
    for task in tasks:
        if task.period_us:
            response = pl.col("c_period") - pl.col("slack")
            jobs = marks.with_columns(response.alias("response"))
            result |= times(jobs, "response", [task])
    return result
