# SPDX-License-Identifier: GPL-2.0-or-later
"""Was the choice right? EAS's decisions by the energies that its candidates would have taken.

For each candidate CPU the kernel has an estimate, by the powers that it is given. Here the same
state has an energy by the power model that the run's energies come from: the domain's busy time
with and without the task, at the OPP that its highest utilization asks for, times what a busy CPU
draws more than an idle one there. It lasts until the thread's next decision. So a wrong model (the
kernel's estimate is least on a CPU that takes more) is apart from another rule (the kernel chose a
CPU whose estimate is not least). Shared parts, idle states' own transitions and CPUs that were not
compared are left out; how often a whole cluster was not compared is counted. Where a cluster's
power depends on another's clock, it is the least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    """A decision: ``cpu`` was chosen of ``options``, and ``ns`` passed until the thread's next."""

    ns: int
    cpu: int
    options: tuple[Option, ...]


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
    """

    decisions: int = 0
    least: int = 0
    model: int = 0
    model_mj: float = 0.0
    rule: int = 0
    rule_mj: float = 0.0
    partly: int = 0
    outside: int = 0


def judge(choices: Iterable[Choice], clusters: Mapping[int, int]) -> Judged:
    """The sums over ``choices``.

    :param clusters: a CPU's cluster.
    """
    decisions = least = model = rule = partly = outside = 0
    model_mj = rule_mj = 0.0
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
        partly += {clusters[each.cpu] for each in choice.options} != every
    return Judged(decisions, least, model, model_mj, rule, rule_mj, partly, outside)


def _at_most(uw: float) -> float:
    return uw * _EQUAL if uw > 0 else uw / _EQUAL


class Domain:
    """A cluster's OPPs: capacity, the kernel's cost and the power of busy CPUs at each."""

    def __init__(self, machine: Machine, cluster: Cluster, told_uw: Mapping[str, int]) -> None:
        khz = [opp.khz for opp in cluster.opps]
        told = [told_uw[str(each)] for each in khz]
        known = capacities_of(machine.platform, cluster)
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
    made: list[tuple[int, int, int, tuple[Option, ...]]] = []
    if kernels_own(run.cell):
        columns = ("t_ns", "pid", "dst_cpu", "candidates")
        for t_ns, pid, cpu, text in trace.table(DECISION_EVENT).select(columns).iter_rows():
            compared = candidates(text)
            fits = next((each.fits or 0 for each in compared if each.cpu == cpu), 0)
            made.append(
                (
                    *(t_ns, pid, cpu),
                    tuple(
                        Option(
                            each.cpu,
                            each.energy,
                            powers[each.cpu].of_cost_uw(each.cost, each.energy),
                        )
                        for each in compared
                        if (each.fits or 0) >= fits and each.cost
                    ),
                )
            )
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
            made.append((each.t_ns, each.pid, each.dst_cpu, options))
    ends: dict[int, int] = {}
    found = []
    start = window.t0_ns - window.offset_ns
    for t_ns, pid, cpu, options in reversed(made):
        at = t_ns - start
        if 0 <= at < window.ns:
            found.append(Choice(ends.get(pid, window.ns) - at, cpu, options))
        ends[pid] = min(max(at, 0), window.ns)
    return found[::-1]


def table(judged: Mapping[str, Judged]) -> Table:
    """A line for each variant."""
    rows = []
    for variant, each in judged.items():
        shares = [
            f"{count / each.decisions:.0%}" if each.decisions else "-"
            for count in (each.least, each.model, each.rule, each.partly)
        ]
        least, model, rule, partly = shares
        costs = (f"{each.model_mj:.2f}", f"{each.rule_mj:.2f}")
        rows.append([variant, str(each.decisions), least, model, costs[0], rule, costs[1], partly])
    columns = (
        *(Column("variant", "left"), Column("decisions"), Column("least energy")),
        *(Column("model errs"), Column("mJ"), Column("other rule"), Column("mJ")),
        Column("cluster left out"),
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
