# SPDX-License-Identifier: GPL-2.0-or-later
"""The least energy by which a machine can do a load's work: a linear program over its states.

In its window a cluster is off, or on at an OPP with some CPUs busy. Chosen are the time of each
state and the time that each task runs on each CPU at each OPP, so that

* every task's work is done, by the speed that the task has there,
* a thread runs on one CPU at a time, on those that it may use,
* a busy CPU keeps its cluster on at its OPP, and a busy cluster the chip.

A CPU that is not busy draws what it draws least. Nothing is spent on ways into and out of idle
states, on changes of OPP, on migrations or on the kernel's own work, and jobs may be done at any
time of the window. All of that costs more or the same, so no run of the load takes less by the same
power model. With each thread on one CPU the bound is that of a placement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from eascope.configs.activity import Activity
from eascope.configs.platform import Cluster, Platform
from eascope.engines.timing.mixture import mixture
from eascope.power.model import SHARED_PART, Interval, PowerModel

#: The length of intervals whose energies give powers: 1 uW for 1 s is 1e9 fJ.
SECOND_NS = 10**9
UJ_PER_J = 1e6


@dataclass(frozen=True)
class Load:
    """Threads of a task and what they do together.

    :param work_s: in s of the largest CPU at its top OPP.
    :param cpus: those on which they may run.
    """

    threads: int
    work_s: float
    cpus: tuple[int, ...]
    memory: float = 0.0


@dataclass(frozen=True)
class State:
    """A cluster's OPP: how long it is on there, and its CPUs' busy time."""

    cluster: str
    khz: int
    on_s: float
    busy_s: float


@dataclass(frozen=True)
class Floor:
    """The least energy in J, and the states by which it is reached."""

    energy_j: float
    states: tuple[State, ...]


@dataclass(frozen=True)
class _Powers:
    """Least powers in uW at an OPP; ``idle`` is a CPU's, ``on`` the shared part's."""

    active: float
    idle: float
    on: float
    off: float


class Machine:
    """A platform with powers and speeds; `floor` gives the least energy of loads."""

    def __init__(self, platform: Platform, activity: Activity, model: PowerModel) -> None:
        self.platform, self._activity = platform, activity
        beside = {None: None} | {
            vote[1]: None
            for cluster in platform.clusters
            for opp in cluster.opps
            if (vote := model.vote(cluster, opp.khz)) is not None
        }
        self._powers = {
            (cluster.index, opp.khz): _powers(model, cluster, opp.khz, [*beside])
            for cluster in platform.clusters
            for opp in cluster.opps
        }
        self._chip = [
            sum(model.chip_fj(*times).values()) / SECOND_NS
            for times in ((SECOND_NS, 0), (0, SECOND_NS))
        ]

    def busy_uw(self, cluster: Cluster, khz: int) -> float:
        """What a busy CPU draws more than an idle one, in uW, without shared parts."""
        powers = self._powers[cluster.index, khz]
        return powers.active - powers.idle

    def _speeds(self, memory: float) -> dict[tuple[int, int], float]:
        """By cluster and kHz the speed of a task, the largest CPU's at its top OPP being 1."""
        mixed, largest = mixture(self.platform, self._activity, memory), self.platform.largest
        top_ns = mixed.iteration_ns(largest, largest.max_khz)
        return {
            (cluster.index, opp.khz): top_ns / mixed.iteration_ns(cluster, opp.khz)
            for cluster in self.platform.clusters
            for opp in cluster.opps
        }

    def floor(
        self, loads: Sequence[Load], window_s: float, *, may_end: bool = False
    ) -> Floor | None:
        """The least energy in ``window_s``; None where the machine cannot do the work in it.

        :param may_end: whether the window may end earlier, once the work is done.
        """
        program = _Program()
        opps = [(cluster, opp.khz) for cluster in self.platform.clusters for opp in cluster.opps]
        off = {
            cluster.index: len(cluster.cpus) * min(self._at(cluster, "idle"))
            + min(self._at(cluster, "off"))
            for cluster in self.platform.clusters
        }
        window = program.variable(
            sum(off.values()) + self._chip[1], window_s, least=0.0 if may_end else window_s
        )
        chip = program.variable(self._chip[0] - self._chip[1], window_s)
        on: dict[tuple[int, int], int] = {}
        busy: dict[tuple[int, int], int] = {}
        for cluster, khz in opps:
            powers = self._powers[cluster.index, khz]
            more = powers.on + len(cluster.cpus) * powers.idle - off[cluster.index]
            on[cluster.index, khz] = program.variable(more, window_s)
            for cpu in cluster.cpus:
                busy[cpu, khz] = program.variable(powers.active - powers.idle, window_s)
                program.at_most({busy[cpu, khz]: 1, on[cluster.index, khz]: -1}, 0)
        for cluster in self.platform.clusters:
            together = {on[cluster.index, opp.khz]: 1.0 for opp in cluster.opps}
            program.at_most({**together, window: -1}, 0)
            program.at_most({**together, chip: -1}, 0)
        ran: dict[int, dict[int, float]] = {variable: {} for variable in busy.values()}
        for load in loads:
            speeds = self._speeds(load.memory)
            does: dict[int, float] = {}
            takes: dict[int, float] = {}
            for cluster, khz in opps:
                mine = [cpu for cpu in cluster.cpus if cpu in load.cpus]
                together = {}
                for cpu in mine:
                    runs = program.variable(0, window_s * load.threads)
                    ran[busy[cpu, khz]][runs] = 1.0
                    does[runs], takes[runs] = -speeds[cluster.index, khz], 1.0
                    together[runs] = 1.0
                if load.threads < len(mine):
                    program.at_most({**together, on[cluster.index, khz]: -load.threads}, 0)
            program.at_most(does, -load.work_s)
            program.at_most({**takes, window: -load.threads}, 0)
        for variable, parts in ran.items():
            program.at_most({**parts, variable: -1}, 0)
        solved = program.solved()
        if solved is None:
            return None
        least, times = solved
        states = [
            State(
                cluster.name,
                khz,
                times[on[cluster.index, khz]],
                sum(times[busy[cpu, khz]] for cpu in cluster.cpus),
            )
            for cluster, khz in opps
        ]
        return Floor(
            least / UJ_PER_J, tuple(state for state in states if state.busy_s > window_s / 1e6)
        )

    def _at(self, cluster: Cluster, name: str) -> list[float]:
        """A power at each OPP of ``cluster``."""
        return [getattr(self._powers[cluster.index, opp.khz], name) for opp in cluster.opps]


def _powers(model: PowerModel, cluster: Cluster, khz: int, beside: Sequence[object]) -> _Powers:
    def least(*choices: Interval) -> float:
        energies = (model.interval_fj(cluster, interval).values() for interval in choices)
        return min(map(sum, energies)) / SECOND_NS

    def each(cpu: int, active_ns: int, idle_ns: tuple[int, ...]) -> list[Interval]:
        return [
            Interval(cpu, 0, SECOND_NS, khz, active_ns, idle_ns=idle_ns, beside=key)
            for key in (beside if model.depends(cluster) else [None])
        ]

    states = range(len(cluster.idle_states))
    idle = [tuple(SECOND_NS * (state == at) for at in states) for state in states]
    return _Powers(
        active=least(*each(cluster.cpus[0], SECOND_NS, ())),
        idle=least(*(one for ns in idle for one in each(cluster.cpus[0], 0, ns))),
        on=least(*each(SHARED_PART, SECOND_NS, ())),
        off=least(*each(SHARED_PART, 0, (SECOND_NS,))),
    )


class _Program:
    """A linear program in variables of seconds: least cost within upper bounds."""

    def __init__(self) -> None:
        self._costs: list[float] = []
        self._bounds: list[tuple[float, float]] = []
        self._rows: list[tuple[dict[int, float], float]] = []

    def variable(self, cost: float, most: float, least: float = 0.0) -> int:
        """A new variable from ``least`` to ``most``; returns its number."""
        self._costs.append(cost)
        self._bounds.append((least, most))
        return len(self._costs) - 1

    def at_most(self, factors: dict[int, float], limit: float) -> None:
        """The sum of ``factors`` times variables is at most ``limit``."""
        self._rows.append((factors, limit))

    def solved(self) -> tuple[float, np.ndarray] | None:
        """The least cost and the variables; None where no values keep all limits."""
        entries = [
            (value, number, column)
            for number, (factors, _) in enumerate(self._rows)
            for column, value in factors.items()
        ]
        values, rows, columns = zip(*entries, strict=True)
        matrix = coo_matrix(
            (values, (rows, columns)), shape=(len(self._rows), len(self._costs))
        ).tocsr()
        limits = [limit for _, limit in self._rows]
        result = linprog(self._costs, matrix, limits, bounds=self._bounds, method="highs")
        return (result.fun, result.x) if result.status == 0 else None
