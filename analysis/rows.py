# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of a comparison: measures with their order, unit and precision."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from eascope.analysis.measures import MEASURES
from eascope.analysis.measures.registry import Lines, Measure, Range
from eascope.analysis.records.cell import CellRecord
from eascope.analysis.records.result import Result
from eascope.analysis.statement import Absent, value_at
from eascope.analysis.tables.task_energy import IDLE, SHARED_PART
from eascope.analysis.tables.tasks import KINDS, NO_THREAD, OTHER, REST
from eascope.configs.billing import CHIP
from eascope.configs.platform import Platform
from eascope.host.record import child
from eascope.power.events import STACK
from eascope.power.model import TRANSITIONS, component_of

#: Parts of the energy stack that want more words than their name.
STACK_WORDS = {
    "clock": "clock of busy CPUs",
    "load_store": "load and store",
    "l1": "L1",
    "l2": "L2 and cluster logic",
    "leakage": "leakage of what is on",
    "idle": "leakage of what is idle",
    "idle_entry": "idle entries",
    "idle_exit": "idle exits",
    CHIP: "the chip's shared part",
    "controller": "memory controller, not in the total",
}
#: Where a run's energy stack is, if its power model has one.
_STACK = ("energy_j", "stack")


#: Where a run's work is, and the energy of a unit of it.
WORK, PER_WORK = ("work",), ("energy_per_work_j",)

#: How keys of ``result.json`` end, and the unit that this names; the first that fits counts.
UNITS = {
    "_per_work_j": "J for a unit of work",
    "_j": "J",
    "_w": "W",
    "_us": "us",
    "_ms": "ms",
    "_mhz": "MHz",
    "_per_s": "1/s",
    "throughput": "1/s",
    "_s": "s",
}

#: Of those that are not from zero to infinity.
RANGES: Mapping[str, Range] = {
    measure.name: measure.range for measure in MEASURES if measure.range != (0.0, math.inf)
}
#: Headings of lines that measures declare, in their order; any other comes after them.
GROUPS = (
    *("active energy of (other)", "running time of (other)", "hard interrupts"),
    "loads of interrupts",
    *("speed, 100 % = all of a largest CPU", "jobs that ended", "frames", "completion"),
    *(
        "running time by group",
        "placement",
        "frequency",
        "between events",
        "idle",
        "wake-up latency",
        "lateness after the timer",
        "response time",
    ),
    *("throughput", "missed deadlines"),
)

#: Stages between events that have lines.
STAGES = 10
#: Those that a guest's CPUs have.
INTERRUPTS = ("arch_timer", "IPI")
PER_SECOND = "_per_s"
#: Where a run has what its programs print, by program and measure.
PROGRAM = "program"
#: Measures of programs whose unit their name does not end with.
_BARE = {"tps": "1/s"}


def unit_of(name: str) -> str:
    """The unit that the end of a measure's name says; empty for a count."""
    if name in _BARE:
        return _BARE[name]
    return next((unit for end, unit in UNITS.items() if name.endswith(end)), "")


def printed_row(program: str, name: str) -> MeasureRow:
    """The line of a measure that a program prints."""
    unit = unit_of(name)
    label = f"{program} {name.removesuffix(PER_SECOND).removesuffix('_' + unit)}"
    path = (PROGRAM, program, name)
    return MeasureRow("printed by programs", label, unit, path, digits=3 if unit == "s" else 1)


@dataclass(frozen=True)
class MeasureRow:
    """One line of the table.

    :param path: path of the value in ``result.json``.
    :param scale: factor from the result's unit to ``unit``.
    :param per_second: divide by the window's length (a mean power).
    :param needs: a further path that the result must have for this line.
    :param unless: a path that it must not have.
    """

    group: str
    label: str
    unit: str
    path: tuple[str, ...]
    scale: float = 1.0
    digits: int = 1
    per_second: bool = False
    needs: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()

    @property
    def measure(self) -> str:
        """The dotted path in ``result.json``; a mean power is an energy ``/ window_s``."""
        return ".".join(self.path) + (" / window_s" if self.per_second else "")

    @property
    def raw_unit(self) -> str:
        """The unit of `raw`: that of ``result.json``, whose keys name it, ``1`` for a number."""
        named = unit_of(self.path[-1 if self.path[0] == PROGRAM else 0]) or "1"
        return "W" if self.per_second and named == "J" else named

    def raw(self, result: Result) -> float | None:
        """The value in `raw_unit`, or None when the run does not give it."""
        return replace(self, scale=1.0).value(result)

    def value(self, result: Result) -> float | None:
        """The value in ``unit``, or None when the run does not give it."""
        if (self.needs and not _has(result, self.needs)) or (
            self.unless and _has(result, self.unless)
        ):
            return None
        try:
            number = value_at(result, self.path) * self.scale
        except Absent:
            return None
        return number / result.window_s if self.per_second else number


def _has(result: Result, path: Sequence[str]) -> bool:
    """True if a result has anything at ``path``."""
    here: object = result
    try:
        for key in path:
            here = child(here, key)
    except KeyError:
        return False
    return True


def rows(
    platform: Platform, cell: CellRecord, printed: Sequence[tuple[str, str]] = ()
) -> Iterator[MeasureRow]:
    """All lines for a platform and the tasks, groups and unit of work of a cell's scenario.

    :param printed: (program, measure) of the programs' outputs.
    """
    tasks = [task.name for task in cell.tasks]
    yield from _energy(platform, cell.work.unit)
    for by, names in (("task", tasks), ("group", cell.groups)):
        for name in (*names, OTHER, IDLE, SHARED_PART):
            path = ("energy_j", by, name)
            yield MeasureRow(f"energy by {by}", name, "mJ", path, scale=1e3, digits=2)
    yield MeasureRow("work", f"in {cell.work.unit}", "", WORK, digits=2)
    for task in tasks:
        yield MeasureRow("work, s of the largest CPU", task, "s", ("task_work_s", task), digits=3)
    yield from _declared(platform, tasks, cell)
    yield from (printed_row(program, name) for program, name in printed)


def _energy(platform: Platform, work_unit: str) -> Iterator[MeasureRow]:
    """Energy in all, per unit of work, by cluster and by component."""
    yield MeasureRow("energy", "total", "mJ", ("energy_j", "total"), scale=1e3, digits=2)
    yield MeasureRow("energy", f"per {work_unit}", "mJ", PER_WORK, scale=1e3, digits=3)
    for name in platform.energy_parts:
        yield MeasureRow("energy", name, "mJ", ("energy_j", "cluster", name), scale=1e3, digits=2)
    yield MeasureRow(
        "energy", "mean power", "mW", ("energy_j", "total"), scale=1e3, digits=2, per_second=True
    )
    for name in platform.energy_parts:
        yield MeasureRow("mean power of", name, "mW", ("power_w", name), scale=1e3, digits=2)
    names = dict.fromkeys(
        component_of(state.name) for cluster in platform.clusters for state in cluster.idle_states
    )
    for name in ("active", *names, *TRANSITIONS, "shared"):
        part = ("energy_j", "component", name)
        yield MeasureRow(
            "energy by component", name.replace("_", " "), "mJ", part, scale=1e3, digits=2
        )
    for name in STACK:
        part = (*_STACK, name)
        yield MeasureRow(
            "energy stack",
            STACK_WORDS.get(name, name.replace("_", " ")),
            "mJ",
            part,
            scale=1e3,
            digits=2,
        )
    path, group = ("memory_j", "controller"), "memory, not in the total"
    yield MeasureRow(
        "energy stack", STACK_WORDS["controller"], "mJ", path, scale=1e3, digits=2, needs=_STACK
    )
    yield MeasureRow(group, "memory controller", "mJ", path, scale=1e3, digits=2, unless=_STACK)
    yield MeasureRow(group, "DRAM", "mJ", ("memory_j", "dram"), scale=1e3, digits=2)


def _declared(platform: Platform, tasks: Sequence[str], cell: CellRecord) -> Iterator[MeasureRow]:
    """The lines that measures declare, by heading; name by name where they go by the same names."""
    names = {
        "": ("",),
        **dict.fromkeys(("<task>", "<program>"), tasks),
        "<group>": cell.groups,
        "<load>": [load.name for load in cell.interrupts],
        "<cluster>": [cluster.name for cluster in platform.clusters],
        "<cpu>": [*map(str, platform.cpus)],
        "<kind>": [*KINDS, REST, NO_THREAD],
        "<interrupt>": INTERRUPTS,
        "<stage>": [*map(str, range(STAGES))],
    }
    measures = [(lines, measure) for measure in MEASURES if (lines := measure.lines) is not None]
    measures.sort(key=lambda of: (*GROUPS, of[0].group).index(of[0].group))
    for (_, by), same in groupby(measures, key=lambda of: (of[0].group, of[1].by)):
        together = list(same)
        for name in names[by]:
            for lines, measure in together:
                yield from _lines(lines, measure, name, platform)


def _lines(lines: Lines, of: Measure, name: str, platform: Platform) -> Iterator[MeasureRow]:
    """The lines of a measure for one of its names."""
    unit = lines.unit
    if unit is None:
        unit = "%" if of.unit.startswith("share") else "" if of.unit.startswith("1 =") else of.unit
    keys = lines.keys
    if of.keys.endswith(".<kHz>"):
        keys = tuple(str(opp.khz) for opp in platform.cluster(name).opps)
    if of.keys.endswith(".<cluster>"):
        keys = tuple(cluster.name for cluster in platform.clusters)
    cluster = platform.cluster_of(int(name)).name if of.by == "<cpu>" else ""
    states = [state.name for state in platform.cluster(cluster).idle_states] if cluster else []
    if of.keys.endswith(".<state>"):
        keys = tuple(map(str, range(len(states))))
    for key in keys or ("",):
        number = int(key) if key.isdigit() else 0
        state = states[number] if of.keys.endswith(".<state>") else ""
        words = {"key": key.replace("_", " "), "mhz": number / 1000, "state": state}
        label = lines.label.format(name=name, cluster=cluster, **words)
        path = tuple(part for part in (of.name, name, key) if part)
        scale = {"%": 100, "mJ": 1e3, "mW": 1e3}.get(unit, 1.0)
        yield MeasureRow(lines.group, label, unit, path, scale=scale, digits=lines.digits)
