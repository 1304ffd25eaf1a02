# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables from the kernel's events alone: migrations, requests for an OPP, overutilization."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from eascope.analysis.trace import Trace
from eascope.analysis.window import Window
from eascope.configs.platform import Platform


def migrations(trace: Trace, window: Window, threads: Mapping[str, str]) -> dict[str, int]:
    """Number of ``sched_migrate_task`` events per thread of the scenario within the window."""
    counts = dict.fromkeys(threads, 0)
    moved = trace.table("sched_migrate_task").with_columns(pl.col("t_ns") + window.offset_ns)
    inside = moved.filter(
        (pl.col("t_ns") >= window.t0_ns)
        & (pl.col("t_ns") <= window.t1_ns)
        & (pl.col("orig_cpu") != pl.col("dest_cpu"))
    )
    for comm, number in inside.group_by("comm").len().iter_rows():
        if comm in counts:
            counts[comm] = number
    return counts


def opp_requests(trace: Trace, window: Window, platform: Platform) -> dict[str, int]:
    """The number of requests for another OPP of each cluster within the window.

    The kernel traces a request when it writes it, once for every CPU of the cluster. If another
    request follows before the change is done, it has no effect, so there may be fewer changes.
    """
    asked = trace.table("cpu_frequency").with_columns(pl.col("t_ns") + window.offset_ns)
    inside = asked.filter((pl.col("t_ns") >= window.t0_ns) & (pl.col("t_ns") <= window.t1_ns))
    return {
        cluster.name: inside.filter(pl.col("cpu_id") == cluster.cpus[0]).height
        for cluster in platform.clusters
    }


def overutilized_share(trace: Trace, window: Window) -> float | None:
    """Share of the window in which the root domain was overutilized, or None when not known.

    The state at START is that of the last event before it (the trace has the warm-up); without one
    the share is that of the time after the first event. No event at all: not known.
    """
    events = trace.table("lisa__sched_overutilized").with_columns(pl.col("t_ns") + window.offset_ns)
    times = events["t_ns"].to_list()
    states = events["overutilized"].to_list()
    inside = [(t, s) for t, s in zip(times, states, strict=True) if t <= window.t1_ns]
    if not inside:
        return None
    earlier = [state for t, state in inside if t <= window.t0_ns]
    points = [(t, state) for t, state in inside if t > window.t0_ns]
    if earlier:
        points.insert(0, (window.t0_ns, earlier[-1]))
    known: int = window.t1_ns - points[0][0]
    if known <= 0:
        return None
    over: int = 0
    for (t, state), (end, _) in zip(points, [*points[1:], (window.t1_ns, 0)], strict=True):
        over += (end - t) if state else 0
    return over / known
