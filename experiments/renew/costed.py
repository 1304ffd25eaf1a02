# SPDX-License-Identifier: GPL-2.0-or-later
"""Derived runs with their costs, and their means, for comparisons of engines.

A seed shifts the starts of tasks by microseconds up to a tick, and may so decide where the kernel
places them. The effect of a seed is random, and differs between engines. So all seeds of an engine
are one sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from eascope.analysis.engine import billing_of
from eascope.analysis.records.cell import CellRecord
from eascope.analysis.records.result import Result, mean_result
from eascope.engines.records import HostRecord
from eascope.experiments.cell import Cell
from eascope.experiments.finished import derived_for
from eascope.experiments.runs import Run


@dataclass(frozen=True)
class CostedRun:
    """A derived run and its cost.

    :param billing: digest of the power model that its energy is computed with.
    """

    result: Result
    cell: CellRecord
    host: HostRecord
    billing: str = ""

    @property
    def host_s_per_s(self) -> float:
        """Processor seconds per simulated second; on gem5 of the window alone."""
        if not self.host.parts_cpu_s:
            return self.host.cpu_s / self.host.sim_s
        return self.host.parts_cpu_s["window"] / self.result.window_s

    @property
    def total_j(self) -> float:
        """Energy of the window in J."""
        return self.result.energy_j.total


def derive_costed(cell: Cell, run: Run) -> CostedRun:
    """``run`` of ``cell``, derived.

    :raises EascopeError: when the run is damaged.
    """
    derived = derived_for(cell, run)
    return CostedRun(derived.result, derived.cell, run.host, billing_of(derived))


#: One engine's runs of a cell, by seed.
BySeed = Mapping[int, CostedRun]
#: The runs of a cell by column, which is an engine in a mode; the first one is the base.
ByColumn = Mapping[str, BySeed]
#: All cells, by scenario and variant.
Cells = Mapping[tuple[str, str], ByColumn]


def mean(runs: BySeed) -> CostedRun:
    """The mean over seeds: results and costs, number by number."""
    every = list(runs.values())
    return CostedRun(
        mean_result([run.result for run in every]),
        every[0].cell,
        mean_host([run.host for run in every]),
        every[0].billing,
    )


def mean_host(hosts: Sequence[HostRecord]) -> HostRecord:
    """The mean cost of several runs of a cell."""

    def mean_parts(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
        return {name: fmean(part[name] for part in parts) for name in parts[0]}

    return replace(
        hosts[0],
        host_s=fmean(host.host_s for host in hosts),
        mips=fmean(host.mips for host in hosts),
        sim_s=fmean(host.sim_s for host in hosts),
        cpu_s=fmean(host.cpu_s for host in hosts),
        parts_s=mean_parts([host.parts_s for host in hosts]),
        parts_cpu_s=mean_parts([host.parts_cpu_s for host in hosts]),
    )


def residency_points(a: Result, b: Result) -> dict[str, float]:
    """Largest difference of an OPP's share of the window, by cluster."""
    return {
        cluster: max(abs(share - b.residency[cluster][khz]) for khz, share in shares.items())
        for cluster, shares in a.residency.items()
    }
