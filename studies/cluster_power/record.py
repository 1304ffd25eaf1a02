# SPDX-License-Identifier: GPL-2.0-or-later
"""The record: measured rows of the workloads, and the cluster's billed power there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

import numpy as np

from analysis.results.cluster_power import ClusterGroup, ClusterPoint, MeasuredCluster
from analysis.results.origin import Origin
from configs.activity import Activity, KernelActivity
from configs.platform import Cluster, Platform
from host.errors import RequestError
from host.strict import shown_path
from power.derived import CYCLE
from power.events import load_events
from power.measurements import Measurements
from studies.cluster_power.plan import CLUSTER, GOAL_PERCENT, STANDS_FOR


def kernels_of(platform: Platform, activity: Activity) -> dict[str, KernelActivity]:
    """The measurements of each workload kernel on the cluster's core.

    :raises RequestError: when the platform's cores were not characterised.
    """
    kernels = {entry.kernel: entry for entry in activity.measured if entry.cluster == CLUSTER}
    if not kernels.keys() >= STANDS_FOR.keys():
        raise RequestError(
            f"{shown_path(activity.path)}: measured is missing: allowed after eascope characterise "
            f"{platform.name}"
        )
    return {name: kernels[name] for name in STANDS_FOR}


def cluster_w(
    platform: Platform, cluster: Cluster, khz: int, kernel: KernelActivity, busy: float
) -> float:
    """Power in W of ``cluster`` at ``khz`` with ``busy`` CPUs in ``kernel``, the others in WFI.

    As `power.model.DerivedPower` bills it: counted events of the CPUs and their L2, a clock for
    each busy CPU, leakage of all, and the shared part, at the OPP's supply and the platform's
    temperature.
    """
    power = load_events(cluster.core.name)
    volts, celsius = cluster.opp(khz).uv / 1e6, platform.temperature_c
    hertz = khz * 1e3
    counts = {
        event: kernel.ipc[khz] * hertz * each
        for event, each in kernel.events.items()
        if event != CYCLE
    }
    dynamic = power.dynamic_w({CYCLE: hertz} | counts, 1.0, volts)
    leakage = power.level.leakage_w("Core", volts, celsius) * len(cluster.cpus)
    shared = power.level.shared_w(khz / 1e3, volts, celsius)
    return busy * dynamic + leakage + sum(shared.values())


def points_of(
    platform: Platform, activity: Activity, data: Measurements
) -> tuple[ClusterPoint, ...]:
    """Every measured row of the workloads.

    :raises RequestError: as `kernels_of`.
    """
    cluster = platform.cluster(CLUSTER)
    kernels = kernels_of(platform, activity)
    points = [
        _point(
            platform,
            cluster=cluster,
            kernel=kernels[kernel],
            workload=workload,
            data=data,
            row=int(row),
        )
        for kernel, workloads in STANDS_FOR.items()
        for workload in workloads
        for row in np.flatnonzero(data.workload == workload)
    ]
    return tuple(sorted(points, key=lambda point: (point.workload, point.khz, point.copies)))


def record_of(
    platform: Platform, points: Sequence[ClusterPoint], data: Measurements, origin: Origin
) -> MeasuredCluster:
    """Means over the points."""
    kinds: dict[str, Callable[[ClusterPoint], str]] = {
        "all": lambda _: "all",
        "workload": lambda point: f"{point.workload} ({point.kernel})",
        "MHz": lambda point: f"{point.khz / 1000:g}",
        "copies": lambda point: str(point.copies),
    }
    groups: dict[tuple[str, str], list[ClusterPoint]] = {}
    for by, name in kinds.items():
        for point in points:
            groups.setdefault((by, name(point)), []).append(point)
    return MeasuredCluster(
        origin=origin,
        platform=platform.name,
        cluster=CLUSTER,
        data=data.file,
        data_sha256=data.sha256,
        worst=max(points, key=lambda point: abs(point.percent)),
        groups=tuple(_group(by, name, group) for (by, name), group in groups.items()),
    )


def _group(by: str, name: str, points: Sequence[ClusterPoint]) -> ClusterGroup:
    """The means of ``points``."""
    errors = np.array([point.percent for point in points])
    return ClusterGroup(
        by=by,
        name=name,
        points=len(points),
        within_goal=int((np.abs(errors) <= GOAL_PERCENT).sum()),
        mean_absolute_percent=float(np.abs(errors).mean()),
        mean_percent=float(errors.mean()),
        measured_w=fmean(point.measured_w for point in points),
        modelled_w=fmean(point.modelled_w for point in points),
        measured_ipc=fmean(point.measured_ipc for point in points),
        kernel_ipc=fmean(point.kernel_ipc for point in points),
    )


def _point(
    platform: Platform,
    *,
    cluster: Cluster,
    kernel: KernelActivity,
    workload: str,
    data: Measurements,
    row: int,
) -> ClusterPoint:
    khz = round(data.megahertz[row] * 1000)
    busy = min(busy_cpus(data.rates, khz, row), float(len(cluster.cpus)))
    return ClusterPoint(
        kernel=kernel.kernel,
        workload=workload,
        khz=khz,
        copies=int(data.copies[row]),
        busy=busy,
        measured_ipc=float(data.rates["instructions"][row] / data.rates["cycles"][row]),
        kernel_ipc=kernel.ipc[khz],
        measured_w=float(data.watts[row]),
        modelled_w=cluster_w(platform, cluster, khz, kernel, busy),
    )


def busy_cpus(rates: Mapping[str, np.ndarray], khz: int, row: int) -> float:
    """CPUs that were busy on average: the cluster's cycles for each cycle of its clock."""
    return float(rates["cycles"][row] / (khz * 1e3))
