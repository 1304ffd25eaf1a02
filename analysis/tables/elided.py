# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions that a gem5 run did not execute: those of elided loops."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from eascope.analysis.tables.split import within
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.engines.timing.mixture import mixture
from eascope.power.model import SHARED_PART


def with_elided(
    intervals: pl.DataFrame,
    slices: pl.DataFrame,
    platform: Platform,
    activity: Activity,
    threads: Mapping[str, float],
) -> pl.DataFrame:
    """``intervals`` with the turns' instructions in ``instructions``, as the fast engine counts.

    While one of ``threads`` ran, its turns took the busy loop's instructions per cycle at the
    interval's clock; where it waits for memory, those of its mixture. Instructions that it executed
    in system calls are some per mille of these, and are counted twice.

    :param threads: names and their shares of memory.
    """
    turns = {memory: mixture(platform, activity, memory) for memory in {*threads.values()}}
    parts = []
    for (index, cpu), rows in intervals.group_by("cluster", "cpu", maintain_order=True):
        part = rows
        if cpu != SHARED_PART:
            cluster, own = platform.clusters[index], slices.filter(pl.col("cpu") == cpu)
            for memory, turn in turns.items():
                alike = [thread for thread, share in threads.items() if share == memory]
                ns = within(
                    own.filter(pl.col("thread").is_in(alike))
                    .sort("t0_ns")
                    .select("t0_ns", "t1_ns")
                    .rows(),
                    part["t0_ns"].to_numpy(),
                    part["t1_ns"].to_numpy(),
                )
                khz = part["khz"].to_numpy()
                if memory:
                    per_ns = np.array(
                        [turn.instructions / turn.iteration_ns(cluster, f) for f in khz]
                    )
                else:
                    per_ns = khz * (activity.ipc(cluster) / 1e6)
                elided = np.rint(ns * per_ns).astype(np.int64)
                part = part.with_columns(pl.col("instructions") + pl.Series(elided))
        parts.append(part)
    return pl.concat(parts)
