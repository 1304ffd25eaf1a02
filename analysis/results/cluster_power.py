# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of a cluster's measured and modelled power: ``results/cluster-power.json``."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.results.origin import ResultRecord
from host.record import Record


@dataclass(frozen=True)
class ClusterPoint(Record):
    """A measured workload at an OPP, and what the platform bills for the kernel that stands for it.

    :param kernel: of ``eascope characterise``.
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
        """Error of the model, in per cent of what was measured."""
        return 100 * (self.modelled_w / self.measured_w - 1)


@dataclass(frozen=True)
class ClusterPower(ResultRecord):
    """All points of one cluster.

    :param data: the data set and its digest.
    """

    platform: str
    cluster: str
    data: str
    data_sha256: str
    points: tuple[ClusterPoint, ...]
