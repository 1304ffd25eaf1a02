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

from analysis.engine import billing_of
from analysis.records.cell import CellRecord
from analysis.records.mean import mean_result
from analysis.records.result import Result
from analysis.results.agreement import CellMeasure
from engines.records import HostRecord
from experiments.cell import Cell
from experiments.finished import derived_for
from experiments.runs import Run


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
    made = derived_for(cell, run)
    return CostedRun(made.result, made.cell, run.host, billing_of(made))


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


@dataclass(frozen=True)
class Value:
    """A measure's value; ``relative``: it differs by per cent, else by subtraction."""

    value: float
    relative: bool = False

    def difference(self, other: float) -> float | None:
        """The difference of ``other``; None for per cent of zero."""
        if not self.relative:
            return other - self.value
        return 100 * (other / self.value - 1) if self.value else None


def measures(result: Result) -> dict[str, Value]:
    """The compared measures of a run, by their names in tables."""
    values: dict[str, Value] = {}
    energy = result.energy_j
    for cluster, joules in energy.cluster.items():
        values[f"energy, {cluster} (mJ)"] = Value(1000 * joules, True)
    values["energy, total (mJ)"] = Value(1000 * energy.total, True)
    for cluster, shares in result.residency.items():
        for khz, share in shares.items():
            values[f"{cluster} at {int(khz) / 1000:g} MHz (%)"] = Value(100 * share)
    for cluster, rate in result.opp_transitions_per_s.items():
        values[f"OPP changes of {cluster} (1/s)"] = Value(rate, True)
    for cluster, rate in result.opp_requests_per_s.items():
        values[f"OPP requests of {cluster} (1/s)"] = Value(rate, True)
    for task, shares in result.run_share.items():
        first = next(iter(shares))
        values[f"{task} on {first} (%)"] = Value(100 * shares[first])
    for cluster, busy in result.cluster_busy.items():
        values[f"busiest CPU of {cluster} (%)"] = Value(100 * busy.max)
    values["migrations"] = Value(result.migrations)
    for task, times in result.latency_us.items():
        values[f"wake-up of {task}, p50 (us)"] = Value(times.p50)
        values[f"wake-up of {task}, p99 (us)"] = Value(times.p99)
    if result.missed_deadlines is not None:
        values["missed deadlines"] = Value(result.missed_deadlines)
    return values


def column_values(columns: Sequence[CostedRun], names: Sequence[str]) -> tuple[CellMeasure, ...]:
    """Every measure of the first column with the values and differences of the others."""
    known = [measures(run.result) for run in columns]
    rows = []
    for name, first in known[0].items():
        values = {
            column: by_name[name].value
            for column, by_name in zip(names, known, strict=True)
            if name in by_name
        }
        differences = {
            column: first.difference(value)
            for column, value in values.items()
            if column != names[0]
        }
        rows.append(CellMeasure(name, first.relative, values, differences))
    return tuple(rows)
