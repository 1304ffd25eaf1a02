# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m research.memory_time``: gem5 executes what the engines account as ``C/f + M``.

Mixtures of rt-app's busy loop and of dependent misses, on a CPU of each cluster at every OPP of
gem5's detailed cores, without an operating system.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from eascope.analysis.known.origin import RUNS, Origin
from eascope.configs.activity import Activity, at_measured_speeds, load_activity
from eascope.configs.platform import Cluster, Platform
from eascope.configs.platform_file import load_platform
from eascope.engines.gem5.provider import find_gem5, version
from eascope.engines.timing.mixture import Mixture, mixture
from eascope.experiments.characterisation.guest import Chain
from eascope.experiments.characterisation.measure import (
    KernelMeasurement,
    evaluate,
    request,
    run_kernels,
)
from eascope.host.proc import say
from eascope.host.version import eascope_version
from research.run import study_command, table

PLATFORMS = ("juno-r2", "pixel6")
#: Shares that are aimed at; busy iterations are whole, so what is executed is near them.
SHARES = (0.1, 0.3, 0.5)
#: Misses of a chain. A single miss may overlap with the busy iterations around it.
CHAINS = (16, 1)
#: Busy iterations of one measurement.
ITERATIONS = 240
COLUMNS = (
    "platform",
    "cluster",
    "core",
    "share",
    "busy",
    "misses",
    "khz",
    "executed_ns",
    "percent",
)


def measured(name: str) -> tuple[Platform, Activity]:
    """The platform with the busy loop's speeds on gem5's detailed cores."""
    platform = load_platform(name)
    return at_measured_speeds(platform, load_activity(platform))


def chains(platform: Platform, activity: Activity) -> list[Chain]:
    """The kernels that are executed, on every cluster the same."""
    kernels: dict[tuple[int, int], Chain] = {}
    for share in SHARES:
        mixed = mixture(platform, activity, share)
        for misses in CHAINS:
            busy = max(1, round(misses * mixed.busy / mixed.misses))
            name = f"mixture_{round(100 * share)}_{misses}"
            # Two shares may have the same whole parts.
            kernels.setdefault(
                (busy, misses), Chain(name, max(4, ITERATIONS // busy), busy, misses)
            )
    return list(kernels.values())


def taken(platform: Platform, activity: Activity, chain: Chain) -> Mixture:
    """The mixture by which the engines account a chain, whose parts are whole numbers.

    With the share ``s``, busy is ``1 - s (1 + k)`` and misses ``s q``, where both ``k`` and ``q``
    follow from any other share; their ratio is the chain's.
    """
    known = mixture(platform, activity, SHARES[0])
    slope, rate = (1 - known.busy) / known.memory, known.misses / known.memory
    return mixture(platform, activity, 1 / (slope + rate * chain.busy / chain.misses))


def execute(
    platform: Platform, cluster: Cluster, kernels: Sequence[Chain]
) -> list[KernelMeasurement]:
    """Every kernel at every OPP of ``cluster``.

    :raises EascopeError: when gem5 is missing or the run does not end as it should.
    """
    say(f"{platform.name}, {cluster.name}: {len(kernels)} mixtures at {len(cluster.opps)} OPPs")
    with tempfile.TemporaryDirectory(prefix="eascope-memory-time-") as name:
        asked = request(platform, cluster, kernels)
        rows, marks = run_kernels(asked, Path(name), cluster.name)
    return evaluate(cluster, rows, marks, [kernel.name for kernel in kernels])


def rows_of(
    platform: Platform,
    activity: Activity,
    kernels: Sequence[Chain],
    measured: Mapping[str, Sequence[KernelMeasurement]],
) -> list[list[Any]]:
    """Time of an iteration as executed, and how much longer the engines take, in percent."""
    rows = []
    for kernel in kernels:
        mixed = taken(platform, activity, kernel)
        for cluster in platform.clusters:
            for point in reversed(measured[cluster.name]):
                if point.kernel == kernel.name:
                    ns = iteration_ns(point, kernel, mixed.busy)
                    percent = 100 * (mixed.iteration_ns(cluster, point.khz) / ns - 1)
                    head = (platform.name, cluster.name, cluster.core.name, mixed.memory)
                    rows.append([*head, kernel.busy, kernel.misses, point.khz, ns, percent])
    return rows


def iteration_ns(point: KernelMeasurement, kernel: Chain, busy: float) -> float:
    """Time of an iteration in ns, which has ``busy`` iterations of the busy loop."""
    ns = point.instructions / point.ipc / point.khz * 1e6
    return ns * busy / (kernel.rounds * kernel.busy)


def record_of(command: str) -> dict[str, Any]:
    """The record of all mixtures, which are executed."""
    versions = {"gem5": version(find_gem5()), "eascope": eascope_version()}
    rows: list[list[Any]] = []
    for name in PLATFORMS:
        platform, activity = measured(name)
        kernels = chains(platform, activity)
        with ThreadPoolExecutor(2) as pool:
            points = pool.map(
                lambda cluster, of=platform, some=kernels: execute(of, cluster, some),
                platform.clusters,
            )
            names = [cluster.name for cluster in platform.clusters]
            by_cluster = dict(zip(names, points, strict=True))
        rows += rows_of(platform, activity, kernels, by_cluster)
    origin = Origin(command, RUNS, versions)
    return {"origins": [origin.encode()], "mixtures": table(COLUMNS, rows)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute the mixtures and write the record."""
    return study_command("memory_time", record_of, arguments)


if __name__ == "__main__":
    sys.exit(main())
