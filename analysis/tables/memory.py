# SPDX-License-Identifier: GPL-2.0-or-later
"""Energy of the DRAM and accesses to it, if the engine simulates memory.

They are not part of ``energy_j``: schedulers are compared by the energy of clusters, and engines
without a memory cannot give them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from eascope.engines.records import NO_CLUSTER

#: Accesses that caches could not answer; their column is there on detailed cores only.
_MISSES = "L2.read_misses"


@dataclass(frozen=True)
class Memory:
    """Over the window: energy in pJ by gem5's own DRAM power model, lines that were fetched."""

    dram_pj: float
    fetches: float


def memory(path: Path) -> Memory | None:
    """The memory's part of ``counters.parquet``; none where no access to it was simulated."""
    table = pl.read_parquet(path)
    if "dram_pj" not in table.columns or _MISSES not in table.columns:
        return None
    rows = table.filter(pl.col("cluster") == NO_CLUSTER)
    if rows.is_empty():
        return None
    fetches = table.filter(pl.col("cluster") != NO_CLUSTER)[_MISSES].sum()
    return Memory(float(rows["dram_pj"].sum()), float(fetches))
