"""Reading statistics of the running machine, quickly: what a snapshot is made of.

Names are resolved once; one that gem5 does not have (they move between releases) is an error at
the start, not a zero in a result.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from configs.gem5.columns import L2, POWER_STATES, RESIDENCY, cpu_events
from configs.gem5.rows import ClusterLayout, Reading, Recorder, cluster_layout, reading

Reader = Callable[["array[float]"], None]


class UnknownStatistic(Exception):
    """gem5 has no statistic of this name."""


def resolve(group: Any, name: str) -> Any:
    """The statistic ``name`` below ``group``, a gem5 object.

    :raises UnknownStatistic: when there is none.
    """
    try:
        return group.resolveStat(name)
    except KeyError as error:
        raise UnknownStatistic(f"gem5 has no statistic {group.path()}.{name}") from error


def _number(stat: Any) -> Callable[[], float]:
    """A function that reads a scalar's value or the total of a vector or formula."""
    if hasattr(stat, "subnames"):
        return lambda: float(stat.total)
    return lambda: float(stat.value)


def reader(group: Any, names: Iterable[tuple[str, str | None]]) -> Reader:
    """A function that appends the named statistics of ``group``; a vector's parts in one go."""
    steps: list[Callable[[], Sequence[float]]] = []
    vectors: dict[str, list[str]] = {}
    order: list[tuple[str, str | None]] = list(names)
    for name, part in order:
        if part is not None:
            vectors.setdefault(name, []).append(part)
    done = set()
    layout: list[tuple[str, str | None]] = []
    for name, part in order:
        if part is None:
            number = _number(resolve(group, name))
            steps.append(lambda number=number: (number(),))  # type: ignore[misc]
            layout.append((name, None))
        elif name not in done:
            done.add(name)
            stat = resolve(group, name)
            places = _places(name, list(stat.subnames), vectors[name])
            steps.append(_picker(stat, places))
            layout += ((name, wanted) for wanted in vectors[name])
    if layout != order:
        raise ValueError(f"{group.path()}: parts of one vector must stand together")

    def read(into: array[float]) -> None:
        for step in steps:
            into.extend(step())

    return read


def _places(name: str, have: Sequence[str], wanted: Sequence[str]) -> list[int]:
    for part in wanted:
        if part not in have:
            raise UnknownStatistic(f"gem5's statistic {name} has no part {part}")
    return [have.index(part) for part in wanted]


def _picker(stat: Any, places: Sequence[int]) -> Callable[[], Sequence[float]]:
    def pick() -> Sequence[float]:
        values = stat.value
        return [values[place] for place in places]

    return pick


def residency(cpu: Any) -> Callable[[], int]:
    """A function that tells the ticks in which ``cpu`` was neither clock-gated nor off."""
    settle, stat = _residency(cpu)

    def busy() -> int:
        settle()
        undefined, on, *_ = stat.value
        return int(undefined + on)

    return busy


def _residency(cpu: Any) -> tuple[Callable[[], None], Any]:
    """What brings the ticks in the present power state up to date, and the statistic."""
    stat = resolve(cpu, RESIDENCY)
    if tuple(stat.subnames) != POWER_STATES:
        raise UnknownStatistic(f"gem5's power states are {', '.join(stat.subnames)}")
    return cpu.power_state.getCCObject().preDumpStats, stat


def cpu_reader(cpu: Any, what: Reading, cycles: bool) -> Reader:
    """A function that appends a CPU's readings: `CPU_HEAD`, then its events."""
    settle, ticks = _residency(cpu)
    instructions = _number(resolve(cpu, "commitStats0.numInsts"))
    counted = _number(resolve(cpu, "numCycles")) if cycles else (lambda: -1.0)
    events = reader(cpu, what.names)

    def read(into: array[float]) -> None:
        settle()
        into.append(counted())
        into.append(instructions())
        into.extend(ticks.value)
        events(into)

    return read


class Probes:
    """All readings of a machine.

    :param settings: as of `configs.gem5.settings.machine_settings`.
    :param clusters: gem5's objects, in the settings' order, with ``cpus``, ``clk_domain``, ``l2``.
    """

    def __init__(self, settings: dict[str, Any], clusters: Sequence[Any]) -> None:
        self.layouts: list[ClusterLayout] = []
        self._readers: list[Reader] = []
        for told, cluster in zip(settings["clusters"], clusters, strict=True):
            events = cpu_events(told["model"])
            cpu, shared = reading(events), reading(L2 if events else {})
            self.layouts.append(cluster_layout(told, cpu, shared))
            self._readers.append(_clock(cluster))
            self._readers += (cpu_reader(one, cpu, bool(events)) for one in cluster.cpus)
            self._readers.append(reader(cluster, shared.names))

    def snapshot(self, recorder: Recorder, tick: int) -> None:
        """Append a snapshot taken at ``tick``."""
        into = recorder.data
        into.append(tick)
        for read in self._readers:
            read(into)


def _clock(cluster: Any) -> Reader:
    period = _number(resolve(cluster.clk_domain, "clock"))

    def read(into: array[float]) -> None:
        into.append(period())

    return read
