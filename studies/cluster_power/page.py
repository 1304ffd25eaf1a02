# SPDX-License-Identifier: GPL-2.0-or-later
"""The page on a cluster's measured power: the parts that its notes set in place."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from analysis.results.cluster_power import ClusterPoint, ClusterPower
from host.table import Column, Table
from studies.cluster_power.plan import GOAL_PERCENT, LITERATURE_PERCENT, NAME
from studies.drawing import Drawing


def _mean(values: Iterable[float]) -> float:
    every = list(values)
    return sum(every) / len(every)


def mean_error(points: Iterable[ClusterPoint]) -> float:
    """Mean absolute error in per cent of what was measured."""
    return _mean(abs(point.percent) for point in points)


def bias(points: Iterable[ClusterPoint]) -> float:
    """Mean error in per cent, with its sign."""
    return _mean(point.percent for point in points)


def parts(record: ClusterPower) -> dict[str, str]:
    """Markdown by the names that the notes use."""
    points = record.points
    worst = max(points, key=lambda point: abs(point.percent))
    return {
        "error": f"{mean_error(points):.1f} %",
        "bias": f"{bias(points):+.1f} %",
        "goal": f"{GOAL_PERCENT} %",
        "literature": f"{LITERATURE_PERCENT} %",
        "within": f"{sum(abs(p.percent) <= GOAL_PERCENT for p in points)} of {len(points)}",
        "worst": f"{worst.percent:+.0f} % ({worst.workload}, {worst.khz // 1000} MHz, "
        f"{worst.copies} copies)",
        "conditions": f"* Platform {record.platform}, cluster {record.cluster}. "
        f"Data: `{record.data}` (SHA-256 `{record.data_sha256[:16]}`).\n* {record.origin.words}",
        "workloads": _table(points, "workload", lambda point: f"{point.workload} ({point.kernel})"),
        "opps": _table(points, "MHz", lambda point: f"{point.khz / 1000:g}"),
        "copies": _table(points, "copies", lambda point: str(point.copies)),
    }


def _table(points: Iterable[ClusterPoint], head: str, key: Callable[[ClusterPoint], str]) -> str:
    """Errors of the points that ``key`` puts together, in the order in which they come."""
    groups: dict[str, list[ClusterPoint]] = {}
    for point in points:
        groups.setdefault(key(point), []).append(point)
    columns = (
        Column(head, "left"),
        *(Column(name) for name in ("points", "mean absolute error", "mean error")),
        *(Column(name, unit="W") for name in ("measured", "modelled")),
        *(Column(f"instructions per cycle, {name}") for name in ("measured", "kernel")),
    )
    rows = [
        (
            *(name, str(len(group)), f"{mean_error(group):.1f} %", f"{bias(group):+.1f} %"),
            f"{_mean(point.measured_w for point in group):.3f}",
            f"{_mean(point.modelled_w for point in group):.3f}",
            f"{_mean(point.measured_ipc for point in group):.2f}",
            f"{_mean(point.kernel_ipc for point in group):.2f}",
        )
        for name, group in groups.items()
    ]
    return Table(columns, tuple(rows)).markdown()


DRAWINGS = {NAME: Drawing(ClusterPower, parts)}
