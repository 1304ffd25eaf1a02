# SPDX-License-Identifier: GPL-2.0-or-later
"""``slices``: which thread ran where and when, from ``sched_switch``; ``placement``, their sums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from eascope.analysis.tables.tasks import with_task
from eascope.analysis.trace import Trace, TraceError
from eascope.analysis.window import Window
from eascope.configs.platform import Platform

_COLUMNS = ("task", "thread", "pid", "cpu", "t0_ns", "t1_ns", "slept")


def slices(trace: Trace, window: Window, threads: Mapping[str, str], cpus: int) -> pl.DataFrame:
    """One row per stretch of a thread on a CPU, clipped to the window; idle is left out.

    Columns: task, thread, pid, cpu, t0_ns, t1_ns, slept (true: it then blocked; false: it was
    preempted; null: the window ended). A CPU without a switch has its one running thread from any
    other event that occurred on it.

    :raises TraceError: when the chain of switches of a CPU is broken, that is, events are missing.
    """
    switches = trace.table("sched_switch").with_columns(pl.col("t_ns") + window.offset_ns)
    per_cpu = switches.with_columns(
        pl.col("next_pid").shift(1).over("cpu").alias("before"),
        pl.col("t_ns").shift(-1).over("cpu").alias("t1_ns"),
        (pl.col("prev_state") & 0xFF != 0).shift(-1).over("cpu").alias("slept"),
    )
    broken = per_cpu.filter(pl.col("before") != pl.col("prev_pid"))
    if broken.height:
        row = broken.row(0, named=True)
        raise TraceError(
            f"{trace.path}: events are missing: on cpu {row['cpu']} at {row['t_ns']} ns pid "
            f"{row['prev_pid']} leaves, but pid {row['before']} was running"
        )
    ran = per_cpu.select(
        pl.col("next_comm").alias("thread"),
        pl.col("next_pid").alias("pid"),
        "cpu",
        pl.col("t_ns").alias("t0_ns"),
        "t1_ns",
        "slept",
    )
    opening = per_cpu.filter(pl.col("before").is_null()).select(
        pl.col("prev_comm").alias("thread"),
        pl.col("prev_pid").alias("pid"),
        "cpu",
        pl.lit(window.t0_ns, pl.Int64).alias("t0_ns"),
        pl.col("t_ns").alias("t1_ns"),
        (pl.col("prev_state") & 0xFF != 0).alias("slept"),
    )
    table = pl.concat([opening, ran, _without_switch(trace, window, switches, cpus)])
    ended = pl.col("t1_ns").is_null() | (pl.col("t1_ns") > window.t1_ns)
    table = (
        table.filter(pl.col("pid") != 0)
        .with_columns(
            pl.when(ended).then(None).otherwise(pl.col("slept")).alias("slept"),
            pl.when(ended).then(window.t1_ns).otherwise(pl.col("t1_ns")).alias("t1_ns"),
            pl.col("t0_ns").clip(lower_bound=window.t0_ns),
        )
        .filter(pl.col("t1_ns") > pl.col("t0_ns"))
    )
    return with_task(table, threads).select(_COLUMNS).sort("cpu", "t0_ns")


def _without_switch(
    trace: Trace, window: Window, switches: pl.DataFrame, cpus: int
) -> pl.DataFrame:
    silent = sorted(set(range(cpus)) - set(switches["cpu"].unique()))
    return (
        trace.events.filter(pl.col("cpu").is_in(silent))
        .unique("cpu", keep="first", maintain_order=True)
        .select(
            pl.col("comm").alias("thread"),
            "pid",
            "cpu",
            pl.lit(window.t0_ns, pl.Int64).alias("t0_ns"),
            pl.lit(None, pl.Int64).alias("t1_ns"),
            pl.lit(None, pl.Boolean).alias("slept"),
        )
    )


def interrupts(trace: Trace, window: Window) -> pl.DataFrame:
    """Hard interrupts with an action, clipped to the window, where their events were recorded.

    Columns: thread (the action's name), pid (the interrupt's number), cpu, t0_ns, t1_ns.
    """
    both = pl.concat(
        [trace.table("irq_handler_entry"), trace.table("irq_handler_exit")], how="diagonal"
    )
    ends = pl.col("t_ns").shift(-1).over("cpu")
    return (
        both.sort("cpu", "t_ns", maintain_order=True)
        .with_columns(t0_ns=pl.col("t_ns") + window.offset_ns, t1_ns=ends + window.offset_ns)
        .filter(pl.col("name").is_not_null() & pl.col("t1_ns").is_not_null())
        .with_columns(pl.col("t0_ns", "t1_ns").clip(window.t0_ns, window.t1_ns))
        .filter(pl.col("t1_ns") > pl.col("t0_ns"))
        .select(pl.col("name").alias("thread"), pl.col("irq").alias("pid"), "cpu", "t0_ns", "t1_ns")
    )


def outside(table: pl.DataFrame, gone: pl.DataFrame) -> pl.DataFrame:
    """The stretches of `slices` without `interrupts`, each of which lies in one or in none."""
    by_cpu: Any = {"by": "cpu", "check_sortedness": False}  # all are sorted by time
    ends = gone.select("cpu", t0_ns="t1_ns").sort("t0_ns")
    starts = gone.select("cpu", begin="t0_ns").sort("begin")
    around = table.rename({"t0_ns": "since"}).sort("since")
    after = ends.join_asof(around, left_on="t0_ns", right_on="since", **by_cpu)
    parts = pl.concat(
        [table, after.filter(pl.col("t1_ns") > pl.col("t0_ns")).select(table.columns)]
    )
    return (
        parts.unique()
        .sort("t0_ns")
        .join_asof(starts, left_on="t0_ns", right_on="begin", strategy="forward", **by_cpu)
        .with_columns(t1_ns=pl.min_horizontal("t1_ns", "begin"))
        .filter(pl.col("t1_ns") > pl.col("t0_ns"))
        .select(table.columns)
        .sort("cpu", "t0_ns")
    )


def until(table: pl.DataFrame, end_ns: int) -> pl.DataFrame:
    """The stretches of `slices` before ``end_ns``; one that goes on then is cut there."""
    cut = pl.col("t1_ns") > end_ns
    return table.filter(pl.col("t0_ns") < end_ns).with_columns(
        pl.when(cut).then(None).otherwise(pl.col("slept")).alias("slept"),
        pl.col("t1_ns").clip(upper_bound=end_ns),
    )


def placement(table: pl.DataFrame, platform: Platform) -> pl.DataFrame:
    """Run time of every thread on every CPU that it used.

    Columns: task, thread, pid, cpu, cluster_name, run_ns, share (of the thread's run time).
    """
    names = {cpu: platform.cluster_of(cpu).name for cpu in platform.cpus}
    return (
        table.group_by("task", "thread", "pid", "cpu")
        .agg((pl.col("t1_ns") - pl.col("t0_ns")).sum().alias("run_ns"))
        .with_columns(
            pl.col("cpu").replace_strict(names, return_dtype=pl.String).alias("cluster_name"),
            (pl.col("run_ns") / pl.col("run_ns").sum().over("pid")).alias("share"),
        )
        .select("task", "thread", "pid", "cpu", "cluster_name", "run_ns", "share")
        .sort("pid", "cpu")
    )
