# SPDX-License-Identifier: GPL-2.0-or-later
"""The page on memory time: the parts for its notes."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.results.memory_time import ExecutedMixture, MemoryTime
from host.table import Column, Table
from studies.drawing import Drawing
from studies.memory_time.plan import CHAINS, GOAL_PERCENT, NAME

#: The share of the scenarios below ``memory/``, and how near whole parts come to it.
STATED, NEAR = 0.3, 0.01


def parts(record: MemoryTime) -> dict[str, str]:
    """Markdown by the names that the notes use."""
    long, single = (
        [mixture for mixture in record.mixtures if mixture.misses == misses] for misses in CHAINS
    )
    stated = [mixture for mixture in long if abs(mixture.share - STATED) < NEAR]
    opps = [opp for mixture in record.mixtures for opp in mixture.opps]
    return {
        "chain": str(CHAINS[0]),
        "chains": _worst(long),
        "stated": _worst(stated),
        "share": f"{STATED:g}",
        "singles": _worst(single),
        "goal": f"{GOAL_PERCENT} %",
        "points": f"{sum(abs(opp.percent) <= GOAL_PERCENT for opp in opps)} of {len(opps)}",
        "conditions": f"* {record.origin.words}",
        "table": _table(record.mixtures).markdown(),
    }


def _worst(mixtures: Iterable[ExecutedMixture]) -> str:
    return f"{max(abs(mixture.worst.percent) for mixture in mixtures):.1f} %"


def _table(mixtures: Iterable[ExecutedMixture]) -> Table:
    """A line for each mixture and cluster; a star where an OPP misses the goal."""
    columns = (
        *(Column("platform", "left"), Column("cluster", "left"), Column("core", "left")),
        *(Column("share"), Column("busy + misses")),
        *(Column("executed, slowest OPP", unit="ns"), Column("difference")),
        *(Column("executed, fastest OPP", unit="ns"), Column("difference")),
        Column("largest difference"),
    )
    rows = []
    for mixture in mixtures:
        slow, fast, worst = mixture.opps[0], mixture.opps[-1], mixture.worst.percent
        rows.append(
            (
                *(mixture.platform, mixture.cluster, mixture.core, f"{mixture.share:.3f}"),
                f"{mixture.busy} + {mixture.misses}",
                *(f"{slow.executed_ns:.1f}", f"{slow.percent:+.1f} %"),
                *(f"{fast.executed_ns:.1f}", f"{fast.percent:+.1f} %"),
                f"{worst:+.1f} %{' *' if abs(worst) > GOAL_PERCENT else ''}",
            )
        )
    return Table(columns, tuple(rows))


DRAWINGS = {NAME: Drawing(MemoryTime, parts)}
