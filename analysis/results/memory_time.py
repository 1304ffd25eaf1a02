# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of mixtures that gem5 executed: ``results/memory-time.json``."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.results.origin import ResultRecord
from host.record import Record


@dataclass(frozen=True)
class ExecutedOpp(Record):
    """ns of an iteration at an OPP: as gem5 executed it, and as the engines take it."""

    khz: int
    executed_ns: float
    taken_ns: float

    @property
    def percent(self) -> float:
        """How much longer the engines take than gem5's cores took."""
        return 100 * (self.taken_ns / self.executed_ns - 1)


@dataclass(frozen=True)
class ExecutedMixture(Record):
    """One mixture on one cluster's core.

    :param share: of memory, on the platform's largest CPU at its top OPP.
    :param busy: iterations of the busy loop before each chain of misses.
    :param misses: dependent misses of a chain.
    """

    platform: str
    cluster: str
    core: str
    share: float
    busy: int
    misses: int
    opps: tuple[ExecutedOpp, ...]

    @property
    def worst(self) -> ExecutedOpp:
        """The OPP with the largest difference."""
        return max(self.opps, key=lambda opp: abs(opp.percent))


@dataclass(frozen=True)
class MemoryTime(ResultRecord):
    """All mixtures on all clusters."""

    mixtures: tuple[ExecutedMixture, ...]
