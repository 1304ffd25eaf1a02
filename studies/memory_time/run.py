# SPDX-License-Identifier: GPL-2.0-or-later
"""Executes the mixtures on a CPU of each cluster, without an operating system, in minutes."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from configs.platform import Cluster, Platform
from experiments.characterisation.guest import Chain
from experiments.characterisation.measure import KernelMeasurement, evaluate, request, run_kernels
from host.proc import say


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


def execute_all(platform: Platform, kernels: Sequence[Chain]) -> list[list[KernelMeasurement]]:
    """On every cluster, in the platform's order.

    :raises EascopeError: as `execute`.
    """
    with ThreadPoolExecutor(2) as pool:
        return list(
            pool.map(lambda cluster: execute(platform, cluster, kernels), platform.clusters)
        )
