# SPDX-License-Identifier: GPL-2.0-or-later
"""The fast engine's files: the plugin's rows."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from eascope.host.errors import EascopeError

_SPENT = ("active_ns", "entry_ns", "exit_ns")
_FIXED = ("cluster", "cpu", "t0_ns", "t1_ns", "khz", "uv", *_SPENT)


def counters_table(raw: Path, idle_states: int) -> pl.DataFrame:
    """The plugin's rows, checked: every row's times sum to its length.

    :raises EascopeError: when they do not, or a line is cut short.
    """
    idle = [f"idle{state}_ns" for state in range(idle_states)]
    names = [*_FIXED, *idle, "cycles", "instructions"]
    schema = {name: pl.Int32 if name in ("cluster", "cpu") else pl.Int64 for name in names}
    try:
        table = pl.read_csv(raw, has_header=False, new_columns=names, schema=schema)
    except pl.exceptions.PolarsError as error:
        raise EascopeError(f"{raw.name}: not readable: {str(error).splitlines()[0]}") from error
    spent = pl.sum_horizontal(*_SPENT, *idle)
    wrong = table.filter(spent != pl.col("t1_ns") - pl.col("t0_ns"))
    if wrong.height or table.null_count().sum_horizontal().item():
        raise EascopeError(f"{raw.name}: times that do not add up: {wrong.head(1).rows()}")
    return table.sort("cluster", "t0_ns", "cpu")
