# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m research.power_validation``: powers of the models compared with measured watts.

It simulates nothing. It takes the activity that ``eascope characterise exynos5422`` measured, the
data set that ``EASCOPE_MEASUREMENTS`` names, and what `ANCHORS` has of other chips.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from eascope.analysis.known.origin import Origin
from eascope.configs.activity import Activity, KernelActivity, load_activity
from eascope.configs.platform import Cluster, Platform
from eascope.configs.platform_file import load_platform
from eascope.host.errors import RequestError
from eascope.host.strict import shown_path
from eascope.host.version import eascope_version
from eascope.power.counted import load_counted
from eascope.power.events import load_events
from eascope.power.level import level_cores, load_level
from eascope.power.mcpat import CYCLE, POWER_MODELS
from eascope.power.measurements import Measurements, load_measured
from research.run import study_command, table

PLATFORM, CLUSTER = "exynos5422", "big"
#: Workload kernels of ``eascope characterise``, and measured workloads that do the same thing. They
#: were chosen by their kind of work, before any power was modelled for them.
STANDS_FOR = {
    "integer": ("dhrystone", "cstm_int", "bitcount"),
    "floating_point": ("mp_whets", "neon_mul"),
    "memory": ("lat_mem_rd_200_256", "lat_mem_rd_200_8"),
}
#: Mean absolute error in per cent: what is aimed at, and what the literature has for this chip.
GOAL_PERCENT, LITERATURE_PERCENT = 15, 24
ANCHORS = POWER_MODELS / "anchors.toml"
#: Temperature at which leakage of chips without a thermometer in their table is taken, C.
TEMPERATURE_C = 57.0
GROUPS = (
    *("by", "name", "points", "within_goal", "mean_absolute_percent", "mean_percent"),
    *("measured_w", "modelled_w", "measured_ipc", "kernel_ipc"),
)


@dataclass(frozen=True)
class ClusterPoint:
    """A measured workload at an OPP, and the power billed for its workload kernel.

    :param copies: of the workload that ran at once.
    :param busy: CPUs that were busy on average, by the cycle counters.
    :param measured_ipc: instructions per cycle of the workload, by the counters.
    :param kernel_ipc: of the kernel on gem5's model of the core.
    """

    kernel: str
    workload: str
    khz: int
    copies: int
    busy: float
    measured_ipc: float
    kernel_ipc: float
    measured_w: float
    modelled_w: float

    @property
    def percent(self) -> float:
        """Error of the model, in per cent of the measured power."""
        return 100 * (self.modelled_w / self.measured_w - 1)


def kernels_of(platform: Platform, activity: Activity) -> dict[str, KernelActivity]:
    """The measurements of each workload kernel on the cluster's core.

    :raises RequestError: when the platform's cores were not characterised.
    """
    kernels = {entry.kernel: entry for entry in activity.measured if entry.cluster == CLUSTER}
    if not kernels.keys() >= STANDS_FOR.keys():
        raise RequestError(
            f"{shown_path(activity.path)}: measured is missing; run eascope characterise "
            f"{platform.name}"
        )
    return {name: kernels[name] for name in STANDS_FOR}


def cluster_w(
    platform: Platform, cluster: Cluster, khz: int, kernel: KernelActivity, busy: float
) -> float:
    """Power in W of ``cluster`` at ``khz`` with ``busy`` CPUs in ``kernel``, the others in WFI.

    As `power.derived.DerivedPower` bills it: counted events of the CPUs and their L2, a clock for
    each busy CPU, leakage of all, and the shared part, at the OPP's supply and the platform's
    temperature.
    """
    power = load_events(cluster.core.name)
    volts, celsius = cluster.opp(khz).uv / 1e6, platform.temperature_c
    hertz = khz * 1e3
    counts = {
        event: kernel.ipc[khz] * hertz * count
        for event, count in kernel.events.items()
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


def groups(points: Sequence[ClusterPoint]) -> list[list[Any]]:
    """Means over points that share a property: all, workload, frequency, number of copies."""
    kinds: dict[str, Callable[[ClusterPoint], str]] = {
        "all": lambda _: "all",
        "workload": lambda point: f"{point.workload} ({point.kernel})",
        "MHz": lambda point: f"{point.khz / 1000:g}",
        "copies": lambda point: str(point.copies),
    }
    by_name: dict[tuple[str, str], list[ClusterPoint]] = {}
    for by, name in kinds.items():
        for point in points:
            by_name.setdefault((by, name(point)), []).append(point)
    return [[*names, *_means(some)] for names, some in by_name.items()]


def _means(points: Sequence[ClusterPoint]) -> list[Any]:
    errors = np.array([point.percent for point in points])
    return [
        len(points),
        int((np.abs(errors) <= GOAL_PERCENT).sum()),
        float(np.abs(errors).mean()),
        float(errors.mean()),
        fmean(point.measured_w for point in points),
        fmean(point.modelled_w for point in points),
        fmean(point.measured_ipc for point in points),
        fmean(point.kernel_ipc for point in points),
    ]


def chips() -> list[list[Any]]:
    """Core, chip, MHz, V, measured and modelled mW of a busy CPU, and the error in percent.

    Chips whose supplies are unknown are left out.
    """
    rows: list[list[Any]] = []
    for core, entry in tomllib.loads(ANCHORS.read_text(encoding="utf-8")).items():
        measured = entry.get("measured")
        if measured is not None and core in level_cores() and measured.get("volts"):
            for (mhz, milliwatts), volts in zip(measured["points"], measured["volts"], strict=True):
                modelled = _dynamic_mw(core, mhz, volts)
                error = 100 * (modelled / milliwatts - 1)
                rows.append([core, measured["chip"], mhz, volts, milliwatts, modelled, error])
    return rows


def _dynamic_mw(core: str, mhz: int, volts: float) -> float:
    """Modelled power of one busy CPU without leakage, in mW."""
    parts = load_level(core).active_w(mhz, volts, TEMPERATURE_C)
    return 1e3 * sum(value for name, value in parts.items() if name != "leakage")


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
    # CPUs that were busy on average: the cluster's cycles for each cycle of its clock.
    busy = min(float(data.rates["cycles"][row] / (khz * 1e3)), float(len(cluster.cpus)))
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


def record_of(command: str) -> dict[str, Any]:
    """The record of the comparison."""
    platform = load_platform(PLATFORM)
    data = load_measured(load_counted(platform.cluster(CLUSTER).core.name))
    points = points_of(platform, load_activity(platform), data)
    worst = max(points, key=lambda point: abs(point.percent))
    versions = {"eascope": eascope_version()}
    return {
        "origins": [Origin(command, "measurements and activity", versions).encode()],
        "data": data.file,
        "data_sha256": data.sha256,
        "goal_percent": GOAL_PERCENT,
        "literature_percent": LITERATURE_PERCENT,
        "worst": {
            **{"workload": worst.workload, "mhz": worst.khz / 1000, "copies": worst.copies},
            "percent": worst.percent,
        },
        "cluster": table(GROUPS, groups(points)),
        "chips": table(
            ("core", "chip", "mhz", "volts", "measured_mw", "modelled_mw", "percent"), chips()
        ),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and write the record."""
    return study_command("power_validation", record_of, arguments)


if __name__ == "__main__":
    sys.exit(main())
