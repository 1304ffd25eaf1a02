# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables ``[[task]]`` of a scenario file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from eascope.configs.cpunames import CpuNameError
from eascope.configs.platform import Platform
from eascope.experiments.groups import Group, read_clamps, read_cpus, read_group
from eascope.experiments.scenario import (
    CLOCKS,
    DEADLINE,
    FAIR,
    MOST_PHASES,
    MOST_THREADS,
    REALTIME,
    Attributes,
    Phase,
    Task,
)
from eascope.host.errors import bad_input, missing_key
from eascope.host.strict import StrictTable

#: Linux keeps 15 characters of a thread's name; rt-app appends ``-N``.
COMM_CHARACTERS = 15
#: rt-app's load argument is a 32-bit int; ten minutes of work in one burst stays below it.
LONGEST_US = 600_000_000
#: Of a turn's work; beyond it, most turns would do next to nothing.
MOST_CV = 2.0
#: They are to be over before the warm-up is.
MOST_START_TURNS = 100
#: Of a task's time; beyond it, a core's own cycles for each miss leave no time on some platforms.
MOST_MEMORY = 0.7
#: Service time of the I/O device.
MOST_IO_US = 1_000_000
POLICIES = (*FAIR, *REALTIME, DEADLINE)
#: Keys of a task that its phases may change.
ATTRIBUTES = ("policy", "nice", "priority", "uclamp", "deadline")
#: What the kernel takes as a runtime and as a period of a deadline task, in us.
LEAST_RUNTIME_US, LEAST_PERIOD_US, MOST_PERIOD_US = 2, 100, 1 << 22
#: Keys of the tables that have some which must be there.
TASK_KEYS = (
    *("name", "count", "cpus", "pin", "repeat", *ATTRIBUTES),
    *("latency_nice", "slice_us", "group", "start_cpus", "start_turns"),
    *("work_cv", "clock", "start_within_us", "memory"),
    *("phase", "recorded"),
)
PHASE_KEYS = (
    *("loops", "wait", "meet_before", "meet", "run_us", "runtime_us", "run_instructions"),
    *("io_us", "sleep_us", "period_us", "cpus", *ATTRIBUTES),
)


def optional(
    table: StrictTable, key: str, minimum: int, maximum: int, unit: str = ""
) -> int | None:
    """An integer where the key is there."""
    return table.integer(key, minimum, maximum, unit) if table.has(key) else None


def read_task(
    table: StrictTable, platform: Platform, names_there: list[str], groups: Sequence[Group]
) -> Task:
    """A task with phases."""
    table.only(TASK_KEYS)
    cpus = read_cpus(table, platform)
    pinned, count = _threads(table, platform, cpus)
    # Of a thread's 15 characters "-NN" is rt-app's, and the number of each of several is ours.
    room = COMM_CHARACTERS - 3 - (len(str(count - 1)) if count > 1 else 0)
    name = table.text("name")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or len(name) > room:
        raise table.error("name", f"1 to {room} of a-z 0-9 _, beginning with a letter")
    attributes = _attributes(table, platform, None)
    for key in ("slice_us", "latency_nice"):
        if table.has(key) and attributes.policy not in FAIR:
            raise table.error(key, f"no {key} with policy {attributes.policy}")
    phases = table.tables("phase", 1, MOST_PHASES)
    repeat = _repeat(table)
    if pinned:
        for phase in phases:
            if phase.has("cpus"):
                raise phase.error("cpus", "not together with the task's pin")
    others = [other for other in names_there if other != name]
    parsed = tuple(
        _phase(phase, platform, attributes, others, repeat == 1 and phase is phases[-1])
        for phase in phases
    )
    start = _start(table, platform, parsed)
    if start:  # then they are free: a mask of all CPUs is the release
        parsed = (replace(parsed[0], cpus=cpus or platform.cpus),)
    task = Task(
        name=name,
        count=count,
        cpus=cpus,
        pinned=pinned,
        repeat=repeat,
        attributes=attributes,
        phases=parsed,
        work_cv=table.number("work_cv", 0, MOST_CV) if table.has("work_cv") else 0.0,
        clock=table.text("clock", CLOCKS) if table.has("clock") else "exact",
        memory=table.number("memory", 0, MOST_MEMORY) if table.has("memory") else 0.0,
        start_within_us=optional(table, "start_within_us", 0, LONGEST_US, "us"),
        latency_nice=optional(table, "latency_nice", -20, 19),
        slice_us=optional(table, "slice_us", 100, 100_000, "us"),
        start_cpus=start,
        start_turns=optional(table, "start_turns", 1, MOST_START_TURNS) or 1,
    )
    task = replace(task, group=read_group(table, groups, task.affinities))
    table.finish()
    return task


def _attributes(table: StrictTable, platform: Platform, task: Attributes | None) -> Attributes:
    """What a task states of `ATTRIBUTES`, or a phase of it; what a phase leaves out is the task's.

    :param task: the attributes of the phase's task; None: this is the task.
    """
    base = task or Attributes()
    policy = table.text("policy", POLICIES) if table.has("policy") else base.policy
    for key, policies in (("nice", FAIR), ("priority", REALTIME), ("deadline", (DEADLINE,))):
        if table.has(key) and policy not in policies:
            raise table.error(key, f"no {key} with policy {policy}")
    if table.has("uclamp") and policy == DEADLINE:
        raise table.error("uclamp", f"no uclamp with policy {policy}: it has no effect there")
    if policy != base.policy and task and "batch" in (policy, base.policy):
        raise table.error("policy", f"{base.policy}, its task's: batch does not change by phase")
    low, high = read_clamps(table, platform)
    nice, priority = optional(table, "nice", -20, 19), optional(table, "priority", 1, 98)
    deadline = base.deadline if policy == base.policy else None
    if policy == DEADLINE and (table.has("deadline") or deadline is None):
        deadline = _deadline(table.table("deadline"))
    return Attributes(
        policy,
        base.nice if nice is None else nice,
        base.priority if priority is None else priority,
        base.uclamp_min if low is None else low,
        base.uclamp_max if high is None else high,
        deadline,
    )


def _deadline(table: StrictTable) -> tuple[int, int, int]:
    """Runtime, deadline and period in us, as ``__checkparam_dl()`` takes them."""
    period = table.integer("period_us", LEAST_PERIOD_US, MOST_PERIOD_US, "us")
    deadline = period
    if table.has("deadline_us"):
        deadline = table.integer("deadline_us", LEAST_RUNTIME_US, period, "us, up to period_us")
    runtime = table.integer("runtime_us", LEAST_RUNTIME_US, deadline, "us, up to the deadline")
    table.finish()
    return runtime, deadline, period


def read_replayed(
    table: StrictTable, platform: Platform, groups: Sequence[Group], free: list[str]
) -> Task:
    """A task of threads of the recording; ``free`` are those of no task yet."""
    keys = ("name", "recorded", "cpus", "uclamp", "group", "latency_nice", "slice_us")
    table.only(keys)
    name = table.text("name")
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,11}", name):
        raise table.error("name", "1 to 12 of a-z 0-9 _, beginning with a letter")
    allowed = 'threads of the scenario\'s recording that no task above has, or "others": the rest'
    if table.data["recorded"] == "others":
        names = (*free,)
    else:
        names = table.texts("recorded", allowed=allowed)
    if not names or any(thread not in free for thread in names) or len({*names}) < len(names):
        raise table.error("recorded", allowed)
    for thread in names:
        free.remove(thread)
    low, high = read_clamps(table, platform)
    task = Task(
        name=name,
        count=len(names),
        cpus=read_cpus(table, platform),
        pinned=False,
        repeat=1,
        attributes=Attributes(uclamp_min=low, uclamp_max=high),
        phases=(Phase(None, None, (), None, None, None, (), None, None, None),),
        latency_nice=optional(table, "latency_nice", -20, 19),
        slice_us=optional(table, "slice_us", 100, 100_000, "us"),
        recorded=names,
    )
    task = replace(task, group=read_group(table, groups, task.affinities))
    table.finish()
    return task


def _start(table: StrictTable, platform: Platform, phases: Sequence[Phase]) -> tuple[int, ...]:
    """The CPUs on which the threads of a task start; none where the file does not say."""
    if table.has("start_turns") and not table.has("start_cpus"):
        raise table.error("start_turns", "only together with start_cpus")
    if not table.has("start_cpus"):
        return ()
    free = [phase for phase in phases if phase.loops is None and phase.cpus is None]
    if len(phases) != 1 or not free or table.has("pin") or table.has("repeat"):
        raise table.error("start_cpus", "a task of one endless phase, without pin, repeat and cpus")
    return read_cpus(table, platform, "start_cpus") or ()


def _threads(
    table: StrictTable, platform: Platform, cpus: tuple[int, ...] | None
) -> tuple[bool, int]:
    """Whether each thread has its own CPU, and the number of threads."""
    if table.has("pin"):
        table.text("pin", ["each"])
        if cpus is None:
            raise table.error("pin", "only together with cpus, whose CPUs it gives a thread each")
        if table.has("count"):
            raise table.error("count", "not together with pin: as many threads as cpus has CPUs")
        return True, len(cpus)
    if not table.has("count"):
        return False, 1
    if isinstance(table.data["count"], str):  # as many as the CPUs of that name
        try:
            return False, len(platform.resolve(table.data["count"]))
        except CpuNameError as error:
            raise table.error("count", f"an integer, or {error.allowed}") from error
    return False, table.integer("count", 1, MOST_THREADS)


def _repeat(table: StrictTable) -> int | None:
    """How often the phases are repeated; ``None``: to the end."""
    if not table.has("repeat"):
        return 1
    if table.data["repeat"] == "forever":
        return None
    if isinstance(table.data["repeat"], str):
        raise table.error("repeat", 'an integer in 1..1000000, or "forever"')
    return table.integer("repeat", 1, 1_000_000)


def _phase(
    table: StrictTable, platform: Platform, task: Attributes, others: list[str], last: bool
) -> Phase:
    table.only(PHASE_KEYS)
    loops = optional(table, "loops", 1, 1_000_000)
    if loops is None and not last:
        raise missing_key(
            table.file,
            table.key("loops"),
            "an integer: only the last phase of a task without repeat may go on to the end",
        )
    wait = None
    if table.has("wait"):
        if not others:
            raise table.error("wait", "the name of another task, and there is none")
        wait = table.text("wait", others)
    run_us = optional(table, "run_us", 1, LONGEST_US, "us")
    runtime_us = optional(table, "runtime_us", 1, LONGEST_US, "us")
    run_instructions = optional(table, "run_instructions", 1, 10**12)
    io_us = optional(table, "io_us", 1, MOST_IO_US, "us")
    sleep_us = optional(table, "sleep_us", 1, LONGEST_US, "us")
    period_us = optional(table, "period_us", 100, LONGEST_US, "us")
    work = [key for key in ("run_us", "runtime_us", "run_instructions") if key in table.data]
    rest = [key for key in ("sleep_us", "period_us") if key in table.data]
    for given in (work, rest):
        if len(given) > 1:
            raise table.error(given[1], f"not together with {given[0]}")
    before, after = (_meet(table, key, others) for key in ("meet_before", "meet"))
    if not (work or io_us or rest or wait or before or after):
        raise bad_input(
            table.file,
            table.where,
            dict(table.data),
            "wait, meet, one of run_us, runtime_us, run_instructions, io_us, sleep_us or period_us",
        )
    cpus = read_cpus(table, platform)
    own = any(table.has(key) for key in ATTRIBUTES)
    attributes = _attributes(table, platform, task) if own else None
    table.finish()
    return Phase(
        loops=loops,
        wait=wait,
        meet_before=before,
        run_us=run_us,
        runtime_us=runtime_us,
        run_instructions=run_instructions,
        meet=after,
        sleep_us=sleep_us,
        period_us=period_us,
        cpus=cpus,
        io_us=io_us,
        attributes=attributes,
    )


def _meet(table: StrictTable, key: str, others: list[str]) -> tuple[str, ...]:
    """Names of meeting points: one, or a list in the order in which they are reached."""
    if not table.has(key):
        return ()
    allowed = "a name of a-z 0-9 _, or a list of such names"
    alone = isinstance(table.data[key], str)
    names = (table.text(key),) if alone else table.texts(key, allowed=allowed)
    if not all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names):
        raise table.error(key, allowed)
    if not others:
        raise table.error(key, "the name of another task, and there is none")
    return names
