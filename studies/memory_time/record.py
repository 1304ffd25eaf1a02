# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of the mixtures that were executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.results.memory_time import ExecutedMixture, ExecutedOpp
from configs.activity import Activity
from configs.platform import Platform
from experiments.characterisation.guest import Chain
from experiments.characterisation.measure import KernelMeasurement
from studies.memory_time.plan import executed_share, taken


def mixtures(
    platform: Platform,
    activity: Activity,
    kernels: Sequence[Chain],
    measured: Mapping[str, Sequence[KernelMeasurement]],
) -> list[ExecutedMixture]:
    """The executed mixtures, by kernel and cluster, with the engines' times.

    :param measured: by cluster.
    """
    return [
        ExecutedMixture(
            platform=platform.name,
            cluster=cluster.name,
            core=cluster.core.name,
            share=executed_share(platform, activity, kernel),
            busy=kernel.busy,
            misses=kernel.misses,
            opps=tuple(
                ExecutedOpp(
                    khz=point.khz,
                    executed_ns=iteration_ns(point, kernel, taken(platform, activity, kernel).busy),
                    taken_ns=taken(platform, activity, kernel).turn_ns(cluster, point.khz),
                )
                for point in reversed(measured[cluster.name])
                if point.kernel == kernel.name
            ),
        )
        for kernel in kernels
        for cluster in platform.clusters
    ]


def iteration_ns(point: KernelMeasurement, kernel: Chain, busy: float) -> float:
    """Time of an iteration in ns, which has ``busy`` iterations of the busy loop."""
    ns = point.instructions / point.ipc / point.khz * 1e6
    return ns * busy / (kernel.rounds * kernel.busy)
