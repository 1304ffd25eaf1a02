# SPDX-License-Identifier: GPL-2.0-or-later
"""Rates of system code on gem5's detailed cores, from a run that elides the busy loop.

In mode ``elided-detailed`` an elided loop counts neither instructions nor cycles. So a CPU's rows
are those of system code: the kernel, the agent, and rt-app without its loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from eascope.configs.activity import ACTIVITY
from eascope.configs.platform import Platform
from eascope.configs.system_activity import (
    LEAST_INSTRUCTIONS,
    SCHEMA,
    ClusterSystem,
    digits,
    system_path,
)
from eascope.experiments.characterisation.record import write_measured
from eascope.host.errors import EascopeError
from eascope.host.table import Column, Table

CONDITIONS = (
    "kernel, agent and rt-app without its busy loop, the instructions by which that stands still "
    "included, in the window of one run of a whole system, at the OPPs that schedutil chose; CPUs "
    "that sleep or let an idle state's exit latency pass count neither instructions nor cycles"
)


def evaluate(
    platform: Platform, counters: pl.DataFrame, t0_ns: int, t1_ns: int
) -> list[ClusterSystem]:
    """Instructions and cycles of each cluster's CPUs between two times.

    :param counters: a run's ``counters.parquet``.
    :raises EascopeError: when a cluster has executed too few instructions.
    """
    rows = counters.filter(
        (pl.col("cpu") >= 0) & (pl.col("t0_ns") >= t0_ns) & (pl.col("t1_ns") <= t1_ns)
    )
    measured = []
    for cluster in platform.clusters:
        own = rows.filter(pl.col("cluster") == cluster.index)
        instructions, cycles = (round(own[name].sum()) for name in ("instructions", "cycles"))
        if instructions < LEAST_INSTRUCTIONS:
            raise EascopeError(
                f"{platform.name}: {cluster.name}: {instructions} instructions that are not the "
                f"busy loop's: at least {LEAST_INSTRUCTIONS} are needed to measure their cycles"
            )
        measured.append(
            ClusterSystem(cluster.name, instructions, cycles, digits(instructions / cycles))
        )
    return measured


def write_system(
    platform: Platform,
    measured: Sequence[ClusterSystem],
    provenance: Mapping[str, str | int],
    directory: Path = ACTIVITY,
) -> Path:
    """Write the measurements into their own file below the activity files' ``directory``.

    A file that has the same figures stays, with their provenance.
    """
    path = system_path(platform, directory)
    figures = {
        "conditions": CONDITIONS,
        "clusters": {
            cluster.name: {
                "instructions": cluster.instructions,
                "cycles": cluster.cycles,
                "ipc": cluster.ipc,
            }
            for cluster in measured
        },
    }
    return write_measured(path, {"schema": SCHEMA, "platform": platform.name}, provenance, figures)


def system_text(measured: Sequence[ClusterSystem]) -> str:
    """Instructions per cycle of system code, one line for each cluster."""
    columns = (Column("cluster", "left"), Column("IPC"), Column("instructions", unit="millions"))
    rows = [
        (cluster.name, f"{cluster.ipc:.3f}", f"{cluster.instructions / 1e6:.2f}")
        for cluster in measured
    ]
    head = "instructions per cycle of system code"
    return f"{head}\n{Table(columns, tuple(rows)).text()}"
