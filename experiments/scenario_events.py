# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables ``[[event]]`` of a scenario file: what is done within the window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eascope.analysis.records.cell import InterruptRecord
from eascope.configs.platform import Platform
from eascope.experiments.groups import CHANGEABLE, Group, read_change, read_cpus, read_group
from eascope.experiments.program import Program
from eascope.experiments.scenario import Move, Task, WindowLengths, Write
from eascope.host.errors import missing_key
from eascope.host.strict import StrictTable
from eascope.kernels.state import cpu_list
from eascope.kernels.switches import (
    ENERGY_AWARE,
    INTERRUPTS,
    ONLINE,
    PATH_RULE,
    STATS,
    allowed_boost,
    check_value,
    is_switch,
)

#: Of one file.
MOST_EVENTS = 100
KEYS = ("at_ms", "write", "offline", "online", "task", "group", *CHANGEABLE)
_HOTPLUG = ("offline", "online")
#: Files that the run itself writes.
_OURS = (ENERGY_AWARE, STATS, INTERRUPTS)
_COUNTED = "the kernel's counters and [[interrupt]]"


def events_of(
    top: StrictTable,
    window: WindowLengths,
    platform: Platform,
    groups: Sequence[Group],
    tasks: Mapping[str, Task],
    programs: Sequence[Program],
    kernel_threads: Sequence[tuple[str, tuple[int, ...]]],
    interrupts: Sequence[InterruptRecord],
) -> tuple[Write | Move, ...]:
    """The events, in the order of their times.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    events: list[Write | Move] = []
    off: set[int] = set()
    homes = {task.name: task.group for task in tasks.values()}
    within = {group.name: group.cpus for group in groups}

    def left_to(group: Group | None) -> set[int]:
        path = f"{group.path}/" if group else ""
        above = [within[each.name] for each in groups if path.startswith(f"{each.path}/")]
        return set(platform.cpus).intersection(*(cpus for cpus in above if cpus))

    for table in top.tables("event", 1, MOST_EVENTS) if top.has("event") else ():
        table.only(KEYS)
        if window.short_ms is None:
            raise table.error("at_ms", "in a window of a length, not together with until")
        hotplug = next((key for key in _HOTPLUG if table.has(key)), None)
        first = max(events[-1].at_ms if events else 0, 0 if hotplug else 1)
        words = "ms after the window's start, before its end"
        at = table.integer("at_ms", first, window.short_ms - 1, words)
        if hotplug:
            if any(group.is_partition for group in groups):
                raise table.error(hotplug, "in a scenario without partitions")
            events += _hotplug(table, hotplug, at, platform, off)
        elif table.has("task") or table.has("group"):
            events += _of_group(table, at, platform, groups, tasks)
            if isinstance(events[-1], Move):
                homes[events[-1].task] = events[-1].group
            elif table.has("cpus"):
                within[table.text("group")] = read_cpus(table, platform)
        else:
            allowed = f"[PATH, VALUE], {PATH_RULE}; no *, and neither EAS nor {_COUNTED}"
            value = table.value("write", allowed)
            if not is_switch(value) or "*" in value[0] or value[0] in _OURS:
                raise table.error("write", allowed)
            check_value(table, "write", *value)
            if other := allowed_boost(value[0], value[1], platform):
                raise table.error("write", other)
            events.append(Write(at, *value))
        key = hotplug or "group"
        if off and table.has(key):
            sets = [
                *((f"kernel thread {name}", {*cpus}) for name, cpus in kernel_threads),
                *((f"interrupt {load.name}", {cpu}) for load in interrupts for cpu in load.cpus),
            ]
            sets += [(f"group {group.name}", left_to(group)) for group in groups]
            sets += [
                (f"task {task.name}", {*cpus} & left_to(homes[task.name]))
                for task in tasks.values()
                for cpus in task.affinities
            ]
            sets += [
                (f"program {each.name}", {*(each.cpus or platform.cpus)} & left_to(each.group))
                for each in programs
            ]
            for name, some in sets:
                if some and some <= off:
                    cpus = cpu_list(tuple(sorted(some)))
                    rest = "the kernel would let it run on others"
                    raise table.error(key, f"one of {cpus} left to {name}: {rest}")
        table.finish()
    left = {platform.capacities[cpu] for cpu in platform.cpus if cpu not in off}
    if off and len(left) == 1 < len({*platform.capacities}):
        going = next(e for e in reversed(top.tables("event", 1, MOST_EVENTS)) if e.has("offline"))
        allowed = "CPUs of two capacities left at the window's end, or EAS has ended for good"
        raise going.error("offline", allowed)
    return tuple(events)


def _hotplug(
    table: StrictTable,
    key: str,
    at_ms: int,
    platform: Platform,
    off: set[int],
) -> list[Write]:
    """CPUs go offline or come back.

    :param off: those that are offline; changed.
    """
    cpus = read_cpus(table, platform, key) or ()
    if key == "online":
        if not {*cpus} <= off:
            raise table.error(key, "CPUs that are offline by then")
        off.difference_update(cpus)
        return [Write(at_ms, ONLINE.format(cpu), "1") for cpu in cpus]
    if off & {*cpus} or len(off) + len(cpus) == len(platform.cpus):
        raise table.error(key, "CPUs that are online by then, and not all of them")
    off.update(cpus)
    for cluster in platform.clusters:
        if cluster.has_turbo and {*cluster.cpus} <= off:
            lost = "the kernel does not keep the boost of a policy without CPUs"
            raise table.error(key, f"a CPU of {cluster.name} left: {lost}")
    most = max(len(cluster.idle_states) for cluster in platform.clusters)
    for cpu in cpus:
        states = platform.cluster_of(cpu).idle_states
        if states[-1].power_state != "off" or len(states) < most:
            deepest = "it counts as in its deepest idle state, and this one is none that is off"
            raise table.error(key, f"no CPU of {platform.cluster_of(cpu).name}: {deepest}")
    return [Write(at_ms, ONLINE.format(cpu), "0") for cpu in cpus]


def _of_group(
    table: StrictTable,
    at_ms: int,
    platform: Platform,
    groups: Sequence[Group],
    tasks: Mapping[str, Task],
) -> list[Write | Move]:
    """A task goes to a group, or attributes of a group change."""
    if table.has("task"):
        task = tasks[table.text("task", tasks)]
        group = read_group(table, groups, task.affinities)
        if group is None:
            raise missing_key(table.file, table.key("group"), "the group that the task goes to")
        return [Move(at_ms, task.name, group)]
    group = read_group(table, groups)
    inside = [cpus for task in tasks.values() if task.group == group for cpus in task.affinities]
    files = read_change(table, group, groups, platform, inside) if group else ()
    if group is None or not files:
        allowed = f"together with task, or with one of {', '.join(CHANGEABLE)}"
        raise table.error("group", allowed)
    return [Write(at_ms, f"{group.path}/{file}", value) for file, value in files]
