# SPDX-License-Identifier: GPL-2.0-or-later
"""Names: which thread of the trace belongs to which task of the scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from eascope.analysis.records.cell import TaskRecord

#: Stands for the threads that are no task's.
OTHER = "(other)"


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
