# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions that a gem5 run did not execute: those of the loops that stood still."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import polars as pl

from analysis.tables.split import within
from configs.activity import Activity
from configs.platform import Platform
from power.billed import SHARED


def with_elided(
    intervals: pl.DataFrame,
    slices: pl.DataFrame,
    platform: Platform,
    activity: Activity,
    threads: Collection[str],
) -> pl.DataFrame:
    """``intervals`` with the turns' instructions in ``instructions``, as the fast engine counts.

    While one of ``threads`` ran, its turns took the busy loop's instructions per cycle at the
    interval's clock. What it executed in system calls is some per mille of that and counted twice.
    """
    parts = []
    for (index, cpu), rows in intervals.group_by("cluster", "cpu", maintain_order=True):
        part = rows
        if cpu != SHARED:
            ran = slices.filter(pl.col("cpu") == cpu, pl.col("thread").is_in(list(threads)))
            ns = within(
                ran.sort("t0_ns").select("t0_ns", "t1_ns").rows(),
                part["t0_ns"].to_numpy(),
                part["t1_ns"].to_numpy(),
            )
            ipc = activity.ipc(platform.clusters[index])
            elided = np.rint(ns * part["khz"].to_numpy() * (ipc / 1e6)).astype(np.int64)
            part = part.with_columns(pl.col("instructions") + pl.Series(elided))
        parts.append(part)
    return pl.concat(parts)
