# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables ``[[task]]`` of a scenario file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eascope.configs.platform import Platform
from eascope.experiments.scenario.clamps import NO_CLAMPS, Clamps
from eascope.experiments.scenario.groups import A_GROUP, Group, group_of
from eascope.experiments.scenario.model import (
    DEADLINE,
    FAIR,
    MOST_CHARACTERS,
    REALTIME,
    RECORDED,
    Attributes,
    Phase,
    Task,
)
from eascope.host.keys import Placed, WrongValue, entries_of, key, label, maybe, same

#: What the kernel takes as a runtime and as a period of a deadline task, in us.
LEAST_RUNTIME_US, LEAST_PERIOD_US, MOST_PERIOD_US = 2, 100, 1 << 22


@dataclass(frozen=True, kw_only=True)
class DeadlineFile(Placed):
    """Times of policy deadline, as ``__checkparam_dl()`` takes them."""

    period_us: int = key("period", LEAST_PERIOD_US, MOST_PERIOD_US, "us")
    deadline_us: int | None = maybe("default: the period", LEAST_RUNTIME_US, MOST_PERIOD_US, "us")
    runtime_us: int = key("runtime in a period", LEAST_RUNTIME_US, MOST_PERIOD_US, "us")

    def check(self) -> None:
        """The runtime is no longer than the deadline, which is no longer than the period."""
        least, (_, deadline, period) = LEAST_RUNTIME_US, self.meaning()
        self.place.within("deadline_us", least, period, "us, up to period_us")
        self.place.within("runtime_us", least, deadline, "us, up to the deadline")

    def meaning(self) -> tuple[int, int, int]:
        """Runtime, deadline and period in us."""
        return self.runtime_us, self.deadline_us or self.period_us, self.period_us


@dataclass(frozen=True, kw_only=True)
class AttributesFile(Placed):
    """What a thread asks the scheduler for; a phase has the task's where it states none."""

    policy: str | None = maybe(
        "scheduling policy (default: other)", choices=(*FAIR, *REALTIME, DEADLINE)
    )
    nice: int | None = maybe("nice value (other, batch, idle)", -20, 19)
    priority: int | None = maybe("real-time priority (fifo, rr; default: 10)", 1, 98)
    uclamp: Clamps | None = maybe("utilization clamps")
    deadline: tuple[int, int, int] | None = maybe("SCHED_DEADLINE parameters", table=DeadlineFile)


_WORK, _REST = ("run_us", "runtime_us", "run_instructions"), ("sleep_us", "period_us")


@dataclass(frozen=True, kw_only=True)
class PhaseFile(AttributesFile, Phase):
    """A job does, in this order: wait, meet, work, I/O, wake those that wait, meet, rest."""

    def check(self) -> None:
        """One kind of work, one kind of rest."""
        for names in (_WORK, _REST):
            given = [name for name in names if name in self.place.data]
            if len(given) > 1:
                raise self.place.error(given[1], f"not together with {given[0]}")


@dataclass(frozen=True, kw_only=True)
class TaskFile(AttributesFile, Task):
    """Equal threads, with their phases."""

    pin: str | None = maybe("one thread pinned to each CPU of cpus", choices=("each",))
    group_name: str | None = maybe("cgroup of its threads", name="group", form=A_GROUP)
    phase: tuple[PhaseFile, ...] = key("work and sleep, in order", count=(1, 1000), default=())


def task_from(
    own: TaskFile, platform: Platform, names_there: list[str], groups: Sequence[Group]
) -> Task:
    """A task with phases."""
    pinned, count = _threads(own)
    # Of a thread's 15 characters "-NN" is rt-app's, and the number of each of several is ours.
    room = MOST_CHARACTERS - (len(str(count - 1)) if count > 1 else 0)
    if len(own.name) > room:
        raise own.place.error("name", label(room).allowed)
    attributes = _attributes(own, None)
    for name in ("slice_us", "latency_nice"):
        if name in own.place.data and attributes.policy not in FAIR:
            raise own.place.error(name, f"no {name} with policy {attributes.policy}")
    own.need("phase")
    others = [other for other in names_there if other != own.name]
    phases = []
    for phase in own.phase:
        if pinned and phase.cpus is not None:
            raise phase.place.error("cpus", "not together with the task's pin")
        last = own.repeat == 1 and phase is own.phase[-1]
        phases.append(_phase(phase, attributes, others, last))
    _check_start(own)
    if own.start_cpus:  # then they are free: a mask of all CPUs is the release
        phases = [replace(phases[0], cpus=own.cpus or platform.cpus)]
    made = {"count": count, "pinned": pinned, "attributes": attributes, "phases": tuple(phases)}
    task = Task(**same(Task, own) | made)
    return replace(task, group=group_of(own.place, groups, task.affinities))


def _attributes(own: AttributesFile, task: Attributes | None) -> Attributes:
    """What a task states, or a phase of it; what a phase leaves out is the task's.

    :param task: the attributes of the phase's task; None: this is the task.
    """
    place, base = own.place, task or Attributes()
    policy = own.policy or base.policy
    for name, policies in (("nice", FAIR), ("priority", REALTIME), ("deadline", (DEADLINE,))):
        if getattr(own, name) is not None and policy not in policies:
            raise place.error(name, f"no {name} with policy {policy}")
    if own.uclamp and policy == DEADLINE:
        raise place.error("uclamp", f"no uclamp with policy {policy}: it has no effect there")
    if policy != base.policy and task and "batch" in (policy, base.policy):
        raise place.error("policy", f"{base.policy}, its task's: batch does not change by phase")
    deadline = own.deadline or (base.deadline if policy == base.policy else None)
    if policy == DEADLINE and not deadline:
        raise place.lacks("deadline", "a table")
    clamps = own.uclamp or NO_CLAMPS
    return Attributes(
        policy,
        base.nice if own.nice is None else own.nice,
        base.priority if own.priority is None else own.priority,
        base.uclamp_min if clamps.min is None else clamps.min,
        base.uclamp_max if clamps.max is None else clamps.max,
        deadline,
    )


def replayed_from(own: TaskFile, groups: Sequence[Group], free: list[str]) -> Task:
    """A task of threads of the recording; ``free`` are those of no task yet."""
    own.place.only(("name", "recorded", "cpus", "uclamp", "group", "latency_nice", "slice_us"))
    names = own.recorded or (*free,)
    if not names or any(thread not in free for thread in names) or len({*names}) < len(names):
        raise own.place.error("recorded", RECORDED.allowed)
    for thread in names:
        free.remove(thread)
    clamps = own.uclamp or NO_CLAMPS
    attributes = Attributes(uclamp_min=clamps.min, uclamp_max=clamps.max)
    made = {"count": len(names), "attributes": attributes, "phases": (Phase(),), "recorded": names}
    task = Task(**same(Task, own) | made)
    return replace(task, group=group_of(own.place, groups, task.affinities))


def _check_start(own: TaskFile) -> None:
    """Check a task that states on which CPUs its threads start."""
    stated = own.place.data
    if "start_turns" in stated and not own.start_cpus:
        raise own.place.error("start_turns", "only together with start_cpus")
    free = [phase for phase in own.phase if phase.loops is None and phase.cpus is None]
    if own.start_cpus and (len(own.phase) != 1 or not free or own.pin or "repeat" in stated):
        allowed = "a task of one endless phase, without pin, repeat and cpus"
        raise own.place.error("start_cpus", allowed)


def _threads(own: TaskFile) -> tuple[bool, int]:
    """Whether each thread has its own CPU, and the number of threads."""
    if not own.pin:
        return False, own.count
    if own.cpus is None:
        allowed = "only together with cpus, whose CPUs it gives a thread each"
        raise own.place.error("pin", allowed)
    if "count" in own.place.data:
        raise own.place.error("count", "not together with pin: as many threads as cpus has CPUs")
    return True, len(own.cpus)


def _phase(own: PhaseFile, task: Attributes, others: list[str], last: bool) -> Phase:
    place = own.place
    if own.loops is None and not last:
        allowed = "an integer: only the last phase of a task without repeat may go on to the end"
        raise place.lacks("loops", allowed)
    for name in ("wait", "meet_before", "meet"):
        if name in place.data and not others:
            raise place.error(name, "the name of another task, and there is none")
    if own.wait is not None:
        place.one_of("wait", others)
    does = ("wait", "meet_before", "meet", "io_us", *_WORK, *_REST)
    if not any(getattr(own, name) for name in does):
        allowed = f"wait, meet, one of {', '.join(_WORK)}, io_us, sleep_us or period_us"
        raise place.line(WrongValue("", place.data, allowed))
    states = any(getattr(own, name) is not None for name in entries_of(AttributesFile))
    attributes = _attributes(own, task) if states else None
    return Phase(**same(Phase, own) | {"attributes": attributes})
