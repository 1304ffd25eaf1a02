# SPDX-License-Identifier: GPL-2.0-or-later
"""``tasks``: energy, run time and wake-ups per thread; further rows have the remaining energy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from eascope.analysis.energy import Covered, active_shares
from eascope.analysis.tables.tasks import OTHER
from eascope.host.errors import EascopeError

#: Whose energy a row is, where it is no thread's.
IDLE = "(idle)"
SHARED_PART = "(shared)"


def task_energy(
    *,
    ran: Sequence[Covered],
    slices: pl.DataFrame,
    energy: pl.DataFrame,
    latency: pl.DataFrame,
    migrations: Mapping[str, int],
) -> pl.DataFrame:
    """One row per thread that ran, and three rows for energy that no thread caused.

    The rows' ``energy_fj`` sum to the total exactly. ``(other)`` is active energy that no slice
    covers, ``(idle)`` idle states and exits from them, ``(shared)`` the clusters' shared parts.

    Columns: task, thread, pid, run_ns, energy_fj, wakeups, migrations, joules.
    """
    share = active_shares(ran, energy)
    by_pid = share.group_by("pid").agg(pl.col("energy_fj").sum())
    rows = _threads(slices, by_pid, latency, migrations)
    parts = dict(energy.group_by("component").agg(pl.col("energy_fj").sum()).iter_rows())
    uncovered = by_pid.filter(pl.col("pid").is_null())["energy_fj"].sum()
    idle = sum(spent for name, spent in parts.items() if name not in ("active", "shared"))
    rest = pl.DataFrame(
        {
            "task": [OTHER, IDLE, SHARED_PART],
            "energy_fj": [uncovered, idle, parts.get("shared", 0)],
        },
        schema={"task": pl.String, "energy_fj": pl.Int64},
    )
    table = pl.concat([rows, rest], how="diagonal")
    if table["energy_fj"].sum() != energy["energy_fj"].sum():
        raise EascopeError("internal error: the tasks' energies do not sum to the total")
    return table.with_columns((pl.col("energy_fj") / 1e15).alias("joules"))


def _threads(
    slices: pl.DataFrame,
    by_pid: pl.DataFrame,
    latency: pl.DataFrame,
    migrations: Mapping[str, int],
) -> pl.DataFrame:
    """The rows of threads, in the order of their pids."""
    ran = slices.group_by("pid").agg(
        pl.col("task").last(),
        pl.col("thread").last(),
        (pl.col("t1_ns") - pl.col("t0_ns")).sum().alias("run_ns"),
    )
    woken = latency.group_by("pid").agg(pl.len().cast(pl.Int64).alias("wakeups"))
    moved = pl.col("thread").replace_strict(migrations, default=None, return_dtype=pl.Int64)
    return (
        ran.join(by_pid, on="pid", how="left")
        .join(woken, on="pid", how="left")
        .with_columns(pl.col("energy_fj", "wakeups").fill_null(0), moved.alias("migrations"))
        .select("task", "thread", "pid", "run_ns", "energy_fj", "wakeups", "migrations")
        .sort("pid")
    )
