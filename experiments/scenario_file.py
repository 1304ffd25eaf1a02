# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenario files: `load_scenario` reads one and checks it against a platform."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from eascope.analysis.records.cell import Expectation
from eascope.analysis.records.frames import FramesRecord
from eascope.analysis.records.work import LOOPS_WORK, PROGRAMS, TURNS, WAKE_UPS, WorkRecord
from eascope.analysis.statement import ExpectationError
from eascope.analysis.statement import parse as parse_statement
from eascope.configs.cpunames import CpuNameError
from eascope.configs.platform import Platform
from eascope.experiments.clamps import read_clamps
from eascope.experiments.conditions import TABLE as SOURCE_CONDITIONS
from eascope.experiments.conditions import read_conditions
from eascope.experiments.groups import KEYS as GROUP_KEYS
from eascope.experiments.groups import (
    Group,
    read_cpus,
    read_group,
    read_groups,
)
from eascope.experiments.program import read_program
from eascope.experiments.recorded import Recorded, read_recorded
from eascope.experiments.rtapp_json import POLICIES as POLICY_OF
from eascope.experiments.rtapp_json import WAITS, RtAppFile, RtAppTask, events, text_of, timers
from eascope.experiments.rtapp_json import read as read_rt_app
from eascope.experiments.scenario import (
    BACKGROUNDS,
    CLOCKS,
    DEADLINE,
    FAIR,
    MOST_EXPECTATIONS,
    MOST_PHASES,
    MOST_THREADS,
    PLACING_MS,
    REALTIME,
    Attributes,
    Phase,
    Scenario,
    Task,
    WindowLengths,
)
from eascope.experiments.scenario_checks import (
    check_attributes,
    check_frames,
    check_measures,
    check_programs,
    check_tasks,
)
from eascope.experiments.scenario_events import KEYS as EVENT_KEYS
from eascope.experiments.scenario_events import events_of
from eascope.experiments.scenario_names import ROOT, path_of
from eascope.experiments.scenario_noise import check_noise
from eascope.experiments.sources import measurements
from eascope.host.cache import canonical_json, sha256_bytes
from eascope.host.errors import bad_input, missing_key, shortened
from eascope.host.strict import StrictTable, parse_toml, read_toml, shown_path
from eascope.rootfs.content import MINIMAL, load_content

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
#: Of what a source measured, in a unit of result.json.
MOST_SIZE = 1e9
POLICIES = (*FAIR, *REALTIME, DEADLINE)
#: Keys of a task that its phases may change.
ATTRIBUTES = ("policy", "nice", "priority", "uclamp", "deadline")
#: What the kernel takes as a runtime and as a period of a deadline task, in us.
LEAST_RUNTIME_US, LEAST_PERIOD_US, MOST_PERIOD_US = 2, 100, 1 << 22
MOST_PROGRAMS = 9
#: Frames that are under way at once, in the deepest pipeline.
MOST_PERIODS = 9
#: rt-app makes its threads one by one; those of its own file start so far apart at most.
APART_US = 200
#: A task's load signals follow its changes within 100 to 200 ms.
LEAST_WARMUP_MS = 200
#: Keys of the tables that have some which must be there: a misspelt one is named as what it is.
KEYS = {
    "": (
        *("summary", "source", "loads", "background", "image", "recording", SOURCE_CONDITIONS),
        *("group", "task", "program", "window", "event", "expect", "work", "frames", "rt_app"),
        "kernel_threads",
    ),
    "task": (
        *("name", "count", "cpus", "pin", "repeat", *ATTRIBUTES),
        *("latency_nice", "slice_us", "group", "start_cpus", "start_turns"),
        *("work_cv", "clock", "start_within_us", "memory"),
        *("phase", "recorded"),
    ),
    "task.phase": (
        *("loops", "wait", "meet_before", "meet", "run_us", "runtime_us", "run_instructions"),
        *("io_us", "sleep_us", "period_us", "cpus", *ATTRIBUTES),
    ),
    "group": GROUP_KEYS,
    "event": EVENT_KEYS,
    "work": ("unit", "counted"),
    "frames": ("paced_by", "drawn_by", "periods"),
    "window": ("from", "mainline_ms", "warmup_ms", "short_ms", "full_ms", "until"),
}


def load_scenario(name: str, platform: Platform) -> Scenario:
    """Read and check a scenario for ``platform``.

    :param name: as :func:`path_of` takes it.
    :raises RequestError: one line: file, key, value, what is allowed.
    """
    path = path_of(name)
    file = shown_path(path)
    top = (
        StrictTable(file, parse_toml(file, text_of(path)))
        if path.suffix == ".json"
        else read_toml(path)
    )
    top.only(KEYS[""])
    rt_app = _rt_app(top, platform) if top.has("rt_app") else None
    programs = top.tables("program", 1, MOST_PROGRAMS) if top.has("program") else ()
    with_tasks = not (programs or rt_app) or top.has("task")
    tables = top.tables("task", 1, MOST_THREADS) if with_tasks else ()
    image = top.text("image", load_content().images) if top.has("image") else MINIMAL
    names_there = [shortened(str(table.data.get("name"))) for table in tables]
    groups = read_groups(top, platform)
    recording = _recording(top, path)
    free = [thread.name for thread in recording.threads] if recording else []
    tasks = tuple(
        _recorded(table, platform, groups, free)
        if table.has("recorded")
        else _task(table, platform, names_there, groups)
        for table in tables
    )
    if rt_app:
        tasks = tuple(_of_rt_app(task, rt_app.default_policy) for task in rt_app.measured)
        names_there = [task.name for task in tasks]
    window = _window(top.table("window"))
    members = tuple(read_program(table, platform, image, groups) for table in programs)
    scenario = Scenario(
        name=(path.relative_to(ROOT) if ROOT in path.parents else Path(path.name))
        .with_suffix("")
        .as_posix(),
        path=path,
        summary=top.text("summary"),
        source=top.text("source"),
        loads=top.text("loads"),
        tasks=tasks,
        programs=members,
        window=window,
        expect=tuple(
            map(_expect, top.tables("expect", 0, MOST_EXPECTATIONS) if top.has("expect") else ())
        ),
        digest=sha256_bytes(
            canonical_json(top.data) + (recording.text().encode() if recording else b"")
        ),
        background=top.text("background", BACKGROUNDS) if top.has("background") else "none",
        work=_work(top, names_there),
        source_conditions=read_conditions(top.table(SOURCE_CONDITIONS))
        if top.has(SOURCE_CONDITIONS)
        else None,
        frames=_frames(top, names_there),
        writes=events_of(
            top, window, platform, groups, {task.name: task for task in tasks}, members
        ),
        groups=groups,
        image=image,
        kernel_threads=_kernel_threads(top, platform),
        recording=recording,
        placing_ms=PLACING_MS * sum(5 + task.count for task in tasks)
        if any(task.placed for task in tasks)
        else 0,
        rt_app=rt_app,
    )
    top.finish()
    check_frames(scenario, top)
    if not rt_app:
        check_tasks(scenario, tables)
        check_attributes(scenario, tables, platform)
        check_noise(scenario, tables, platform)
    check_programs(scenario, programs, top.table("window"))
    check_measures(scenario, top)
    return scenario


def _rt_app(top: StrictTable, platform: Platform) -> RtAppFile:
    """rt-app's own file, which has all of a scenario's threads."""
    for key in ("task", "program", "group", "image", "recording"):
        if top.has(key):
            raise top.error(key, "not together with rt_app")
    text = top.value("rt_app", "the text of a file of rt-app")
    if not isinstance(text, str):
        raise top.error("rt_app", "the text of a file of rt-app")
    file = read_rt_app(top.file, text, len(platform.cpus))
    threads = sum(task.says.get("instance", 1) for task in file.tasks)
    if not 1 <= threads <= MOST_THREADS:
        raise bad_input(top.file, "tasks", f"{threads} threads", f"1 to {MOST_THREADS}")
    return file


def _of_rt_app(task: RtAppTask, default_policy: str) -> Task:
    """A task of rt-app's own file: what of it decides rates, clamps, slices and records."""
    says = task.says
    policy = POLICY_OF[says.get("policy", default_policy)]
    low, high = (
        next((part[key] for part in (says, *task.parts) if part.get(key, -1) >= 0), None)
        for key in ("util_min", "util_max")
    )
    return Task(
        name=task.name,
        count=len(task.threads),
        cpus=tuple(sorted({*says["cpus"]})) if says.get("cpus") else None,
        pinned=False,
        repeat=None if task.endless else 1,
        attributes=Attributes(
            policy=policy,
            nice=says.get("priority", 0) if policy in ("other", "idle") else 0,
            priority=says.get("priority", 10),
            uclamp_min=low,
            uclamp_max=high,
        ),
        phases=tuple(map(_phase_of_rt_app, task.parts)),
        start_within_us=APART_US,
    )


def _phase_of_rt_app(part: Mapping[str, Any]) -> Phase:
    """A phase by its sums, which say how often its turns come."""
    return Phase(
        loops=loops if (loops := part.get("loop", 1)) > 0 else None,
        wait="another" if events(part, *WAITS) else None,
        meet_before=(),
        run_us=sum(events(part, "run", "runtime")) or None,
        runtime_us=None,
        run_instructions=None,
        meet=(),
        sleep_us=sum(events(part, "sleep")) or None,
        period_us=sum(timers(part)) or None,
        cpus=tuple(part["cpus"]) if part.get("cpus") else None,
    )


def _kernel_threads(
    top: StrictTable, platform: Platform
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The table ``[kernel_threads]``."""
    table = top.table("kernel_threads") if top.has("kernel_threads") else StrictTable("", {})
    for name in table.data:
        if not re.fullmatch(r"[\w:/.-]{1,15}", name):
            raise table.error(
                name, "a kernel thread's name of up to 15 characters, such as kswapd0"
            )
    return tuple((name, read_cpus(table, platform, name) or ()) for name in table.data)


def _optional(
    table: StrictTable, key: str, minimum: int, maximum: int, unit: str = ""
) -> int | None:
    return table.integer(key, minimum, maximum, unit) if table.has(key) else None


def _task(
    table: StrictTable, platform: Platform, names_there: list[str], groups: Sequence[Group]
) -> Task:
    table.only(KEYS["task"])
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
        start_within_us=_optional(table, "start_within_us", 0, LONGEST_US, "us"),
        latency_nice=_optional(table, "latency_nice", -20, 19),
        slice_us=_optional(table, "slice_us", 100, 100_000, "us"),
        start_cpus=start,
        start_turns=_optional(table, "start_turns", 1, MOST_START_TURNS) or 1,
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
    nice, priority = _optional(table, "nice", -20, 19), _optional(table, "priority", 1, 98)
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


def _recording(top: StrictTable, path: Path) -> Recorded | None:
    """The file of bursts that the scenario names, beside its own file."""
    return read_recorded(path.parent / top.text("recording")) if top.has("recording") else None


def _recorded(
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
        latency_nice=_optional(table, "latency_nice", -20, 19),
        slice_us=_optional(table, "slice_us", 100, 100_000, "us"),
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
    table.only(KEYS["task.phase"])
    loops = _optional(table, "loops", 1, 1_000_000)
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
    run_us = _optional(table, "run_us", 1, LONGEST_US, "us")
    runtime_us = _optional(table, "runtime_us", 1, LONGEST_US, "us")
    run_instructions = _optional(table, "run_instructions", 1, 10**12)
    io_us = _optional(table, "io_us", 1, MOST_IO_US, "us")
    sleep_us = _optional(table, "sleep_us", 1, LONGEST_US, "us")
    period_us = _optional(table, "period_us", 100, LONGEST_US, "us")
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


def _window(table: StrictTable) -> WindowLengths:
    table.only(KEYS["window"])
    warmup = table.integer("warmup_ms", LEAST_WARMUP_MS, 600_000, "ms: PELT settles in 200")
    short = full = until = None
    if table.has("until"):
        until = table.text("until", ["tasks-end", "programs-end"])
        for key in ("short_ms", "full_ms", "from"):
            if table.has(key):
                raise table.error(key, "not together with until")
    else:
        full = table.integer("full_ms", 1, 3_000_000, "ms")
        short = table.integer("short_ms", 1, full, "ms, up to full_ms")
    mainline = 0
    if table.has("from"):
        table.text("from", ("mainline",))
        mainline = table.integer("mainline_ms", LEAST_WARMUP_MS, 600_000, "ms before the switch")
    table.finish()
    return WindowLengths(warmup, short, full, until, mainline)


def _work(top: StrictTable, tasks: list[str]) -> WorkRecord:
    """The unit of work: the file's, or operations of programs, or the busy loop's."""
    programs = top.has("program")
    if not top.has("work"):
        return WorkRecord("operation", PROGRAMS) if programs else LOOPS_WORK
    table = top.table("work")
    table.only(KEYS["work"])
    unit = table.text("unit")
    if not re.fullmatch(r"[a-z][a-z -]{0,23}", unit):
        raise table.error("unit", "what one unit is called, in 1 to 24 of a-z, space and -")
    known = [f"{kind}.{task}" for kind in (TURNS, WAKE_UPS) for task in tasks]
    counted = table.text("counted", [*known, PROGRAMS] if programs else known)
    table.finish()
    return WorkRecord(unit, counted)


def _frames(top: StrictTable, tasks: list[str]) -> FramesRecord | None:
    """The tasks that make frames."""
    if not top.has("frames"):
        return None
    table = top.table("frames")
    table.only(KEYS["frames"])
    record = FramesRecord(
        paced_by=table.text("paced_by", tasks),
        drawn_by=table.text("drawn_by", tasks),
        periods=_optional(table, "periods", 1, MOST_PERIODS) or 1,
    )
    table.finish()
    return record


def _expect(table: StrictTable) -> Expectation:
    statement = table.text("statement")
    variant = table.text("variant")
    try:
        parsed = parse_statement(statement)
    except ExpectationError as error:
        raise table.error("statement", str(error)) from error
    if any(part.sign in ("==", "!=") for part in parsed.parts):
        allowed = "< <= > >=: no number of runs shows that two numbers are equal; abs(A - B) < M"
        raise table.error("statement", allowed)
    own = {variant, *parsed.variants}
    if len(own) > 2:
        raise table.error("statement", "measures of two variants at most, its own among them")
    if table.has("finding"):
        where = "analysis/known/data/findings/PLATFORM/SCENARIO.toml"
        raise table.error("finding", f"nothing: {where} has it")
    percent, size, size_of, measured = _size(table, len(parsed.parts))
    expect = Expectation(
        *(variant, statement, table.text("source"), percent, _fails_under(table, own)),
        *(size, size_of, measured),
    )
    table.finish()
    return expect


def _fails_under(table: StrictTable, own: set[str]) -> tuple[str, ...]:
    """The variants under which a statement must fail.

    The statement's own variants are no test of it: their runs would be compared with themselves.
    """
    if not table.has("fails_under"):
        return ()
    allowed = f"a list of variants other than {', '.join(map(shortened, sorted(own)))}"
    names = table.texts("fails_under", allowed=allowed, least=0)
    if own & {*names}:
        raise table.error("fails_under", allowed)
    return names


def _size(table: StrictTable, comparisons: int) -> tuple[float | None, float | None, int, str]:
    """The size that the source measured, in percent or in the comparison's unit, and its source."""
    percent = table.number("size_percent", -100, 1000) if table.has("size_percent") else None
    if percent is not None and table.has("size"):
        raise table.error("size", "not together with size_percent")
    size = table.number("size", -MOST_SIZE, MOST_SIZE) if table.has("size") else None
    if percent is None and size is None:
        for key in ("size_of", "measured"):
            if table.has(key):
                raise table.error(key, "only with size_percent or size")
    of = table.integer("size_of", 1, comparisons) if table.has("size_of") else 1
    measured = table.text("measured", measurements()) if table.has("measured") else ""
    return percent, size, of, measured
