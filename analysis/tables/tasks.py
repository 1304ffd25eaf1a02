# SPDX-License-Identifier: GPL-2.0-or-later
"""Names: which thread of the trace belongs to which task of the scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from eascope.analysis.records.cell import TaskRecord

#: Stands for the threads that are no task's.
OTHER = "(other)"

#: Kinds of threads that are no task's, by the beginnings of their names; the rest is `REST`.
KINDS = {
    **{name: name for name in ("sugov", "kworker", "ksoftirqd", "rcu", "migration")},
    **{"agent": "init", "rt_app": "rt-app"},
}
REST = "rest"
#: Active energy that no thread has: interrupts and the idle loop, while a CPU is idle.
NO_THREAD = "no_thread"


def kind_of(thread: str | None) -> str:
    """The kind of a thread that is no task's."""
    if thread is None:
        return NO_THREAD
    return next((kind for kind, begin in KINDS.items() if thread.startswith(begin)), REST)


def thread_names(tasks: Sequence[TaskRecord]) -> dict[str, str]:
    """``{thread: task}`` of the tasks in ``cell.json``."""
    return {thread: task.name for task in tasks for thread in task.threads}


def with_task(table: pl.DataFrame, threads: Mapping[str, str]) -> pl.DataFrame:
    """Adds ``task`` (the scenario's name, null for other threads) from the column ``thread``."""
    names = pl.DataFrame(
        {"thread": list(threads), "task": list(threads.values())},
        schema={"thread": pl.String, "task": pl.String},
    )
    return table.join(names, on="thread", how="left", maintain_order="left")
