# SPDX-License-Identifier: GPL-2.0-or-later
"""Derived runs with their costs, and their means, for comparisons of engines.

A seed shifts the starts of tasks by microseconds up to a tick, and may so decide where the kernel
places them. The effect of a seed is random, and differs between engines. So all seeds of an engine
are one sample.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from statistics import fmean

from eascope.analysis.engine import billing_of
from eascope.analysis.records.cell import CellRecord
from eascope.analysis.records.result import Result, mean_result
from eascope.engines.records import HostRecord
from eascope.experiments.runs.cell import Cell
from eascope.experiments.runs.finished import derived_for
from eascope.experiments.runs.store import Run


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
        """As `host_s_per_s`."""
        return host_s_per_s([self])

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


def mean(runs: BySeed) -> Result:
    """The mean result over seeds."""
    return mean_result([run.result for run in runs.values()])


def host_s_per_s(runs: Collection[CostedRun]) -> float:
    """Mean processor seconds per simulated second; on gem5 of the window alone."""
    if all(run.host.parts_cpu_s for run in runs):
        window_s = mean_result([run.result for run in runs]).window_s
        return fmean(run.host.parts_cpu_s["window"] for run in runs) / window_s
    return fmean(run.host.cpu_s for run in runs) / fmean(run.host.sim_s for run in runs)


def residency_points(a: Result, b: Result) -> dict[str, float]:
    """Largest difference of an OPP's share of the window, by cluster."""
    return {
        cluster: max(abs(share - b.residency[cluster][khz]) for khz, share in shares.items())
        for cluster, shares in a.residency.items()
    }
