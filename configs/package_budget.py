# SPDX-License-Identifier: GPL-2.0-or-later
"""A package's power budget, as platform data: the more CPUs are on, the lower their frequency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from eascope.configs.source import Sources
from eascope.host.strict import StrictTable


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

    cpus: int
    max_khz: int


@dataclass(frozen=True)
class PackageBudget:
    """What the performance controller grants.

    A CPU is on unless it is in an idle state deeper than WFI.

    :param steps: more CPUs and less frequency from one to the next; the last one is for all CPUs.
    :param interval_us: how often the controller counts the CPUs that are on.
    """

    steps: tuple[BudgetStep, ...]
    interval_us: int
    source: str
    interval_source: str

    def max_khz(self, cpus: int) -> int:
        """What is granted at most while so many CPUs are on."""
        return next(step.max_khz for step in self.steps if cpus <= step.cpus)


def read_package_budget(
    top: StrictTable, sources: Sources, clusters: Sequence[HasOpps]
) -> PackageBudget | None:
    """The table ``[package_budget]`` of a platform file, where it has one.

    :raises RequestError: one line with file, key, value and what is allowed.
    """
    if not top.has("package_budget"):
        return None
    table = top.table("package_budget")
    interval = table.integer("interval_us", 100, 1_000_000, "us")
    steps: list[BudgetStep] = []
    total = sum(len(cluster.cpus) for cluster in clusters)
    slowest = max(cluster.min_khz for cluster in clusters)
    for row in table.tables("steps", 1, total):
        least = steps[-1].cpus + 1 if steps else 1
        cpus = row.integer("cpus", least, total, "CPUs that are on, more in each step")
        most = steps[-1].max_khz - 1 if steps else 10_000_000
        words = "kHz, less in each step, and every cluster has an OPP that is not above it"
        steps.append(BudgetStep(cpus, row.integer("max_khz", slowest, most, words)))
        row.finish()
        last = row
    if steps[-1].cpus != total:
        raise last.error("cpus", f"{total} in the last step, all CPUs of the platform")
    budget = PackageBudget(
        tuple(steps), interval, sources.of(table, "source"), sources.of(table, "interval_source")
    )
    table.finish()
    return budget
