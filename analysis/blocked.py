# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress of a scenario: a task that waits for ever is a fault of the scenario, not a result.

A task that gets no CPU is no such fault: its missed deadlines are a result.
"""

from __future__ import annotations

import polars as pl

from eascope.analysis.records.cell import TaskRecord
from eascope.analysis.run_data import RunData
from eascope.host.errors import EascopeError

#: Bits of ``prev_state`` of a thread that has ended.
_DEAD = 0x30


def check_gets_on(source: RunData) -> None:
    """Refuse a run in which nothing of the scenario ran, or a task waited through the window.

    :raises EascopeError: one line that names the tasks.
    """
    tasks = source.cell.tasks
    ran = set(source.slices["thread"].to_list())
    if tasks and not source.cell.programs and not ran & {*source.threads}:
        raise EascopeError(
            f"{source.run}: no task of {source.cell.scenario} ran in the window: "
            f"{', '.join(task.name for task in tasks)}"
        )
    waiting = [
        task.name
        for task in tasks
        if _waits_longer(task, source) and any(_asleep(source, name, ran) for name in task.threads)
    ]
    if waiting:
        raise EascopeError(
            f"{source.run}: {', '.join(waiting)} waited through the whole window for another task: "
            f"{source.cell.scenario} makes no progress"
        )


def _waits_longer(task: TaskRecord, source: RunData) -> bool:
    """Whether a task waits for others, and its rests are shorter than the window."""
    return task.waits and 1000 * task.rest_us < source.window.ns


def _asleep(source: RunData, thread: str, ran: set[str]) -> bool:
    """Whether a living thread slept through the whole window, and no thread woke it."""
    if thread in ran:
        return False
    end = pl.col("t_ns") + source.window.offset_ns <= source.window.t1_ns
    left = source.trace.table("sched_switch").filter((pl.col("prev_comm") == thread) & end)
    if not left.height:
        return False
    last = left.row(left.height - 1, named=True)
    woken = source.trace.table("sched_waking").filter(
        (pl.col("comm") == thread) & end & (pl.col("t_ns") > last["t_ns"])
    )
    sleeps = last["prev_state"] & 0xFF
    return bool(sleeps and not sleeps & _DEAD and not woken.height)
