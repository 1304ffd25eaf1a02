# SPDX-License-Identifier: GPL-2.0-or-later
"""Was the choice right? EAS's decisions by the energies that its candidates would have taken.

For each candidate CPU the kernel has an estimate, by the powers that it is given. Here the same
state has an energy by the power model that the run's energies come from: the domain's busy time
with and without the task, at the OPP that its highest utilization asks for, times what a busy CPU
draws more than an idle one there. It lasts until the thread's next decision. So a wrong model (the
kernel's estimate is least on a CPU that takes more) is apart from another rule (the kernel chose a
CPU whose estimate is not least), and from a search that did not look at a better CPU. Of a cluster
without a candidate, a CPU counts that was idle, that the thread may use and that has room for it,
at the cluster's clock or the OPP that the thread alone asks for. That is the least that it would
have taken there, so the search's part is the most that it can be. Shared parts and idle states' own
transitions are left out. Where a cluster's power depends on another's clock, it is the least.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import polars as pl

from eascope.analysis.decisions import candidates, kernels_own, recorded
from eascope.analysis.derive import Derived
from eascope.analysis.energies import Load, computed_decisions
from eascope.analysis.trace import DECISION_EVENT, read_trace
from eascope.analysis.window import read_window
from eascope.configs.platform import Cluster
from eascope.engines.records import MARKS, TRACE
from eascope.host.table import Column, Table
from eascope.power.em import capacities_of, inefficient

if TYPE_CHECKING:
    from eascope.analysis.bound import Machine

#: 1 uW for 1 ns.
_MJ = 1e-12
#: Of schedutil and of what fits: a CPU's capacity against the utilization on it.
_HEADROOM = 1.25
#: Energies that differ by less are equal: one part in a million.
_EQUAL = 1 + 1e-6


@dataclass(frozen=True)
class Option:
    """A candidate: the estimate in the kernel's unit, and the power that it adds in uW."""

    cpu: int
    estimate: float
    added_uw: float


@dataclass(frozen=True)
class Choice:
    """A decision: ``cpu`` was chosen of ``options``, and ``ns`` passed until the thread's next.

    :param missed_uw: the least power that the thread adds to a cluster without a candidate; None:
        there is none that has room.
    """

    ns: int
    cpu: int
    options: tuple[Option, ...]
    missed_uw: float | None = None


@dataclass(frozen=True)
class Judged:
    """What choices cost: numbers of decisions, energies in mJ.

    :param least: those that took the CPU with the least energy.
    :param model: those in which the estimate is least on another CPU than the energy.
    :param model_mj: energy of the CPU with the least estimate, less the least energy.
    :param rule: those that took another CPU than that with the least estimate.
    :param rule_mj: energy of the chosen CPU, less that of the CPU with the least estimate; below 0
        where a rule mends what the model has wrong.
    :param partly: those in which a cluster had no candidate.
    :param outside: those without a comparison, or that took a CPU that was no candidate; in no
        other number.
    :param search: those in which a CPU takes less that was no candidate.
    :param search_mj: the least energy of a candidate, less that of this CPU.
    """

    decisions: int = 0
    least: int = 0
    model: int = 0
    model_mj: float = 0.0
    rule: int = 0
    rule_mj: float = 0.0
    partly: int = 0
    outside: int = 0
    search: int = 0
    search_mj: float = 0.0


def judge(choices: Iterable[Choice], clusters: Mapping[int, int]) -> Judged:
    """The sums over ``choices``.

    :param clusters: a CPU's cluster.
    """
    decisions = least = model = rule = partly = outside = search = 0
    model_mj = rule_mj = search_mj = 0.0
    every = {*clusters.values()}
    for choice in choices:
        chosen = [each for each in choice.options if each.cpu == choice.cpu]
        if not chosen:
            outside += 1
            continue
        least_uw = min(each.added_uw for each in choice.options)
        estimate = min(each.estimate for each in choice.options)
        # Of equal estimates the chosen one, else the best: a tie is no error of the model.
        equal = [each for each in choice.options if each.estimate == estimate]
        wanted = min(equal, key=lambda each: (each.cpu != choice.cpu, each.added_uw))
        decisions += 1
        least += chosen[0].added_uw <= _at_most(least_uw)
        model += wanted.added_uw > _at_most(least_uw)
        model_mj += (wanted.added_uw - least_uw) * choice.ns * _MJ
        rule += chosen[0].estimate != estimate
        rule_mj += (chosen[0].added_uw - wanted.added_uw) * choice.ns * _MJ
        if choice.missed_uw is not None:
            search += least_uw > _at_most(choice.missed_uw)
            search_mj += max(0.0, least_uw - choice.missed_uw) * choice.ns * _MJ
        partly += {clusters[each.cpu] for each in choice.options} != every
    counts = (decisions, least, model, model_mj, rule, rule_mj, partly, outside)
    return Judged(*counts, search, search_mj)


def _at_most(uw: float) -> float:
    return uw * _EQUAL if uw > 0 else uw / _EQUAL


class Domain:
    """A cluster's OPPs: capacity, the kernel's cost and the power of busy CPUs at each."""

    def __init__(self, machine: Machine, cluster: Cluster, told_uw: Mapping[str, int]) -> None:
        khz = [opp.khz for opp in cluster.opps]
        told = [told_uw[str(each)] for each in khz]
        known = capacities_of(machine.platform, cluster)
        self._capacity, self._max_khz = known[-1], khz[-1]
        skipped = inefficient(khz, told, known)
        self._opps = [
            (capacity, uw * 10 / capacity, machine.busy_uw(cluster, each))
            for each, uw, skip in zip(khz, told, skipped, strict=True)
            if not skip and (capacity := known[-1] * each // khz[-1])
        ]

    def uw(self, load: Load) -> float:
        """Power of so much busy time at the OPP that suffices, as em_cpu_energy() chooses it."""
        capacity, _, busy = next((opp for opp in self._opps if opp[0] >= load.most), self._opps[-1])
        return busy * load.busy / capacity

    def alone_uw(self, khz: int, util: float) -> float | None:
        """Power that ``util`` adds at a clock, or at the OPP that it asks for; None: no room."""
        wanted = util * _HEADROOM
        if wanted > self._capacity:
            return None
        most = max(wanted, self._capacity * khz // self._max_khz)
        return self.uw(Load(ceil(most), 1)) * util

    def of_cost_uw(self, cost: float, energy: float) -> float:
        """Power of an estimate ``energy`` at the OPP of this cost of a unit of utilization."""
        capacity, _, busy = min(self._opps, key=lambda opp: abs(opp[1] - cost))
        return busy * (energy / cost) / capacity


def domains(machine: Machine, told_uw: Mapping[str, Mapping[str, int]]) -> dict[int, Domain]:
    """Each CPU's domain.

    :param told_uw: by cluster and kHz, what the kernel is told of a busy CPU.
    """
    return {
        cpu: domain
        for cluster in machine.platform.clusters
        for domain in [Domain(machine, cluster, told_uw[cluster.name])]
        for cpu in cluster.cpus
    }


def choices(run: Derived, machine: Machine) -> list[Choice]:
    """The decisions of a run that recorded them, in its window.

    :raises TraceError: an event that cannot be parsed.
    """
    powers = domains(machine, run.cell.energy_model.opp_microwatt)
    window = read_window(run.run / MARKS)
    trace = read_trace(run.run / TRACE)
    state = _State(run, machine, powers)
    made: list[tuple[int, int, int, tuple[Option, ...], float | None]] = []
    offset = window.offset_ns
    if kernels_own(run.cell):
        columns = ("t_ns", "pid", "dst_cpu", "candidates")
        for t_ns, pid, cpu, text in trace.table(DECISION_EVENT).select(columns).iter_rows():
            compared = candidates(text)
            fits = next((each.fits or 0 for each in compared if each.cpu == cpu), 0)
            priced = [(each, each.cost) for each in compared if each.cost]
            options = tuple(
                Option(each.cpu, each.energy, powers[each.cpu].of_cost_uw(cost, each.energy))
                for each, cost in priced
                if (each.fits or 0) >= fits
            )
            utils = [each.energy / cost for each, cost in priced]
            seen = [each.cpu for each in compared]
            missed = state.missed_uw(t_ns + offset, pid, seen, utils)
            made.append((t_ns, pid, cpu, options, missed))
    else:
        for each in computed_decisions(trace):
            options = tuple(
                Option(
                    *(cpu, each.energies[cpu]),
                    powers[cpu].uw(together) - powers[cpu].uw(alone),
                )
                for cpu, (alone, together) in each.loads.items()
                # Utilization fell meanwhile: the kernel compares no more, and keeps the CPU.
                if min(each.energies.values()) >= 0
            )
            utils = [together.busy - alone.busy for alone, together in each.loads.values()]
            missed = state.missed_uw(each.t_ns + offset, each.pid, [*each.loads], utils)
            made.append((each.t_ns, each.pid, each.dst_cpu, options, missed))
    ends: dict[int, int] = {}
    found = []
    start = window.t0_ns - offset
    for t_ns, pid, cpu, options, missed in reversed(made):
        at = t_ns - start
        if 0 <= at < window.ns:
            found.append(Choice(ends.get(pid, window.ns) - at, cpu, options, missed))
        ends[pid] = min(max(at, 0), window.ns)
    return found[::-1]


class _State:
    """Which CPUs are idle at a time, their clocks, and which of them a thread may use."""

    def __init__(self, run: Derived, machine: Machine, powers: Mapping[int, Domain]) -> None:
        self._powers, self._clusters = powers, machine.platform.clusters
        slices = run.table("slices").sort("t0_ns")
        self._ran = {
            cpu: slices.filter(pl.col("cpu") == cpu)
            .select("t0_ns", "t1_ns")
            .to_dict(as_series=False)
            for cpu in machine.platform.cpus
        }
        clocks = run.table("frequency").sort("t0_ns")
        self._clocks = {
            each.index: clocks.filter(pl.col("cluster") == each.index)
            .select("t0_ns", "khz")
            .to_dict(as_series=False)
            for each in self._clusters
        }
        allowed = {name: task.cpus for task in run.cell.tasks for name in task.threads}
        # Of a thread of no task it is known where it has been.
        self._may: dict[int, set[int]] = defaultdict(set)
        for pid, thread, cpu in slices.select("pid", "thread", "cpu").unique().iter_rows():
            cpus = allowed.get(thread, (cpu,))
            self._may[pid] |= {*(machine.platform.cpus if cpus is None else cpus)}

    def missed_uw(
        self, t_ns: int, pid: int, seen: Sequence[int], utils: Sequence[float]
    ) -> float | None:
        """The least power that a thread adds to a cluster of which no CPU was ``seen``.

        :param utils: what it adds to CPUs; their loads are read one after the other, so one may be
            at most 0, and tells nothing.
        """
        util = min((each for each in utils if each > 0), default=None)
        if util is None:
            return None
        powers = [
            uw
            for cluster in self._clusters
            if not {*seen} & {*cluster.cpus}
            for cpu in cluster.cpus
            if cpu in self._may[pid] and self._idle(cpu, t_ns)
            for uw in [self._powers[cpu].alone_uw(self._khz(cluster.index, t_ns), util)]
            if uw is not None
        ]
        return min(powers, default=None)

    def _idle(self, cpu: int, t_ns: int) -> bool:
        ran = self._ran[cpu]
        place = bisect_right(ran["t0_ns"], t_ns) - 1
        return place < 0 or ran["t1_ns"][place] <= t_ns

    def _khz(self, cluster: int, t_ns: int) -> int:
        clocks = self._clocks[cluster]
        return int(clocks["khz"][max(bisect_right(clocks["t0_ns"], t_ns) - 1, 0)])


def table(judged: Mapping[str, Judged]) -> Table:
    """A line for each variant."""
    rows = []
    for variant, each in judged.items():
        least, model, rule, search = (
            f"{count / each.decisions:.0%}" if each.decisions else "-"
            for count in (each.least, each.model, each.rule, each.search)
        )
        costs = (f"{mj:.2f}" for mj in (each.model_mj, each.rule_mj, each.search_mj))
        parts = zip((model, rule, search), costs, strict=True)
        flat = (cell for part in parts for cell in part)
        rows.append([variant, str(each.decisions), least, *flat])
    columns = (
        *(Column("variant", "left"), Column("decisions"), Column("right")),
        *(Column("model errs"), Column("mJ"), Column("other rule"), Column("mJ")),
        *(Column("search errs"), Column("mJ")),
    )
    return Table(columns, tuple(rows))


def of_first_runs(
    variants: Mapping[str, Sequence[Derived]], machine: Callable[[], Machine]
) -> dict[str, Judged]:
    """`Judged` of the first run of each variant, where it recorded decisions."""
    firsts = {name: runs[0] for name, runs in variants.items() if recorded(runs[0].cell)}
    if not firsts:
        return {}
    powers = machine()
    clusters = {cpu: each.index for each in powers.platform.clusters for cpu in each.cpus}
    return {name: judge(choices(run, powers), clusters) for name, run in firsts.items()}


def text(judged: Mapping[str, Judged]) -> str:
    """`table` for a terminal; empty when nothing was recorded."""
    some = {name: each for name, each in judged.items() if each.decisions}
    if not some:
        return ""
    head = "was the choice right, by the power model (busy CPUs alone), first seed"
    return f"{head}\n{table(some).text()}\n"
