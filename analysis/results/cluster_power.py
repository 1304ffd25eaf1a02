# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of a cluster's measured and modelled power: ``results/cluster-power.json``."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.results.origin import ResultRecord
from host.record import Record


@dataclass(frozen=True)
class ClusterPoint(Record):
    """A measured workload at an OPP, and the power billed for its workload kernel.

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
        """Error of the model, in per cent of the measured power."""
        return 100 * (self.modelled_w / self.measured_w - 1)


@dataclass(frozen=True)
class ClusterGroup(Record):
    """Means over points that share a property.

    :param by: the property: ``all``, ``workload``, ``MHz`` or ``copies``.
    :param mean_absolute_percent: mean of the errors without their signs.
    :param mean_percent: mean of the errors.
    :param within_goal: points whose error is within the goal.
    """

    by: str
    name: str
    points: int
    within_goal: int
    mean_absolute_percent: float
    mean_percent: float
    measured_w: float
    modelled_w: float
    measured_ipc: float
    kernel_ipc: float


@dataclass(frozen=True)
class MeasuredCluster(ResultRecord):
    """One cluster: all points together, and by workload, frequency and number of copies.

    The data set itself is not ours, so the record has means, and only the worst of single points.

    :param data: the data set and its digest.
    """

    platform: str
    cluster: str
    data: str
    data_sha256: str
    worst: ClusterPoint
    groups: tuple[ClusterGroup, ...]
