# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading statistics of the running machine, quickly: what a snapshot is made of.

Names are resolved once; one that gem5 does not have (they move between releases) is an error at
the start, not a zero in a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

from eascope.engines.gem5.inside.columns import ABSENT, L2, POWER_STATES, RESIDENCY, cpu_events
from eascope.engines.gem5.inside.request import MachineSettings
from eascope.engines.gem5.inside.rows import (
    ClusterLayout,
    Reading,
    Recorder,
    cluster_layout,
    reading,
)

Reader = Callable[[list[float]], None]

_L1 = ("icache", "dcache")
_UNDEFINED, _ON = POWER_STATES.index("UNDEFINED"), POWER_STATES.index("ON")


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


def _number(stat: Any) -> Callable[[Any], float]:
    """What reads ``stat`` as one number: a scalar's value, or the total of a vector or formula."""
    return _getter(stat, "total" if hasattr(stat, "subnames") else "value")


def _getter(stat: Any, name: str) -> Callable[[Any], Any]:
    """What reads ``stat``'s property ``name``.

    gem5's own function where there is one: the way to it as an attribute is half of the time.
    """
    attribute = getattr(type(stat), name, None)
    return (
        attribute.fget if isinstance(attribute, property) and attribute.fget else attrgetter(name)
    )


def reader(group: Any, names: Iterable[tuple[str, tuple[str, ...]]]) -> Reader:
    """A function that appends the named statistics of ``group``, a vector's parts as their sum."""
    numbers: list[tuple[Callable[[Any], float], Any]] = []
    vectors: dict[str, list[tuple[str, ...]]] = {}
    for name, parts in names:
        if parts:
            vectors.setdefault(name, []).append(parts)
        elif vectors:
            raise ValueError(f"{group.path()}.{name}: parts of vectors come last")
        else:
            stat = resolve(group, name)
            numbers.append((_number(stat), stat))
    runs = [
        (get, [stat for _, stat in run])
        for get, run in groupby(numbers, key=lambda number: number[0])
    ]
    mixes = []
    for name, wanted in vectors.items():
        stat = resolve(group, name)
        have = list(stat.subnames)
        mixes.append((_getter(stat, "value"), stat, [_picker(name, have, part) for part in wanted]))

    def read(into: list[float]) -> None:
        for get, stats in runs:
            into.extend(map(get, stats))
        for get, stat, picks in mixes:
            values = get(stat)
            into.extend([sum(pick(values)) for pick in picks])

    return read


def _picker(
    name: str, have: Sequence[str], wanted: Sequence[str]
) -> Callable[[Sequence[float]], Sequence[float]]:
    """What takes the ``wanted`` parts out of a vector's values."""
    for part in wanted:
        if part not in have:
            raise UnknownStatistic(f"gem5's statistic {name} has no part {part}")
    first, *others = (have.index(part) for part in wanted)
    # Of one place itemgetter would take the number itself.
    return itemgetter(first, *others) if others else itemgetter(slice(first, first + 1))


def join_power_states(cpus: Sequence[Any]) -> Callable[[], None]:
    """A function that counts the ticks of ``cpus``, a cluster's, in their present power states.

    gem5 counts them when a state ends, or before it prints statistics. Announcing that to a gem5
    object from Python takes some 60 us, however little it does; to a plain group of statistics it
    takes one. So their power states become children of such a group, the first CPU's
    ``fetchStats0``. The price is that gem5's own text has their statistics twice.
    """
    group = cpus[0].getStatGroups()["fetchStats0"]
    for number, cpu in enumerate(cpus):
        group.addStatGroup(f"power_state{number}", cpu.power_state.getCCObject())
    settle: Callable[[], None] = group.preDumpStats
    return settle


def _residency(cpu: Any) -> Any:
    """The ticks of ``cpu`` in each power state."""
    stat = resolve(cpu, RESIDENCY)
    if tuple(stat.subnames) != POWER_STATES:
        raise UnknownStatistic(f"gem5's power states are {', '.join(stat.subnames)}")
    return stat


def cpu_reader(cpu: Any, what: Reading, cycles: bool) -> Reader:
    """A function that appends a CPU's readings: `CPU_HEAD`, then its events.

    A CPU that was gated or off ever since the last time has done nothing that could be counted:
    what was read then is appended again.
    """
    instructions = resolve(cpu, "commitStats0.numInsts")
    counted = what.names.index(("numCycles", ())) if cycles else None
    ticks = _residency(cpu)
    get_ticks = _getter(ticks, "value")
    get_insts = _getter(instructions, "value")
    events = reader(cpu, what.names)
    last_on = -1.0
    last_events: list[float] = []
    last_head = (0.0, 0.0)

    def read(into: list[float]) -> None:
        nonlocal last_on, last_events, last_head
        states = get_ticks(ticks)
        on = states[_UNDEFINED] + states[_ON]
        if on != last_on:
            last_on = on
            last_events = []
            events(last_events)
            clock = -1.0 if counted is None else last_events[counted]
            last_head = (clock, get_insts(instructions))
        into.extend(last_head)
        into.extend(states)
        into.extend(last_events)

    return read


def unread(group: Any, cache: str) -> str:
    """The first command of ``group``'s cache that it has counted and no row reads; "" for none."""
    for command in ABSENT[cache]:
        for kind in ("hits", "misses"):
            count = resolve(group, f"{cache}.{command}.{kind}").total
            if count:
                return f"{group.path()}.{cache} has counted {count:.0f} {command}.{kind}"
    return ""


class Probes:
    """All readings of a machine.

    :param settings: as of `engines.gem5.settings.machine_settings`.
    :param clusters: gem5's objects, in the settings' order, with ``cpus``, ``clk_domain``, ``l2``.
    """

    def __init__(self, settings: MachineSettings, clusters: Sequence[Any]) -> None:
        self._settle = [join_power_states(cluster.cpus) for cluster in clusters]
        self._residencies = [_residency(cpu) for cluster in clusters for cpu in cluster.cpus]
        self._caches: list[tuple[Any, str]] = []
        self.layouts: list[ClusterLayout] = []
        self._readers: list[list[Reader]] = []
        self._clocks = [resolve(cluster.clk_domain, "clock") for cluster in clusters]
        self._periods: list[float] = []
        self._get_clock = _getter(self._clocks[0], "value")
        for wanted, cluster in zip(settings["clusters"], clusters, strict=True):
            events = cpu_events(wanted["model"])
            cpu, shared = reading(events), reading(L2 if events else {})
            self.layouts.append(cluster_layout(wanted, cpu, shared))
            readers = [cpu_reader(core, cpu, bool(events)) for core in cluster.cpus]
            self._readers.append([*readers, reader(cluster, shared.names)])
            if events:
                self._caches += [(core, name) for core in cluster.cpus for name in _L1]
                self._caches.append((cluster, "l2"))

    def check(self) -> None:
        """Whether rows read all of the commands that caches have counted.

        :raises UnknownStatistic: naming a cache and a command that they do not read.
        """
        for group, name in self._caches:
            missed = unread(group, name)
            if missed:
                raise UnknownStatistic(f"{missed}: no column has them (ABSENT in columns.py)")

    def begin(self) -> None:
        """A window begins: the clocks that are in force now are."""
        self._periods = [clock.value for clock in self._clocks]

    def snapshot(self, recorder: Recorder, tick: int) -> None:
        """Append a snapshot of every cluster, taken at ``tick``."""
        for number in range(len(self._clocks)):
            self._read(recorder, number, tick)

    def changed(self, recorder: Recorder, tick: int) -> None:
        """Append a snapshot of the clusters that have another clock since the last call.

        To be called when the OPP has changed at ``tick`` and before any CPU has run since.
        """
        for number, clock in enumerate(self._clocks):
            period = self._get_clock(clock)
            if period != self._periods[number]:
                self._read(recorder, number, tick)
                self._periods[number] = period

    def _read(self, recorder: Recorder, number: int, tick: int) -> None:
        self._settle[number]()
        into: list[float] = [tick, self._periods[number]]
        for read in self._readers[number]:
            read(into)
        recorder.append(number, into)

    def busy_ticks(self) -> list[int]:
        """Ticks in which each CPU was neither clock-gated nor off."""
        for settle in self._settle:
            settle()
        return [int(stat.value[0] + stat.value[1]) for stat in self._residencies]
