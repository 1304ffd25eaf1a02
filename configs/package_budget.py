# SPDX-License-Identifier: GPL-2.0-or-later
"""A package's power budget, as platform data: the more CPUs are on, the lower their frequency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from eascope.configs.cpunames import MAX_CPUS
from eascope.configs.source import cited
from eascope.host.keys import Place, key

MOST_KHZ = 10_000_000
_CPUS = "CPUs that are on, more in each step"
_KHZ = "kHz, less in each step, and every cluster has an OPP that is not above it"


class HasOpps(Protocol):
    """What of a cluster a budget is checked against."""

    @property
    def cpus(self) -> tuple[int, ...]:
        """Its CPUs."""

    @property
    def min_khz(self) -> int:
        """Frequency of its slowest OPP."""


@dataclass(frozen=True)
class BudgetStep:
    """While up to ``cpus`` are on, no CPU is granted more than ``max_khz``."""

    cpus: int = key("in force while up to so many are on; the last one has all", 1, MAX_CPUS, _CPUS)
    max_khz: int = key("no OPP above it is granted", 1, MOST_KHZ, _KHZ)


@dataclass(frozen=True)
class PackageBudget:
    """What the performance controller grants.

    A CPU is on unless it is in an idle state deeper than WFI.

    :param steps: more CPUs and less frequency from one to the next; the last one is for all CPUs.
    :param interval_us: how often the controller counts the CPUs that are on.
    """

    steps: tuple[BudgetStep, ...] = key("from few CPUs to all", count=(1, MAX_CPUS))
    interval_us: int = key("from one count of the CPUs to the next", 100, 1_000_000, "us")
    source: str = cited("steps")
    interval_source: str = cited("interval_us")

    def max_khz(self, cpus: int) -> int:
        """What is granted at most while so many CPUs are on."""
        return next(step.max_khz for step in self.steps if cpus <= step.cpus)


def check_budget(budget: PackageBudget, place: Place, clusters: Sequence[HasOpps]) -> None:
    """Refuse steps that do not descend, or are of other CPUs and OPPs than the platform's.

    :raises RequestError: one line with file, key, value and what is allowed.
    """
    least, most = 1, MOST_KHZ
    total = sum(len(cluster.cpus) for cluster in clusters)
    slowest = max(cluster.min_khz for cluster in clusters)
    rows = place.rows("steps")
    for row, step in zip(rows, budget.steps, strict=True):
        row.within("cpus", least, total, _CPUS)
        row.within("max_khz", slowest, most, _KHZ)
        least, most = step.cpus + 1, step.max_khz - 1
    if budget.steps[-1].cpus != total:
        raise rows[-1].error("cpus", f"{total} in the last step, all CPUs of the platform")
