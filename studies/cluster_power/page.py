# SPDX-License-Identifier: GPL-2.0-or-later
"""The page on a cluster's measured power: the parts for its notes."""

from __future__ import annotations

from analysis.results.cluster_power import ClusterGroup, MeasuredCluster
from host.table import Column, Table
from studies.cluster_power.plan import GOAL_PERCENT, LITERATURE_PERCENT, NAME
from studies.drawing import Drawing


def parts(record: MeasuredCluster) -> dict[str, str]:
    """Markdown by the names that the notes use."""
    (every,), worst = _by(record, "all"), record.worst
    return {
        "error": f"{every.mean_absolute_percent:.1f} %",
        "bias": f"{every.mean_percent:+.1f} %",
        "goal": f"{GOAL_PERCENT} %",
        "literature": f"{LITERATURE_PERCENT} %",
        "within": f"{every.within_goal} of {every.points}",
        "worst": f"{worst.percent:+.0f} % ({worst.workload}, {worst.khz // 1000} MHz, "
        f"{worst.copies} copies)",
        "conditions": f"* Platform {record.platform}, cluster {record.cluster}. "
        f"Data: `{record.data}` (SHA-256 `{record.data_sha256[:16]}`).\n* {record.origin.words}",
        "workloads": _table(record, "workload"),
        "opps": _table(record, "MHz"),
        "copies": _table(record, "copies"),
    }


def against_goal(record: MeasuredCluster) -> str:
    """The mean absolute error, the goal, and whether it is met: for the README."""
    (every,) = _by(record, "all")
    word = "met" if every.mean_absolute_percent < GOAL_PERCENT else "missed"
    return f"{every.mean_absolute_percent:.1f} % (goal {GOAL_PERCENT} %: {word})"


def _by(record: MeasuredCluster, by: str) -> list[ClusterGroup]:
    return [group for group in record.groups if group.by == by]


def _table(record: MeasuredCluster, by: str) -> str:
    """A line for each group."""
    columns = (
        Column(by, "left"),
        *(Column(name) for name in ("points", "mean absolute error", "mean error")),
        *(Column(name, unit="W") for name in ("measured", "modelled")),
        *(Column(f"instructions per cycle, {name}") for name in ("measured", "kernel")),
    )
    rows = [
        (
            *(group.name, str(group.points), f"{group.mean_absolute_percent:.1f} %"),
            *(f"{group.mean_percent:+.1f} %", f"{group.measured_w:.3f}"),
            *(f"{group.modelled_w:.3f}", f"{group.measured_ipc:.2f}", f"{group.kernel_ipc:.2f}"),
        )
        for group in _by(record, by)
    ]
    return Table(columns, tuple(rows)).markdown()


DRAWINGS = {NAME: Drawing(MeasuredCluster, parts)}
