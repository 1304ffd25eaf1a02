# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables ``[[event]]`` of a scenario file: what is done within the window."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eascope.configs.platform import Platform
from eascope.experiments.scenario.clamps import CPUS
from eascope.experiments.scenario.groups import (
    A_GROUP,
    Changeable,
    Group,
    check_change,
    group_of,
)
from eascope.experiments.scenario.model import Bind, Move, Task, WindowLengths, Write
from eascope.experiments.scenario.program import Program
from eascope.host.keys import Context, Form, WrongValue, entries_of, key, maybe, named, text_form
from eascope.kernels.state import cpu_list
from eascope.kernels.switches import (
    ENERGY_AWARE,
    INTERRUPTS,
    ONLINE,
    PATH_RULE,
    STATS,
    allowed_boost,
    allowed_value,
    is_switch,
)

#: Files that the run itself writes.
_OURS = (ENERGY_AWARE, STATS, INTERRUPTS)
_COUNTED = "the kernel's counters and [[interrupt]]"
_WRITE = f"[PATH, VALUE], {PATH_RULE}; no *, and neither EAS nor {_COUNTED}"


def _write(value: Any, context: Context) -> tuple[str, str]:  # noqa: ANN401 - of TOML
    if not is_switch(value) or "*" in value[0] or value[0] in _OURS:
        raise WrongValue("", value, _WRITE)
    if allowed := allowed_value(*value):
        raise WrongValue("", value, allowed)
    return value[0], value[1]


WRITE = Form(
    _WRITE, {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}, _write
)


_THREAD = re.compile(r"^[\w:/.-]{1,15}$")
KERNEL_THREAD = text_form(
    _THREAD.fullmatch,
    "a kernel thread's name of up to 15 characters, such as kswapd0",
    _THREAD.pattern,
)


@dataclass(frozen=True, kw_only=True)
class EventFile(Changeable):
    """What is done within the window: it writes, or CPUs, a task, a group or a thread change."""

    at_ms: int = key("time after the window begins", 0, 3_000_000, "ms")
    write: tuple[str, str] | None = maybe("a kernel file and what is written to it", form=WRITE)
    offline: tuple[int, ...] = key("CPUs to take offline", form=CPUS, default=())
    online: tuple[int, ...] = key("CPUs to bring online", form=CPUS, default=())
    task: str | None = maybe("task to move to group", form=named("the name of a task"))
    group: str | None = maybe("where the task goes, or the group to change", form=A_GROUP)
    kernel_thread: str | None = maybe("the kernel thread that goes to cpus", form=KERNEL_THREAD)


def events_of(
    files: Sequence[EventFile],
    window: WindowLengths,
    platform: Platform,
    groups: Sequence[Group],
    tasks: Mapping[str, Task],
    programs: Sequence[Program],
    bound: Sequence[tuple[str, set[int]]],
) -> tuple[Write | Move | Bind, ...]:
    """The events, in the order of their times.

    :param bound: what else stays on some CPUs, in words, and on which.
    :raises RequestError: one line: file, key, value, what is allowed.
    """
    events: list[Write | Move | Bind] = []
    off: set[int] = set()
    homes = {task.name: task.group for task in tasks.values()}
    within = {group.name: group.cpus for group in groups}

    def left_to(group: Group | None) -> set[int]:
        path = f"{group.path}/" if group else ""
        above = [within[each.name] for each in groups if path.startswith(f"{each.path}/")]
        return set(platform.cpus).intersection(*(cpus for cpus in above if cpus))

    for own in files:
        place = own.place
        if window.short_ms is None:
            raise place.error("at_ms", "in a window of a length, not together with until")
        hotplug = "offline" if own.offline else "online" if own.online else ""
        first = max(events[-1].at_ms if events else 0, 0 if hotplug else 1)
        words = "ms after the window's start, before its end"
        place.within("at_ms", first, window.short_ms - 1, words)
        if hotplug:
            if any(group.is_partition for group in groups):
                raise place.error(hotplug, "in a scenario without partitions")
            place.only(("at_ms", hotplug))
            events += _hotplug(hotplug, own, platform, off)
        elif {"task", "group"} & {*place.data}:
            events += _of_group(own, groups, tasks)
            if isinstance(events[-1], Move):
                homes[events[-1].task] = events[-1].group
            elif own.cpus is not None:
                within[own.group or ""] = own.cpus
        else:
            events.append(_of_kernel(own, platform))
        key = hotplug or "group"
        if off and key in place.data:
            sets = [*bound]
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
                    raise place.error(key, f"one of {cpus} left to {name}: {rest}")
    left = {platform.capacities[cpu] for cpu in platform.cpus if cpu not in off}
    if off and len(left) == 1 < len({*platform.capacities}):
        going = next(own for own in reversed(files) if own.offline).place
        allowed = "CPUs of two capacities left at the window's end, or EAS has ended for good"
        raise going.error("offline", allowed)
    return tuple(events)


def _hotplug(key: str, own: EventFile, platform: Platform, off: set[int]) -> list[Write]:
    """CPUs go offline or come back.

    :param off: those that are offline; changed.
    """
    place, at_ms, cpus = own.place, own.at_ms, own.offline or own.online
    if key == "online":
        if not {*cpus} <= off:
            raise place.error(key, "CPUs that are offline by then")
        off.difference_update(cpus)
        return [Write(at_ms, ONLINE.format(cpu), "1") for cpu in cpus]
    if off & {*cpus} or len(off) + len(cpus) == len(platform.cpus):
        raise place.error(key, "CPUs that are online by then, and not all of them")
    off.update(cpus)
    for cluster in platform.clusters:
        if cluster.has_turbo and {*cluster.cpus} <= off:
            lost = "the kernel does not keep the boost of a policy without CPUs"
            raise place.error(key, f"a CPU of {cluster.name} left: {lost}")
    most = max(len(cluster.idle_states) for cluster in platform.clusters)
    for cpu in cpus:
        states = platform.cluster_of(cpu).idle_states
        if states[-1].power_state != "off" or len(states) < most:
            deepest = "it counts as in its deepest idle state, and this one is none that is off"
            raise place.error(key, f"no CPU of {platform.cluster_of(cpu).name}: {deepest}")
    return [Write(at_ms, ONLINE.format(cpu), "0") for cpu in cpus]


def _of_kernel(own: EventFile, platform: Platform) -> Write | Bind:
    """A thread of the kernel goes to other CPUs, or a file of it is written."""
    place = own.place
    if own.kernel_thread is not None:
        place.only(("at_ms", "kernel_thread", "cpus"))
        own.need("cpus")
        return Bind(own.at_ms, own.kernel_thread, own.cpus or ())
    place.only(("at_ms", "write"))
    own.need("write")
    write = Write(own.at_ms, *(own.write or ("", "")))
    if other := allowed_boost(write.path, write.value, platform):
        raise place.error("write", other)
    return write


def _of_group(
    own: EventFile, groups: Sequence[Group], tasks: Mapping[str, Task]
) -> list[Write | Move]:
    """A task goes to a group, or attributes of a group change."""
    place = own.place
    if own.task is not None:
        task = tasks[place.one_of("task", tasks)]
        group = group_of(place, groups, task.affinities)
        if group is None:
            raise place.lacks("group", "the group that the task goes to")
        place.only(("at_ms", "task", "group"))
        return [Move(own.at_ms, task.name, group)]
    changeable = (*entries_of(Changeable),)
    place.only(("at_ms", "group", *changeable))
    group = group_of(place, groups)
    inside = [cpus for task in tasks.values() if task.group == group for cpus in task.affinities]
    files = tuple(own.files())
    if group is None or not files:
        allowed = f"together with task, or with one of {', '.join(changeable)}"
        raise place.error("group", allowed)
    check_change(own, group, groups, inside)
    return [Write(own.at_ms, f"{group.path}/{file}", value) for file, value in files]
