# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of a comparison: measures with their order, unit and precision."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from eascope.analysis.records.result import Result
from eascope.analysis.statement import Absent, value_at
from eascope.analysis.tables.tasks import OTHER
from eascope.configs.billing import CHIP
from eascope.configs.platform import Platform
from eascope.host.record import child
from eascope.power.billed import TRANSITIONS, component_of
from eascope.power.events import STACK

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
    "_us": "us",
    "_mhz": "MHz",
    "_per_s": "1/s",
    "throughput": "1/s",
    "_s": "s",
}

#: The smallest and the largest value of a key of ``result.json``.
Range = tuple[float, float]
#: Of those that are not from zero to infinity.
RANGES: Mapping[str, Range] = {
    **dict.fromkeys(
        ("residency", "top_opp", "cpu_busy", "cluster_busy", "work_share", "overutilized_share"),
        (0.0, 1.0),
    ),
    **dict.fromkeys(("run_share", "cpu_share", "fairness", "eas"), (0.0, 1.0)),
    "completion_spread": (1.0, math.inf),
}

PER_SECOND = "_per_s"
#: Where a run has what its programs print, by program and measure.
PROGRAM = "program"
#: Measures of programs whose unit their name does not end with.
_BARE = {"tps": "1/s"}


def unit_of(name: str) -> str:
    """The unit of a program's measure, from the end of its name; empty for a count."""
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

    :param group: its heading.
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
        if self.path[0] == PROGRAM:
            return unit_of(self.path[-1]) or "1"
        named = next((unit for end, unit in UNITS.items() if self.path[0].endswith(end)), "1")
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
    """Whether a result has anything at ``path``."""
    here: object = result
    try:
        for key in path:
            here = child(here, key)
    except KeyError:
        return False
    return True


def rows(
    platform: Platform,
    tasks: Sequence[str],
    work_unit: str,
    printed: Sequence[tuple[str, str]] = (),
) -> Iterator[MeasureRow]:
    """All lines for a platform and the scenario's tasks and unit of work.

    :param printed: (program, measure) of the programs' outputs.
    """
    yield from _energy(platform, tasks, work_unit)
    yield MeasureRow("work", f"in {work_unit}", "", WORK, digits=2)
    yield from _work(tasks)
    yield from _placement(platform)
    yield from _frequency(platform)
    yield from _times(tasks)
    yield from (printed_row(program, name) for program, name in printed)


def _energy(platform: Platform, tasks: Sequence[str], work_unit: str) -> Iterator[MeasureRow]:
    """Energy in all, per unit of work, by cluster, by component and by task."""
    yield MeasureRow("energy", "total", "mJ", ("energy_j", "total"), scale=1e3, digits=2)
    yield MeasureRow("energy", f"per {work_unit}", "mJ", PER_WORK, scale=1e3, digits=3)
    for name in platform.energy_parts:
        yield MeasureRow("energy", name, "mJ", ("energy_j", "cluster", name), scale=1e3, digits=2)
    yield MeasureRow(
        "energy", "mean power", "mW", ("energy_j", "total"), scale=1e3, digits=2, per_second=True
    )
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
    for task in (*tasks, OTHER):
        yield MeasureRow(
            "active energy by task", task, "mJ", ("energy_j", "task", task), scale=1e3, digits=2
        )


def _work(tasks: Sequence[str]) -> Iterator[MeasureRow]:
    """Work of each task, by the busy loop's speed and by turns."""
    for task in tasks:
        yield MeasureRow("work, s of the largest CPU", task, "s", ("task_work_s", task), digits=3)
    group = "speed, 100 % = all of a largest CPU"
    yield from (
        MeasureRow(group, task, "%", ("speed", task), scale=100, digits=2) for task in tasks
    )
    yield from (
        MeasureRow("turns that ended", task, "", ("turns", task), digits=0) for task in tasks
    )
    for name in ("drawn", "late", "skipped"):
        yield MeasureRow("frames", name, "", ("frames", name), digits=0)
    for task in tasks:
        for name in ("first", "last"):
            path = ("completion_s", task, name)
            yield MeasureRow("completion", f"{task}, {name}", "s", path, digits=3)
        yield MeasureRow(
            "completion", f"{task}, last / first", "", ("completion_spread", task), digits=3
        )


def _placement(platform: Platform) -> Iterator[MeasureRow]:
    """Placement of the work."""
    for cluster in platform.clusters:
        yield MeasureRow(
            "placement", f"work on {cluster.name}", "%", ("work_share", cluster.name), scale=100
        )
    for cpu in platform.cpus:
        label = f"cpu {cpu} busy ({platform.cluster_of(cpu).name})"
        yield MeasureRow("placement", label, "%", ("cpu_busy", str(cpu)), scale=100)
    yield MeasureRow("placement", "migrations", "", ("migrations",), digits=0)
    yield MeasureRow("placement", "overutilized", "%", ("overutilized_share",), scale=100)
    yield MeasureRow("placement", "pushed", "1/s", ("pushes_per_s", "moved"), digits=2)


def _frequency(platform: Platform) -> Iterator[MeasureRow]:
    """Each cluster's OPPs: mean, shares and changes."""
    for cluster in platform.clusters:
        yield MeasureRow("frequency", f"{cluster.name} mean", "MHz", ("mean_mhz", cluster.name))
        for opp in cluster.opps:
            spent = ("residency", cluster.name, str(opp.khz))
            yield MeasureRow(
                "frequency", f"{cluster.name} at {opp.khz / 1000:g} MHz", "%", spent, scale=100
            )
        moves = ("opp_transitions_per_s", cluster.name)
        yield MeasureRow("frequency", f"{cluster.name} transitions", "1/s", moves)


def _times(tasks: Sequence[str]) -> Iterator[MeasureRow]:
    """Times of each task, and the deadlines that it missed."""
    for group, key in (
        ("wake-up latency", "latency_us"),
        ("lateness after the timer", "lateness_us"),
        ("response time", "response_us"),
    ):
        for task in tasks:
            for name in ("p50", "p95", "p99", "max"):
                yield MeasureRow(group, f"{task} {name}", "us", (key, task, name))
    for task in tasks:
        yield MeasureRow("throughput", task, "1/s", ("throughput", task))
    for task in tasks:
        yield MeasureRow("missed deadlines", task, "", ("deadlines", task, "missed"), digits=0)
    yield MeasureRow("missed deadlines", "all tasks", "", ("missed_deadlines",), digits=0)
