# SPDX-License-Identifier: GPL-2.0-or-later
"""The measurements, for the activity file and for a person."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

from eascope.configs.activity import ACTIVITY, KernelActivity
from eascope.configs.platform import CAPACITY_SCALE, Platform
from eascope.configs.system_activity import digits
from eascope.engines.timing.kernel_time import KernelTime, kernel_time
from eascope.engines.timing.mixture import misses
from eascope.experiments.characterisation.guest import KERNELS
from eascope.experiments.characterisation.measure import KernelMeasurement
from eascope.host.cache import write_atomic
from eascope.host.record import REST, Record, json_key
from eascope.host.strict import read_json
from eascope.host.table import Column, Table

CONDITIONS = (
    "one CPU alone with the cluster's caches and the memory, without an operating system, caches "
    "and predictors warm; virtual memory in blocks, so no TLB misses"
)


def table(measured: Iterable[KernelMeasurement]) -> dict[str, Any]:
    """Kernels, clusters, IPC by kHz, events per instruction at the fastest OPP."""
    kernels: dict[str, Any] = {}
    for point in measured:
        entry = kernels.setdefault(point.kernel, {}).setdefault(
            point.cluster, {"ipc": {}, "events_per_instruction": {}}
        )
        if not entry["ipc"]:  # the fastest comes first
            entry["events_per_instruction"] = {
                name: digits(value) for name, value in sorted(point.events.items())
            }
        entry["ipc"][str(point.khz)] = digits(point.ipc)
    for clusters in kernels.values():
        for entry in clusters.values():
            entry["ipc"] = dict(sorted(entry["ipc"].items(), key=lambda item: int(item[0])))
    return kernels


def write(
    platform: Platform,
    measured: Sequence[KernelMeasurement],
    provenance: Mapping[str, str],
    directory: Path = ACTIVITY,
) -> Path:
    """Write the measurements into the platform's activity file, and leave the rest of it alone.

    A file that has the same figures stays, with their provenance: runs are read by its digest.
    """
    path = directory / f"{platform.name}.json"
    data = dict(read_json(path).data)
    figures = {"conditions": CONDITIONS, "kernels": table(measured)}
    if has_figures(data.get("measured"), figures):
        return path
    data["measured"] = {"provenance": dict(provenance), **figures}
    _write_json(path, data)
    return path


def write_measured(
    path: Path,
    head: Mapping[str, Any],
    provenance: Mapping[str, object],
    figures: Mapping[str, Any],
) -> Path:
    """Write a file of its own; one that has the same figures stays, with their provenance."""
    if not (path.is_file() and has_figures(read_json(path).data, figures)):
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_json(path, {**head, "provenance": dict(provenance), **figures})
    return path


def _write_json(path: Path, data: Mapping[str, Any]) -> None:
    write_atomic(path, (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode())


def has_figures(record: object, figures: Mapping[str, Any]) -> bool:
    """True if ``record``, as a file has it, says ``figures`` already, whatever its provenance.

    Another build of gem5 with equal measurements is no reason to write the file again.
    """
    return isinstance(record, dict) and all(
        record.get(name) == value for name, value in figures.items()
    )


@dataclass(frozen=True)
class Capacity(Record):
    """A cluster's capacity: the board's, and what the speed at the fastest OPP gives.

    :param mean: the geometric mean over the kernels; ``all`` in JSON.
    :param by_kernel: by each workload kernel's speed.
    """

    cluster: str
    core: str
    board: int
    mean: int = field(metadata=json_key("all"))
    by_kernel: Mapping[str, int] = field(metadata=REST)


def capacities(platform: Platform, kernels: Sequence[KernelActivity]) -> list[Capacity]:
    """Capacities of each cluster; the largest one's are 1024 by definition."""
    speed = {(entry.kernel, entry.cluster): entry for entry in kernels}

    def rate(kernel: str, name: str) -> float:
        cluster = platform.cluster(name)
        return speed[kernel, name].ipc[cluster.max_khz] * cluster.max_khz

    rows = []
    for cluster in platform.clusters:
        by_kernel = {
            kernel: CAPACITY_SCALE
            * rate(kernel, cluster.name)
            / rate(kernel, platform.largest.name)
            for kernel in KERNELS
        }
        rows.append(
            Capacity(
                cluster=cluster.name,
                core=cluster.core.name,
                board=platform.capacities[cluster.cpus[0]],
                mean=round(prod(by_kernel.values()) ** (1 / len(by_kernel))),
                by_kernel={kernel: round(value) for kernel, value in by_kernel.items()},
            )
        )
    return rows


def times(kernels: Iterable[KernelActivity]) -> list[KernelTime]:
    """Core cycles and memory time of each kernel on each cluster that has two OPPs or more."""
    return [time for kernel in kernels if (time := kernel_time(kernel)) is not None]


def _times_text(kernels: Sequence[KernelActivity]) -> str:
    columns = (
        *(Column("kernel", "left"), Column("cluster", "left"), Column("cycles")),
        *(Column("memory", unit="ns"), Column("largest error", unit="%")),
    )
    rows = [
        (
            *(time.kernel, time.cluster, f"{time.cycles:.3f}", f"{time.memory_ns:.3f}"),
            "" if time.residual is None else f"{100 * time.residual:.2f}",
        )
        for time in times(kernels)
    ]
    return Table(columns, tuple(rows)).text()


def _misses_text(kernels: Sequence[KernelActivity]) -> str:
    """A line for each cluster: the time of a miss, for which tasks with ``memory`` wait."""
    columns = (Column("cluster", "left"), Column("cycles"), Column("memory", unit="ns"))
    rows = [
        (cluster, f"{miss.cycles:.1f}", f"{miss.memory_ns:.1f}")
        for cluster, miss in misses(kernels).items()
    ]
    return Table(columns, tuple(rows)).text()


def text(platform: Platform, kernels: Sequence[KernelActivity]) -> str:
    """IPC of each kernel at the slowest and fastest OPP, then times and capacities."""
    by_place = {(entry.kernel, entry.cluster): entry for entry in kernels}
    columns = [Column("", "left")]
    for cluster in platform.clusters:
        columns += [
            Column(f"{cluster.name} at {opp.khz / 1000:g} MHz")
            for opp in (cluster.opps[0], cluster.opps[-1])
        ]
    rows = []
    for kernel in KERNELS:
        speeds = [
            by_place[kernel, cluster.name].ipc[opp.khz]
            for cluster in platform.clusters
            for opp in (cluster.opps[0], cluster.opps[-1])
        ]
        rows.append((kernel, *(f"{ipc:.3f}" for ipc in speeds)))
    heads = ("cluster", "board", *KERNELS, "all")
    capacity_rows = [
        [row.cluster, *map(str, (row.board, *row.by_kernel.values(), row.mean))]
        for row in capacities(platform, kernels)
    ]
    return "\n".join(
        [
            "instructions per cycle at the slowest and the fastest OPP",
            Table(tuple(columns), tuple(rows)).text(),
            "",
            "time of an instruction: cycles / f + memory, fitted over all OPPs",
            _times_text(kernels),
            "",
            "time of a dependent miss: cycles / f + memory",
            _misses_text(kernels),
            "",
            "capacity by speed at the fastest OPP, the largest cluster's 1024",
            Table.of(heads, capacity_rows).text(),
        ]
    )
