# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios: who runs when, for how long, and what is expected of it.

A scenario file says nothing about a board: CPUs are symbolic (``little:0``, ``big:*``, ``any``),
work is in microseconds on the platform's largest CPU at its top OPP, clamps may be relative to a
cluster's capacity. :func:`load_scenario` checks the file against a platform.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from analysis.expect import ExpectationError
from analysis.expect import parse as parse_statement
from analysis.paths import wrong_path
from analysis.records.cell import Expectation
from configs.cpunames import CpuNameError
from configs.platform import Platform
from experiments.program import Program, read_cpus, read_program
from experiments.waiting import Meet, Signal, Step, Wait, stuck
from host.cache import canonical_json, sha256_bytes
from host.errors import RequestError, bad_input, missing_key, one_line, unknown
from host.strict import Table, read_toml

#: Where scenarios live; the name of one is its path below, without ``.toml``.
ROOT = Path(__file__).parent / "scenarios"

#: Linux keeps 15 characters of a thread's name; rt-app appends ``-N``.
COMM_CHARACTERS = 15
#: rt-app's load argument is a 32-bit int; ten minutes of work in one burst stays below it.
LONGEST_US = 600_000_000
POLICIES = ("other", "idle", "fifo", "rr")
MOST_THREADS = 99
MOST_PHASES = 1000
MOST_PROGRAMS = 9
MOST_EXPECTATIONS = 99
#: A task's load signals follow its changes within 100 to 200 ms.
LEAST_WARMUP_MS = 200


@dataclass(frozen=True)
class Phase:
    """A part of a task's life: work, then rest, ``loops`` times (``None``: to the end).

    ``meet_before`` and ``meet`` name where it waits for another task, before and after the work.
    """

    loops: int | None
    wait: str | None
    meet_before: tuple[str, ...]
    run_us: int | None
    runtime_us: int | None
    run_instructions: int | None
    meet: tuple[str, ...]
    sleep_us: int | None
    period_us: int | None
    cpus: tuple[int, ...] | None


@dataclass(frozen=True)
class Task:
    """``count`` equal threads. ``cpus`` and the clamps are resolved against the platform.

    With ``pinned`` each thread has one of ``cpus`` for itself. The phases are gone through
    ``repeat`` times (``None``: to the end).
    """

    name: str
    count: int
    cpus: tuple[int, ...] | None
    pinned: bool
    repeat: int | None
    uclamp_min: int | None
    uclamp_max: int | None
    policy: str
    nice: int
    priority: int
    phases: tuple[Phase, ...]

    @property
    def period_us(self) -> int | None:
        """The task's period, when all its phases have the same one."""
        periods = {phase.period_us for phase in self.phases}
        return next(iter(periods)) if len(periods) == 1 else None

    @property
    def endless(self) -> bool:
        """Whether it runs until it is ended from outside."""
        return self.repeat is None or self.phases[-1].loops is None


#: The guess for a window that ends with its tasks or programs, in ms: ample, since the buffers of
#: the trace must hold it.
UNKNOWN_MS = 30_000


@dataclass(frozen=True)
class Window:
    """Durations in simulated milliseconds; ``short_ms`` is ``None`` where an end counts instead.

    ``until`` says whose: ``tasks-end`` or ``programs-end``.
    """

    warmup_ms: int
    short_ms: int | None
    full_ms: int | None
    until: str | None = None

    def length_ms(self, full: bool) -> int | None:
        """The measured part's length, or ``None``: until the tasks or programs end."""
        return self.full_ms if full else self.short_ms

    def simulated_s(self, full: bool) -> float:
        """Warm-up and measured part in s, with `UNKNOWN_MS` where the length is not known."""
        length_ms = self.length_ms(full)
        return (self.warmup_ms + (UNKNOWN_MS if length_ms is None else length_ms)) / 1000


@dataclass(frozen=True)
class Expect:
    """What a source says that a variant does, as a statement over the measures."""

    variant: str
    statement: str
    source: str

    def record(self) -> Expectation:
        """What ``cell.json`` says about it."""
        return Expectation(self.variant, self.statement, self.source)


@dataclass(frozen=True)
class Scenario:
    """A scenario, checked against one platform."""

    name: str
    path: Path
    summary: str
    source: str
    loads: str
    tasks: tuple[Task, ...]
    programs: tuple[Program, ...]
    window: Window
    expect: tuple[Expect, ...]
    digest: str


def names() -> list[str]:
    """All scenarios by name, sorted."""
    return sorted(
        path.relative_to(ROOT).with_suffix("").as_posix() for path in ROOT.rglob("*.toml")
    )


def path_of(name: str) -> Path:
    """The file of a scenario: a known name, or a path that ends in ``.toml``.

    :raises RequestError: when there is none, with the nearest name.
    """
    if name.endswith(".toml"):
        path = Path(name)
        if one_line(path.name) != path.name:
            raise RequestError(
                f"scenario {name!r}: allowed: a file name without control characters, because "
                "records call the scenario by it"
            )
        return path
    if name not in names():
        raise unknown("scenario", name, names())
    return ROOT / f"{name}.toml"


def summaries() -> list[tuple[str, str | RequestError]]:
    """Name and summary of every scenario, or what is wrong with its file."""
    summaries: list[tuple[str, str | RequestError]] = []
    for name in names():
        try:
            summaries.append((name, read_toml(path_of(name)).text("summary")))
        except RequestError as error:
            summaries.append((name, error))
    return summaries


def load_scenario(name: str, platform: Platform) -> Scenario:
    """Read and check a scenario for ``platform``.

    :param name: as :func:`path_of` takes it.
    :raises RequestError: one line: file, key, value, what is allowed.
    """
    path = path_of(name)
    top = read_toml(path)
    programs = top.tables("program", 1, MOST_PROGRAMS) if top.has("program") else ()
    with_tasks = not programs or top.has("task")
    tables = top.tables("task", 1, MOST_THREADS) if with_tasks else ()
    names_there = [str(table.data.get("name")) for table in tables]
    scenario = Scenario(
        name=(path.relative_to(ROOT) if ROOT in path.parents else Path(path.name))
        .with_suffix("")
        .as_posix(),
        path=path,
        summary=top.text("summary"),
        source=top.text("source"),
        loads=top.text("loads"),
        tasks=tuple(_task(table, platform, names_there) for table in tables),
        programs=tuple(read_program(table, platform) for table in programs),
        window=_window(top.table("window")),
        expect=tuple(
            map(_expect, top.tables("expect", 0, MOST_EXPECTATIONS) if top.has("expect") else ())
        ),
        digest=sha256_bytes(canonical_json(top.data)),
    )
    top.finish()
    _check_whole(scenario, tables)
    _check_programs(scenario, programs, top.table("window"))
    _check_measures(scenario, top)
    return scenario


def _check_whole(scenario: Scenario, tables: tuple[Table, ...]) -> None:
    """What no single table can say: names once, threads countable, an end where one is needed."""
    seen: set[str] = set()
    for task, table in zip(scenario.tasks, tables, strict=True):
        if task.name in seen:
            raise table.error("name", "a name that no other task has")
        seen.add(task.name)
        if scenario.window.until == "tasks-end" and task.repeat is None:
            raise table.error("repeat", 'an integer, because window.until is "tasks-end"')
        if scenario.window.until == "tasks-end" and task.endless:
            last = table.tables("phase", 1, MOST_PHASES)[-1]
            raise last.error("loops", 'an integer, because window.until is "tasks-end"')
    _check_meetings(scenario, tables)
    _check_waits(scenario, tables)
    threads = sum(task.count for task in scenario.tasks)
    if threads > MOST_THREADS:
        raise bad_input(tables[0].file, "task", f"{threads} threads", f"up to {MOST_THREADS}")


def _check_programs(scenario: Scenario, tables: tuple[Table, ...], window: Table) -> None:
    """Programs end, so the window ends with them and nothing else does within it."""
    seen = {task.name for task in scenario.tasks}
    for program, table in zip(scenario.programs, tables, strict=True):
        if program.name in seen:
            raise table.error("name", "a name that no task and no other program has")
        seen.add(program.name)
    if (scenario.window.until == "programs-end") != bool(tables):
        raise window.error(
            "until", '"programs-end" where the scenario has programs, and only there'
        )
    for task in scenario.tasks:
        if tables and not task.endless:
            raise window.error("until", f"tasks without an end, and {task.name} has one")


def meetings(task: Task, name: str) -> list[tuple[int, int | None]]:
    """Where ``task`` meets at ``name``: for each phase that does, (times in a turn, loops)."""
    places = [(phase.meet_before + phase.meet, phase.loops) for phase in task.phases]
    return [(names.count(name), loops) for names, loops in places if name in names]


def _check_meetings(scenario: Scenario, tables: tuple[Table, ...]) -> None:
    """Two threads meet, each as often as the other; or one would wait for ever."""
    for task, table in zip(scenario.tasks, tables, strict=True):
        for number, phase in enumerate(task.phases):
            where = table.tables("phase", 1, MOST_PHASES)[number]
            for name in phase.meet_before + phase.meet:
                key = "meet" if name in phase.meet else "meet_before"
                there = [other for other in scenario.tasks if meetings(other, name)]
                if len(there) != 2 or any(other.count != 1 for other in there):
                    raise where.error(key, f"two tasks of one thread that meet at {name!r}")
                first, second = ((meetings(other, name), other.repeat) for other in there)
                if first != second or any(times != 1 for times, _ in first[0]):
                    raise where.error(
                        key, f"{name!r} once in as many phases, loops and repeats of either task"
                    )


def _check_waits(scenario: Scenario, tables: tuple[Table, ...]) -> None:
    """No task waits for one that waits for it before it has done anything."""
    waiting = stuck({task.name: _steps(task) for task in scenario.tasks})
    for task, table in zip(scenario.tasks, tables, strict=True):
        step = waiting.get(task.name)
        if step is not None:
            phase = table.tables("phase", 1, MOST_PHASES)[step.phase]
            key = "wait" if isinstance(step, Wait) else "meet"
            if isinstance(step, Meet) and step.name in task.phases[step.phase].meet_before:
                key = "meet_before"
            raise phase.error(key, f"tasks of which one can begin; {', '.join(waiting)} never can")


def _steps(task: Task) -> list[Step]:
    """What a turn of ``task`` waits for and signals, in rt-app's order."""
    steps: list[Step] = []
    for number, phase in enumerate(task.phases):
        steps += [Wait(phase.wait, number)] if phase.wait is not None else []
        steps += [Meet(name, number) for name in phase.meet_before]
        steps.append(Signal())
        steps += [Meet(name, number) for name in phase.meet]
    return steps


def _check_measures(scenario: Scenario, top: Table) -> None:
    """Expectations are about measures that a run of this scenario can have."""
    tasks = [task.name for task in scenario.tasks]
    programs = [program.name for program in scenario.programs]
    tables = top.tables("expect", 0, MOST_EXPECTATIONS) if top.has("expect") else ()
    for table in tables:
        for measure in parse_statement(table.text("statement")).measures:
            if wrong := wrong_path(measure.path, tasks, programs):
                raise bad_input(
                    table.file,
                    table.key("statement"),
                    ".".join(measure.path),
                    f"a measure: {wrong}",
                )


def _optional(table: Table, key: str, minimum: int, maximum: int, unit: str = "") -> int | None:
    return table.integer(key, minimum, maximum, unit) if table.has(key) else None


def _task(table: Table, platform: Platform, names_there: list[str]) -> Task:
    cpus = read_cpus(table, platform)
    pinned, count = _threads(table, platform, cpus)
    # Of a thread's 15 characters "-NN" is rt-app's, and the number of each of several is ours.
    room = COMM_CHARACTERS - 3 - (len(str(count - 1)) if count > 1 else 0)
    name = table.text("name")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or len(name) > room:
        raise table.error("name", f"1 to {room} of a-z 0-9 _, beginning with a letter")
    policy = table.text("policy", POLICIES) if table.has("policy") else "other"
    fair = policy in ("other", "idle")
    if table.has("nice") and not fair:
        raise table.error("nice", f"no nice with policy {policy}")
    if table.has("priority") and fair:
        raise table.error("priority", f"no priority with policy {policy}")
    low, high = _uclamp(table.table("uclamp"), platform) if table.has("uclamp") else (None, None)
    phases = table.tables("phase", 1, MOST_PHASES)
    repeat = _repeat(table)
    if pinned:
        for phase in phases:
            if phase.has("cpus"):
                raise phase.error("cpus", "not together with the task's pin")
    others = [other for other in names_there if other != name]
    task = Task(
        name=name,
        count=count,
        cpus=cpus,
        pinned=pinned,
        repeat=repeat,
        uclamp_min=low,
        uclamp_max=high,
        policy=policy,
        nice=_optional(table, "nice", -20, 19) or 0,
        priority=_optional(table, "priority", 1, 98) or 10,
        phases=tuple(
            _phase(phase, platform, others, repeat == 1 and phase is phases[-1]) for phase in phases
        ),
    )
    table.finish()
    return task


def _threads(table: Table, platform: Platform, cpus: tuple[int, ...] | None) -> tuple[bool, int]:
    """Whether each thread has a CPU of its own, and how many threads there are."""
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


def _repeat(table: Table) -> int | None:
    """How often the phases are gone through; ``None``: to the end."""
    if not table.has("repeat"):
        return 1
    if table.data["repeat"] == "forever":
        return None
    if isinstance(table.data["repeat"], str):
        raise table.error("repeat", 'an integer in 1..1000000, or "forever"')
    return table.integer("repeat", 1, 1_000_000)


def _phase(table: Table, platform: Platform, others: list[str], last: bool) -> Phase:
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
    sleep_us = _optional(table, "sleep_us", 1, LONGEST_US, "us")
    period_us = _optional(table, "period_us", 100, LONGEST_US, "us")
    work = [key for key in ("run_us", "runtime_us", "run_instructions") if key in table.data]
    rest = [key for key in ("sleep_us", "period_us") if key in table.data]
    for given in (work, rest):
        if len(given) > 1:
            raise table.error(given[1], f"not together with {given[0]}")
    before, after = (_meet(table, key, others) for key in ("meet_before", "meet"))
    if not (work or rest or wait or before or after):
        raise bad_input(
            table.file,
            table.where,
            dict(table.data),
            "wait, meet, one of run_us, runtime_us, run_instructions, or sleep_us or period_us",
        )
    cpus = read_cpus(table, platform)
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
    )


def _meet(table: Table, key: str, others: list[str]) -> tuple[str, ...]:
    """Names of meeting points: one, or a list in the order in which they are reached."""
    if not table.has(key):
        return ()
    value = table.data[key]
    names = [value] if isinstance(value, str) else value
    allowed = "a name of a-z 0-9 _, or a list of such names"
    if not isinstance(names, list) or not names:
        raise table.error(key, allowed)
    if not all(isinstance(name, str) and re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names):
        raise table.error(key, allowed)
    if not others:
        raise table.error(key, "another task to meet, and there is none")
    return tuple(names)


def _uclamp(table: Table, platform: Platform) -> tuple[int | None, int | None]:
    low, high = (_clamp(table, key, platform) for key in ("min", "max"))
    table.finish()
    if low is not None and high is not None and low > high:
        raise table.error("min", f"up to max, which is {high}")
    return low, high


def _clamp(table: Table, key: str, platform: Platform) -> int | None:
    """An absolute clamp, or one relative to a cluster's capacity: ``1.0*little+1``."""
    if not table.has(key):
        return None
    value = table.data[key]
    clusters = {cluster.name: cluster for cluster in platform.clusters}
    clamp: int | None = None
    if isinstance(value, int) and not isinstance(value, bool):
        clamp = value
    elif isinstance(value, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*\*\s*([\w-]+?)\s*(?:([+-])\s*(\d+))?", value)
        if match and match[2] in clusters:
            capacity = platform.capacities[clusters[match[2]].cpus[0]]
            offset = int(match[4] or 0) * (-1 if match[3] == "-" else 1)
            clamp = int(Fraction(match[1]) * capacity) + offset
    if clamp is None or not 0 <= clamp <= 1024:
        example = platform.clusters[0].name
        raise table.error(
            key,
            f'0..1024, or relative to the capacity of {" or ".join(clusters)} like "0.5*{example}" '
            f'or "1.0*{example}+1", with a result in 0..1024',
        )
    return clamp


def _window(table: Table) -> Window:
    warmup = table.integer("warmup_ms", LEAST_WARMUP_MS, 600_000, "ms: PELT settles in 200")
    short = full = until = None
    if table.has("until"):
        until = table.text("until", ["tasks-end", "programs-end"])
        for key in ("short_ms", "full_ms"):
            if table.has(key):
                raise table.error(key, "not together with until")
    else:
        full = table.integer("full_ms", 1, 3_000_000, "ms")
        short = table.integer("short_ms", 1, full, "ms, up to full_ms")
    table.finish()
    return Window(warmup, short, full, until)


def _expect(table: Table) -> Expect:
    statement = table.text("statement")
    try:
        parse_statement(statement)
    except ExpectationError as error:
        raise table.error("statement", str(error)) from error
    if table.has("finding"):
        raise table.error("finding", "no such key; results/findings/PLATFORM/SCENARIO.toml has it")
    expect = Expect(table.text("variant"), statement, table.text("source"))
    table.finish()
    return expect
