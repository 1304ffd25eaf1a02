# SPDX-License-Identifier: GPL-2.0-or-later
"""``latency``: from ``sched_waking`` to the ``sched_switch`` that brings the thread in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import polars as pl

from eascope.analysis.records.result import Percentiles
from eascope.analysis.tables.tasks import with_task
from eascope.analysis.trace import Trace
from eascope.analysis.window import Window

Number = TypeVar("Number", int, float)


#: What happens to a thread, in the order of events at the same time.
LEAVES, WOKEN, ENTERS = 0, 1, 2


def latency(trace: Trace, window: Window, threads: Mapping[str, str]) -> pl.DataFrame:
    """One row per wake-up that led to a run; wake-ups before START are left out.

    Columns: task, thread, pid, cpu (where it ran), woken_ns, t_ns (when it ran), latency_ns. A
    thread that was preempted and comes back was not woken. A thread whose only wake-up came while
    it was still going to sleep counts from the moment at which it left the CPU.
    """
    left = pl.col("left_ns")
    table = (
        _cycles(events_of(trace))
        .filter(
            pl.col("t_ns").is_not_null()
            & (pl.col("wakes").list.len() > 0)
            & (pl.col("slept") | left.is_null())
        )
        .explode("wakes")
        .group_by("pid", "cycle", maintain_order=True)
        .agg(
            pl.col("t_ns", "thread", "cpu", "left_ns").first(),
            pl.col("wakes").filter(left.is_null() | (pl.col("wakes") >= left)).min().alias("wake"),
        )
        .with_columns(pl.col("wake").fill_null(left).alias("woken_ns"))
        .with_columns(pl.col("woken_ns", "t_ns") + window.offset_ns)
        .filter((pl.col("woken_ns") >= window.t0_ns) & (pl.col("t_ns") <= window.t1_ns))
        .with_columns((pl.col("t_ns") - pl.col("woken_ns")).alias("latency_ns"))
    )
    return (
        with_task(table, threads)
        .select("task", "thread", "pid", "cpu", "woken_ns", "t_ns", "latency_ns")
        .sort("woken_ns", "pid")
    )


def events_of(trace: Trace) -> pl.DataFrame:
    """All threads' events by pid and time: pid, t_ns, kind, thread, cpu, sleeps (when it left)."""
    switches = trace.table("sched_switch")
    never = pl.lit(False).alias("sleeps")
    leaves = switches.select(
        pl.col("prev_pid").alias("pid"),
        "t_ns",
        pl.lit(LEAVES).alias("kind"),
        pl.col("prev_comm").alias("thread"),
        "cpu",
        (pl.col("prev_state") & 0xFF != 0).alias("sleeps"),
    )
    wakes = trace.table("sched_waking").select(
        *("pid", "t_ns", pl.lit(WOKEN).alias("kind"), pl.col("comm").alias("thread"), "cpu", never)
    )
    enters = switches.select(
        pl.col("next_pid").alias("pid"),
        "t_ns",
        pl.lit(ENTERS).alias("kind"),
        pl.col("next_comm").alias("thread"),
        "cpu",
        never,
    )
    return (
        pl.concat([leaves, wakes, enters])
        .filter(pl.col("pid") != 0)
        .sort("pid", "t_ns", "kind", maintain_order=True)
    )


def _cycles(events: pl.DataFrame) -> pl.DataFrame:
    """One row per thread and cycle.

    Columns: pid, cycle, left_ns, slept, wakes (a list), t_ns (when it ran), thread, cpu. A cycle
    runs from one entry (exclusive) to the next (inclusive): [wake] leave wake.. enter.
    """
    kind, time = pl.col("kind"), pl.col("t_ns")
    cycle = (kind == ENTERS).shift(1, fill_value=False).cum_sum().over("pid")
    return (
        events.with_columns(cycle.alias("cycle"))
        .group_by("pid", "cycle", maintain_order=True)
        .agg(
            time.filter(kind == LEAVES).first().alias("left_ns"),
            pl.col("sleeps").any().alias("slept"),
            time.filter(kind == WOKEN).alias("wakes"),
            time.filter(kind == ENTERS).first().alias("t_ns"),
            pl.col("thread").last(),
            pl.col("cpu").last(),
        )
    )


def percentile(values: Sequence[Number], share: float) -> Number:
    """Nearest-rank percentile: the smallest value that at least ``share`` of them do not exceed."""
    ordered = sorted(values)
    rank = -(-int(share * 1_000_000) * len(ordered) // 1_000_000)
    return ordered[max(rank, 1) - 1]


def percentiles(values: Sequence[float]) -> Percentiles:
    """The percentiles of a non-empty sample that results have."""
    return Percentiles(
        p50=percentile(values, 0.50),
        p90=percentile(values, 0.90),
        p95=percentile(values, 0.95),
        p99=percentile(values, 0.99),
        max=percentile(values, 1.0),
    )
