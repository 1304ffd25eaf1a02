# SPDX-License-Identifier: GPL-2.0-or-later
"""A package's power budget, as platform data: the more CPUs are on, the lower their frequency."""

from __future__ import annotations

from dataclasses import dataclass

from eascope.configs.cpunames import MAX_CPUS
from eascope.configs.source import cited
from eascope.host.keys import key

MOST_KHZ = 10_000_000
CPUS_WORDS = "CPUs that are on, more in each step"
KHZ_WORDS = "kHz, less in each step, and every cluster has an OPP that is not above it"


@dataclass(frozen=True)
class BudgetStep:
    """While up to ``cpus`` are on, no CPU is granted more than ``max_khz``."""

    cpus: int = key(
        "in force while up to so many are on; the last one has all", 1, MAX_CPUS, CPUS_WORDS
    )
    max_khz: int = key("no OPP above it is granted", 1, MOST_KHZ, KHZ_WORDS)


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
