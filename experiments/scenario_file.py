# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenario files: `load_scenario` reads one and checks it against a platform."""

from __future__ import annotations

import re
from pathlib import Path

from eascope.analysis.records.cell import (
    LOOPS_WORK,
    PROGRAMS,
    STIR,
    TURNS,
    WAKE_UPS,
    Expectation,
    FramesRecord,
    WorkRecord,
)
from eascope.analysis.statement import ExpectationError
from eascope.analysis.statement import parse as parse_statement
from eascope.configs.platform import Platform
from eascope.experiments.conditions import TABLE as SOURCE_CONDITIONS
from eascope.experiments.conditions import read_conditions
from eascope.experiments.groups import KEYS as GROUP_KEYS
from eascope.experiments.groups import read_cpus, read_groups
from eascope.experiments.interrupts import KEYS as INTERRUPT_KEYS
from eascope.experiments.interrupts import read_interrupts
from eascope.experiments.others import BACKGROUND, threads_besides
from eascope.experiments.program import read_program
from eascope.experiments.recorded import Recorded, read_recorded
from eascope.experiments.rtapp_own import read_own, task_of, text_of
from eascope.experiments.scenario import (
    BACKGROUNDS,
    MOST_EXPECTATIONS,
    MOST_THREADS,
    PLACING_MS,
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
from eascope.experiments.scenario_tasks import (
    PHASE_KEYS,
    TASK_KEYS,
    optional,
    read_replayed,
    read_task,
)
from eascope.experiments.sources import measurements, stated
from eascope.experiments.turns import meeting, turns_of
from eascope.host.cache import canonical_json, sha256_bytes
from eascope.host.errors import bad_input, shortened
from eascope.host.strict import StrictTable, parse_toml, read_toml, shown_path
from eascope.rootfs.content import MINIMAL, load_content

#: Of what a source measured, in a unit of result.json.
MOST_SIZE = 1e9
MOST_PROGRAMS = 9
#: Of numbers in statements.toml.
MOST_STATED = 999
#: Frames that are under way at once, in the deepest pipeline.
MOST_PERIODS = 9
#: A task's load signals follow its changes within 100 to 200 ms.
LEAST_WARMUP_MS = 200
#: Keys of the tables that have some which must be there: a misspelt one is named as what it is.
KEYS = {
    "": (
        *("summary", "source", "loads", "background", "image", "recording", SOURCE_CONDITIONS),
        *("group", "task", "program", "window", "event", "expect", "work", "frames", "rt_app"),
        *("kernel_threads", "interrupt"),
    ),
    "interrupt": INTERRUPT_KEYS,
    "task": TASK_KEYS,
    "task.phase": PHASE_KEYS,
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
    rt_app = read_own(top, platform) if top.has("rt_app") else None
    programs = top.tables("program", 1, MOST_PROGRAMS) if top.has("program") else ()
    with_tasks = not (programs or rt_app) or top.has("task")
    tables = top.tables("task", 1, MOST_THREADS) if with_tasks else ()
    image = top.text("image", load_content().images) if top.has("image") else MINIMAL
    names_there = [shortened(str(table.data.get("name"))) for table in tables]
    groups = read_groups(top, platform)
    recording = _recording(top, path)
    free = [thread.name for thread in recording.threads] if recording else []
    tasks = tuple(
        read_replayed(table, platform, groups, free)
        if table.has("recorded")
        else read_task(table, platform, names_there, groups)
        for table in tables
    )
    if rt_app:
        tasks = tuple(task_of(task, rt_app.default_policy) for task in rt_app.measured)
        names_there = [task.name for task in tasks]
    window = _window(top.table("window"))
    members = tuple(read_program(table, platform, image, groups) for table in programs)
    kernel_threads = _kernel_threads(top, platform)
    interrupts = read_interrupts(top, platform)
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
            *(top, window, platform, groups, {task.name: task for task in tasks}, members),
            kernel_threads,
            interrupts,
        ),
        groups=groups,
        image=image,
        kernel_threads=kernel_threads,
        recording=recording,
        interrupts=interrupts,
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


def _kernel_threads(
    top: StrictTable, platform: Platform
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    table = top.table("kernel_threads") if top.has("kernel_threads") else StrictTable("", {})
    for name in table.data:
        if not re.fullmatch(r"[\w:/.-]{1,15}", name):
            raise table.error(
                name, "a kernel thread's name of up to 15 characters, such as kswapd0"
            )
    return tuple((name, read_cpus(table, platform, name) or ()) for name in table.data)


def _recording(top: StrictTable, path: Path) -> Recorded | None:
    """The file of bursts that the scenario names, beside its own file."""
    return read_recorded(path.parent / top.text("recording")) if top.has("recording") else None


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
    if not top.has("frames"):
        return None
    table = top.table("frames")
    table.only(KEYS["frames"])
    record = FramesRecord(
        paced_by=table.text("paced_by", tasks),
        drawn_by=table.text("drawn_by", tasks),
        periods=optional(table, "periods", 1, MOST_PERIODS) or 1,
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
        *(size, size_of, measured, _states(table)),
    )
    table.finish()
    return expect


def _states(table: StrictTable) -> int:
    """The number of the source's sentence that it says; 0 where there is none."""
    if not table.has("states"):
        return 0
    number = table.integer("states", 1, MOST_STATED, "")
    if number not in (known := stated()) or known[number].untested:
        allowed = "the number of a statement in experiments/statements.toml without untested"
        raise table.error("states", allowed)
    return number


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


#: Turns of one repeat that can be drawn.
MOST_DRAWN_TURNS = 1_000
#: A timer that comes early or late must not come before the one before it.
LEAST_VSYNC_US = 1_000


def check_noise(scenario: Scenario, tables: tuple[StrictTable, ...], platform: Platform) -> None:
    """Check that turns that vary can be written, and that threads outside the scenario have room.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    for task, table in zip(scenario.tasks, tables, strict=True):
        if re.fullmatch(rf"({BACKGROUND}|{STIR})\d*", task.name):
            raise table.error("name", f"not {BACKGROUND} or {STIR}: other threads have these names")
        if task.varies:
            _check_varies(scenario, task, table)
    threads = sum(task.count for task in scenario.tasks if not task.recorded)
    besides = threads_besides(scenario.background, platform)
    if threads + besides > MOST_THREADS:
        shown = f"{threads} threads and {besides} others ({scenario.background} background)"
        raise bad_input(tables[0].file, "task", shown, f"up to {MOST_THREADS} together")


def _check_varies(scenario: Scenario, task: Task, table: StrictTable) -> None:
    phases = task.phases
    key = "work_cv" if task.work_cv else "clock"
    if task.work_cv and all(
        phase.run_us is None and phase.run_instructions is None for phase in phases
    ):
        raise table.error("work_cv", "only with run_us or run_instructions in a phase")
    if task.clock != "exact":
        if any(phase.period_us is None for phase in phases):
            raise table.error("clock", "only with period_us in every phase")
        least = min(phase.period_us or 0 for phase in phases)
        if task.clock == "vsync" and least < LEAST_VSYNC_US:
            raise table.error("clock", f"only with periods of {LEAST_VSYNC_US} us or more")
        if task.names_met and task.clock == "exponential":
            raise table.error("clock", "exact or vsync with meet, because two tasks keep step")
    for other in meeting(scenario, task):
        if other.has_prelude and other.endless:
            place = "" if other is task else f" of {other.name}, which it meets"
            raise table.error(
                key, f"phases{place} that repeat, without an endless phase after others"
            )
        if turns_of(other) > MOST_DRAWN_TURNS:
            raise table.error(
                key, f"up to {MOST_DRAWN_TURNS} turns in a repeat, not {turns_of(other)}"
            )
