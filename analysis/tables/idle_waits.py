# SPDX-License-Identifier: GPL-2.0-or-later
"""What of a late job is time in which its CPU entered or left an idle state, from the trace alone.

A thread that is to run next on a CPU waits while the CPU leaves its idle state, or still enters it.
So does one whose timer fires there: the interrupt is served after the exit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from eascope.analysis.records.cell import CellRecord, TaskRecord
from eascope.analysis.tables.frames import late_frames
from eascope.analysis.tables.latency import ENTERS, LEAVES, WOKEN, events_of, percentile
from eascope.analysis.tables.markers import judged
from eascope.analysis.tables.split import ENTERING, LEAVING, Stretch, both
from eascope.analysis.trace import Trace
from eascope.analysis.window import Window

Spans = Sequence[tuple[int, int]]
#: By thread: when it waited so, in ns since power-on, in order.
Waits = Mapping[str, Spans]


def idle_waits(
    trace: Trace,
    window: Window,
    threads: Iterable[str],
    stretches: Mapping[int, Sequence[Stretch]],
) -> dict[str, list[tuple[int, int]]]:
    """When each thread did not run, and its CPU was on its way into or out of an idle state.

    Until it is woken, its CPU is the one that wakes it; from then on, the one on which it runs.
    """
    ways = {
        cpu: [(s.t0_ns, s.t1_ns) for s in own if s.state in (ENTERING, LEAVING)]
        for cpu, own in stretches.items()
    }
    events = events_of(trace).filter(pl.col("thread").is_in(list(threads)))
    waits: dict[str, list[tuple[int, int]]] = {}
    for (thread, _), rows in events.group_by("thread", "pid", maintain_order=True):
        since, awake = window.t0_ns, False
        by_cpu: dict[int, list[tuple[int, int]]] = {}
        for t_ns, kind, cpu in rows.select("t_ns", "kind", "cpu").iter_rows():
            at = t_ns + window.offset_ns
            if kind == LEAVES:
                since, awake = at, False
            elif not (kind == WOKEN and awake):
                by_cpu.setdefault(cpu, []).append((since, at))
                since, awake = at, kind in (WOKEN, ENTERS)
        found = [span for cpu, spans in by_cpu.items() for span in both(spans, ways.get(cpu, []))]
        waits[str(thread)] = sorted([*waits.get(str(thread), []), *found])
    return waits


def waited_ns(spans: Spans, begin: int, end: int) -> int:
    """Of the time from ``begin`` to ``end``, what the spans of waiting cover."""
    covered, done = 0, begin
    for t0, t1 in spans:  # those of several threads may overlap
        covered += max(0, min(t1, end) - max(t0, done))
        done = max(done, t1)
    return covered


def late_by_idle(
    marks: pl.DataFrame,
    over: Mapping[str, int],
    window: Window,
    tasks: Sequence[TaskRecord],
    waits: Waits,
) -> dict[str, float]:
    """Missed deadlines of each task that it would have met without these waits.

    They must cover what the job was late by. Its own are counted alone, those of earlier jobs
    that delayed it are not, so these deadlines are the fewest. Tasks without a deadline, or without
    a job in the trace, are absent.
    """
    found = {}
    for task in tasks:
        jobs = marks.filter(pl.col("task") == task.name)
        if task.period_us and task.deadline_us and jobs.height:
            found[task.name] = float(
                sum(
                    waited_ns(waits.get(thread, ()), due - 1000 * task.deadline_us, end)
                    >= end - due
                    for thread in task.threads
                    for due, end in judged(
                        jobs.filter(pl.col("thread") == thread),
                        over.get(thread),
                        window,
                        task.period_us,
                        task.deadline_us,
                    )
                    .filter("late")
                    .select("due_at", "end_ns")
                    .iter_rows()
                )
            )
    return found


def late_frames_by_idle(
    marks: pl.DataFrame,
    ended: Mapping[str, int],
    window: Window,
    cell: CellRecord,
    waits: Waits,
) -> float | None:
    """Late frames that would have been in time without these waits; None where there is none."""
    if cell.frames is None or not marks.height:
        return None
    tasks = {task.name: task for task in cell.tasks}
    paced = tasks[cell.frames.paced_by]
    those = (*paced.threads, *tasks[cell.frames.drawn_by].threads)
    spans = sorted(span for thread in {*those} for span in waits.get(thread, ()))
    length = 1000 * cell.frames.periods * (paced.period_us or 0)
    late = late_frames(marks, ended, window, cell)
    return float(sum(waited_ns(spans, due - length, end) >= end - due for due, end in late))


def at_p99(latency: pl.DataFrame, waits: Waits) -> dict[str, float]:
    """Of each task's 99th percentile of wake-up latency, the us of these waits."""
    found = {}
    for (task,), rows in latency.drop_nulls("task").group_by("task", maintain_order=True):
        worst = percentile(rows["latency_ns"].to_list(), 0.99)
        first = rows.filter(pl.col("latency_ns") == worst).row(0, named=True)
        spans = waits.get(first["thread"], ())
        found[str(task)] = waited_ns(spans, first["woken_ns"], first["t_ns"]) / 1000
    return found
