# SPDX-License-Identifier: GPL-2.0-or-later
"""The best static placement of a load: every thread on one CPU, simulated by the real kernel.

Placements that differ only in which of equal threads, or which of equal CPUs, are folded into one.
They are run in the order of their floors (`analysis.bound`), so the search is complete once the
next floor is above the least energy that was found.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from statistics import fmean
from typing import Any

from eascope.analysis.bound import Floor, Load, Machine
from eascope.analysis.derive import Derived
from eascope.analysis.records.result import Result
from eascope.experiments.runs.finished import BilledBy, derived_for
from eascope.experiments.runs.measure import measured, seeded
from eascope.experiments.runs.pool import workers
from eascope.experiments.runs.request import Resolved
from eascope.experiments.scenario.model import Task
from eascope.host.errors import RequestError

#: By task the CPU of each thread.
Placement = tuple[tuple[int, ...], ...]

#: Placements beyond which the search is by local steps from `STARTS` random ones.
MOST_FOLDED = 2000
STARTS = 8
#: Of the work of each task that a placement must do, and of a window that ends with the tasks.
LEAST_WORK, LONGEST = 0.99, 1.01


@dataclass(frozen=True)
class Found:
    """What a search gave.

    :param best: the best placement and its runs by seed; None: none does the same work in time.
    :param folded: placements that there are; None: more than `MOST_FOLDED`.
    :param ran: placements that were run.
    :param complete: whether no other placement can take less (in the first seed).
    """

    best: tuple[Placement, list[Derived]] | None
    folded: int | None
    ran: int
    complete: bool


def allowed_cpus(resolved: Resolved) -> list[tuple[int, ...]]:
    """By task the CPUs on which its threads may run."""
    return [
        tuple(task.cpus or (task.group and task.group.cpus) or resolved.platform.cpus)
        for task in resolved.scenario.tasks
    ]


def loads_of(run: Derived, resolved: Resolved) -> list[Load]:
    """The load that ``run`` carried, for `Machine.floor`.

    A task's work is counted by its time, in which a kernel's own instructions are few but slow. So
    it is at most as much as loops of all instructions that were executed.
    """
    largest, table = resolved.platform.largest, run.table("intervals")
    top = 1e6 * resolved.activity.instructions_per_us(largest, largest.max_khz)
    known = "instructions" in table.columns
    counted: list[int] = table["instructions"].drop_nulls().to_list() if known else []
    work, tasks = run.result.task_work_s, {task.name: task for task in run.cell.tasks}
    whole, executed = sum(work.values()), sum(counted) / top
    part = min(1.0, executed / whole) if whole and counted else 1.0
    return [
        Load(len(tasks[task.name].threads), part * work.get(task.name, 0.0), cpus, task.memory)
        for task, cpus in zip(resolved.scenario.tasks, allowed_cpus(resolved), strict=True)
    ]


def floor_of(machine: Machine, loads: Sequence[Load], run: Derived) -> Floor | None:
    """The floor of ``loads`` in the window of ``run``, which may end with its tasks."""
    may_end = run.cell.window.window_ms is None
    return machine.floor(loads, run.result.window_s, may_end=may_end)


def check_loads(resolved: Resolved) -> None:
    """Refuse a load whose work is not that of busy loops.

    :raises RequestError: naming what it is.
    """
    scenario = resolved.scenario
    for wrong, what in (
        (scenario.programs, "programs, whose work has no speed by OPP"),
        (scenario.recording, "a recording's threads"),
        (scenario.rt_app, "an rt-app file: eascope scenario import writes it as a scenario"),
        (not scenario.tasks, "no task"),
    ):
        if wrong:
            raise RequestError(f"bound: {scenario.name} has {what}: allowed: tasks with busy loops")


def fixed(task: Task) -> str:
    """Why a task cannot be placed by its threads' affinity; empty: it can."""
    if task.start_cpus or any(phase.cpus for phase in task.phases):
        return f"task {task.name} changes its CPUs itself"
    if any(each.policy == "deadline" for each in task.all_attributes):
        return f"task {task.name} has SCHED_DEADLINE, which allows no affinity"
    return ""


def placed(resolved: Resolved, placement: Placement) -> Resolved:
    """``resolved`` with each thread on its CPU."""
    tasks = (
        replace(task, pinned=True, cpus=cpus)
        for task, cpus in zip(resolved.scenario.tasks, placement, strict=True)
    )
    return replace(resolved, scenario=replace(resolved.scenario, tasks=tuple(tasks)))


@dataclass(frozen=True)
class Search:
    """A search for the best placement of the load of ``reference``, seed 0 of a variant."""

    resolved: Resolved
    reference: Derived
    machine: Machine
    billed: BilledBy

    @cached_property
    def _loads(self) -> list[Load]:
        return loads_of(self.reference, self.resolved)

    @cached_property
    def _threads(self) -> list[tuple[int, tuple[int, ...]]]:
        """By task its number of threads and the CPUs that they may use."""
        tasks = zip(self.resolved.scenario.tasks, allowed_cpus(self.resolved), strict=True)
        return [(task.count, cpus) for task, cpus in tasks]

    def floor(self, placement: Placement) -> Floor | None:
        """The least energy of a placement that does the reference's work."""
        loads = [
            Load(own, own * load.work_s / load.threads, (cpu,), load.memory)
            for load, cpus in zip(self._loads, placement, strict=True)
            for cpu, own in Counter(cpus).items()
        ]
        return floor_of(self.machine, loads, self.reference)

    def classes(self) -> list[tuple[int, ...]]:
        """CPUs that are equal: of a cluster, and allowed to the same tasks."""
        equal: dict[object, list[int]] = {}
        for cluster in self.resolved.platform.clusters:
            for cpu in cluster.cpus:
                may = tuple(cpu in cpus for _, cpus in self._threads)
                equal.setdefault((cluster.index, may), []).append(cpu)
        return [tuple(cpus) for cpus in equal.values()]

    def folded(self) -> Iterator[Placement]:
        """Every placement but for equal threads and equal CPUs."""
        order = [(cpu, number) for number, cpus in enumerate(self.classes()) for cpu in cpus]

        def rest(
            at: int, left: tuple[int, ...], chosen: tuple[tuple[int, ...], ...]
        ) -> Iterator[Placement]:
            if at == len(order):
                if not any(left):
                    yield tuple(
                        tuple(
                            cpu
                            for (cpu, _), counts in zip(order, chosen, strict=True)
                            for _ in range(counts[task])
                        )
                        for task in range(len(left))
                    )
                return
            cpu, number = order[at]
            most = chosen[-1] if at and order[at - 1][1] == number else None
            for counts in _counts(left, [cpu in cpus for _, cpus in self._threads]):
                if most is None or counts <= most:
                    after = tuple(a - b for a, b in zip(left, counts, strict=True))
                    yield from rest(at + 1, after, (*chosen, counts))

        yield from rest(0, tuple(count for count, _ in self._threads), ())

    def local(self) -> dict[Placement, float]:
        """Placements on the way from random ones to local minima of the floor, in J."""
        draw, seen = random.Random(0), dict[Placement, float]()

        def energy(placement: Placement) -> float:
            if placement not in seen:
                floor = self.floor(placement)
                seen[placement] = floor.energy_j if floor else float("inf")
            return seen[placement]

        for _ in range(STARTS):
            here = tuple(
                tuple(sorted(draw.choices(cpus, k=count))) for count, cpus in self._threads
            )
            while (best := min(self._near(here), key=energy, default=here)) != here:
                if energy(best) >= energy(here):
                    break
                here = best
        return seen

    def _near(self, placement: Placement) -> Iterator[Placement]:
        """Placements with one thread elsewhere."""
        for number, (cpus, (_, may)) in enumerate(zip(placement, self._threads, strict=True)):
            for old in dict.fromkeys(cpus):
                for new in may:
                    if new != old:
                        moved = [*cpus]
                        moved[moved.index(old)] = new
                        yield (*placement[:number], tuple(sorted(moved)), *placement[number + 1 :])

    def same_work(self, run: Result) -> bool:
        """True if a run did the reference's work, and was late no more often."""
        ours = self.reference.result
        late = [each.late + each.skipped for each in (run.frames, ours.frames) if each]
        return (
            all(
                run.task_work_s[task] >= LEAST_WORK * work
                for task, work in ours.task_work_s.items()
            )
            and (run.missed_deadlines or 0) <= (ours.missed_deadlines or 0)
            and (len(late) < 2 or late[0] <= late[1])
            and run.window_s <= LONGEST * ours.window_s
        )

    def found(self, budget: int, seeds: int, progress: Callable[[str], None]) -> Found:
        """Run placements, ``budget`` of them at most, and the best one in every seed.

        :raises EascopeError: a run failed.
        """
        every = [*islice(self.folded(), MOST_FOLDED + 1)]
        whole = len(every) <= MOST_FOLDED
        progress(f"{len(every) if whole else f'more than {MOST_FOLDED}'} placements")
        if whole:
            floors = {each: floor.energy_j for each in every if (floor := self.floor(each))}
        else:
            floors = {each: least for each, least in self.local().items() if least < float("inf")}
        order = sorted(floors, key=lambda placement: (floors[placement], placement))
        ran: dict[Placement, float] = {}
        least, at = float("inf"), 0
        while at < min(len(order), budget) and floors[order[at]] < least:
            batch = order[at : min(at + workers(), budget)]
            runs = self._runs([placed(self.resolved, placement) for placement in batch])
            at += len(batch)
            for placement, run in zip(batch, runs, strict=True):
                if self.same_work(run.result):
                    ran[placement] = run.result.energy_j.total
            least = min(ran.values(), default=least)
        complete = whole and (at >= len(order) or floors[order[at]] >= least)
        count = len(every) if whole else None
        for placement in sorted(ran, key=lambda placement: ran[placement]):
            runs = self._runs(seeded([placed(self.resolved, placement)], seeds))
            return Found((placement, runs), count, at, complete)
        return Found(None, count, at, complete)

    def _runs(self, names: Sequence[Resolved]) -> list[Derived]:
        return measured(names, lambda cell, run: derived_for(cell, run, self.billed))


@dataclass(frozen=True)
class Bounds:
    """A load's bounds; energies are means over seeds.

    :param variants: runs by variant; placements run under the first.
    :param floors: by seed, of the first variant's work; empty where the model cannot do it.
    :param why: why no placement was searched.
    """

    variants: Mapping[str, Sequence[Derived]]
    floors: Sequence[Floor]
    found: Found | None
    why: str

    @property
    def floor_mj(self) -> float | None:
        """The mean of the seeds' floors."""
        return 1e3 * fmean(floor.energy_j for floor in self.floors) if self.floors else None

    @property
    def variant_mj(self) -> dict[str, float]:
        """The energy of each variant."""
        return {name: _mj(runs) for name, runs in self.variants.items()}

    @property
    def placement_mj(self) -> float | None:
        """The energy of the best placement."""
        return _mj(self.found.best[1]) if self.found and self.found.best else None

    @property
    def threads(self) -> list[tuple[str, int]]:
        """The CPU of each thread under the best placement."""
        if not (self.found and self.found.best):
            return []
        placement, runs = self.found.best
        return [
            pair
            for task, cpus in zip(runs[0].cell.tasks, placement, strict=True)
            for pair in zip(task.threads, cpus, strict=True)
        ]

    @property
    def record(self) -> dict[str, Any]:
        """As JSON."""
        found = self.found
        return {
            **{f"{name}_mj": energy for name, energy in self.variant_mj.items()},
            "floor_mj": self.floor_mj,
            "placement_mj": self.placement_mj,
            "placement": dict(self.threads),
            "complete": bool(found and found.complete),
            "placements": found.folded if found else None,
            "placements_run": found.ran if found else 0,
            "not_searched": self.why,
            "states": [vars(state) for state in self.floors[0].states] if self.floors else [],
        }


def bounds(
    asked: Sequence[Resolved],
    billed: BilledBy,
    seeds: int,
    budget: int,
    progress: Callable[[str], None],
) -> Bounds:
    """The bounds of the load of ``asked``, one of each variant; executes what is missing.

    :raises EascopeError: the load has none, or a run failed.
    """
    first = asked[0]
    check_loads(first)
    runs = measured(seeded(asked, seeds), lambda cell, run: derived_for(cell, run, billed))
    machine = Machine(first.platform, first.activity, billed.model(first.platform, first.activity))
    floors = [floor_of(machine, loads_of(run, first), run) for run in runs[:seeds]]
    why = next(filter(None, map(fixed, first.scenario.tasks)), "")
    search = Search(first, runs[0], machine, billed)
    return Bounds(
        {each.variant.name: runs[at * seeds :][:seeds] for at, each in enumerate(asked)},
        [floor for floor in floors if floor],
        None if why else search.found(budget, seeds, progress),
        why,
    )


def _mj(runs: Sequence[Derived]) -> float:
    return 1e3 * fmean(run.result.energy_j.total for run in runs)


def _counts(left: Sequence[int], may: Sequence[bool]) -> Iterator[tuple[int, ...]]:
    """What a CPU may take of the threads that are left, by task."""
    if not left:
        yield ()
        return
    for own in range(left[0] if may[0] else 0, -1, -1):
        yield from ((own, *others) for others in _counts(left[1:], may[1:]))
