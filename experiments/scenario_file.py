# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenario files: `load_scenario` reads one and checks it against a platform."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from eascope.analysis.statement import parse as parse_statement
from eascope.configs.delta import with_origin
from eascope.configs.platform import Platform
from eascope.experiments.rtapp.own import read_own, task_of, text_of
from eascope.experiments.scenario.checks import (
    check_attributes,
    check_frames,
    check_measures,
    check_programs,
    check_tasks,
)
from eascope.experiments.scenario.clamps import CPUS
from eascope.experiments.scenario.conditions import ConditionsFile, SourceConditions
from eascope.experiments.scenario.events import KERNEL_THREAD, EventFile, events_of
from eascope.experiments.scenario.groups import GroupFile, groups_of
from eascope.experiments.scenario.interrupts import MOST_TIMERS, InterruptFile, interrupts_of
from eascope.experiments.scenario.jobs import jobs_of, meeting
from eascope.experiments.scenario.model import (
    BACKGROUNDS,
    MOST_THREADS,
    PLACING_MS,
    Scenario,
    Task,
    WindowLengths,
)
from eascope.experiments.scenario.names import ROOT, path_of
from eascope.experiments.scenario.others import BACKGROUND, threads_besides
from eascope.experiments.scenario.program import ProgramFile, program_from
from eascope.experiments.scenario.reading import read_scenario
from eascope.experiments.scenario.recorded import read_recorded
from eascope.experiments.scenario.sources import measurements, stated
from eascope.experiments.scenario.tasks import TaskFile, replayed_from, task_from
from eascope.host.cache import canonical_json, sha256_bytes
from eascope.host.errors import RequestError, bad_input, shortened
from eascope.host.keys import Place, Placed, form_of, key, maybe, same
from eascope.host.strict import parse_toml, read_toml, shown_path
from eascope.rootfs.content import MINIMAL, load_content

TEXT = form_of(lambda value: isinstance(value, str), "text of an rt-app JSON file", type="string")


@dataclass(frozen=True)
class WindowFile(Placed, WindowLengths):
    """The window that is measured."""

    from_: str | None = maybe("settings before the warm-up", name="from", choices=("mainline",))

    def check(self) -> None:
        """It has a length, or an end."""
        place = self.place
        for name in ("short_ms", "full_ms", "from"):
            if self.until and name in place.data:
                raise place.error(name, "not together with until")
        if not self.until:
            self.need("short_ms", "full_ms")
        place.within("short_ms", 1, self.full_ms or 0, "ms, up to full_ms")
        if self.from_:
            self.need("mainline_ms")
        elif self.mainline_ms:
            raise place.error("mainline_ms", "only together with from")

    def meaning(self) -> WindowLengths:
        """The lengths as a scenario has them."""
        return WindowLengths(**same(WindowLengths, self))


@dataclass(frozen=True, kw_only=True)
class ScenarioFile:
    """A scenario's file."""

    summary: str = key("one line for `eascope list scenarios`")
    source: str = key("where it comes from, and what was observed there")
    loads: str = key("how each load was chosen")
    background: str = key("background threads", choices=BACKGROUNDS, default="none")
    image: str = key("the guest image", choices=lambda: load_content().images, default=MINIMAL)
    recording: str | None = maybe("bursts file in the same directory")
    source_conditions: SourceConditions | None = maybe(
        "kernel and board of the original posting", table=ConditionsFile
    )
    group: tuple[GroupFile, ...] = key("cgroups", count=(1, 20), default=())
    kernel_threads: Mapping[str, Any] = key("CPUs of kernel threads", each=CPUS, default={})
    task: tuple[TaskFile, ...] = key("tasks", count=(1, MOST_THREADS), default=())
    program: tuple[ProgramFile, ...] = key("programs", count=(1, 9), default=())
    rt_app: str | None = maybe("text of an rt-app JSON file", form=TEXT)
    work: WorkRecord | None = maybe("the unit of work")
    frames: FramesRecord | None = maybe("tasks that draw frames")
    window: WindowLengths = key("the measured part of the run", table=WindowFile)
    event: tuple[EventFile, ...] = key("timed actions in the window", count=(1, 100), default=())
    interrupt: tuple[InterruptFile, ...] = key(
        "interrupt loads", count=(1, MOST_TIMERS), default=()
    )
    expect: tuple[Expectation, ...] = key("the source's claims", count=(0, 99), default=())


def load_scenario(name: str, platform: Platform) -> Scenario:
    """Read and check a scenario for ``platform``.

    :param name: as :func:`path_of` takes it.
    :raises RequestError: one line: file, key, value, what is allowed.
    """
    path = path_of(name)
    file = shown_path(path)
    if path.suffix == ".json":
        return _scenario(Place(file, parse_toml(file, text_of(path))), path, platform)
    top = read_scenario(path)
    try:
        return _scenario(top, path, platform)
    except RequestError as error:
        base = str(read_toml(path).data.get("base", ""))
        raise RequestError(with_origin(str(error), top, base, path)) from error


def _scenario(top: Place, path: Path, platform: Platform) -> Scenario:
    """What the keys ``top`` state, checked as a whole."""
    expected = top.rows("expect", 0, 99) if "expect" in top.data else []
    own = top.decoded(ScenarioFile, platform=platform)
    rt_app = read_own(top, own.rt_app, platform) if own.rt_app else None
    if not (own.program or rt_app or own.task):
        raise top.lacks("task", f"1 to {MOST_THREADS} tables")
    names_there = [task.name for task in own.task]
    groups = groups_of(own.group, platform)
    recording = read_recorded(path.parent / own.recording) if own.recording else None
    free = [thread.name for thread in recording.threads] if recording else []
    tasks = tuple(
        replayed_from(task, groups, free)
        if "recorded" in task.place.data
        else task_from(task, platform, names_there, groups)
        for task in own.task
    )
    if rt_app:
        tasks = tuple(task_of(task, rt_app.default_policy) for task in rt_app.measured)
        names_there = [task.name for task in tasks]
    programs = tuple(program_from(program, own.image, groups) for program in own.program)
    kernel_threads = _kernel_threads(top, own)
    interrupts = interrupts_of(top, own.interrupt)
    bound = [(f"kernel thread {name}", {*cpus}) for name, cpus in kernel_threads]
    bound += [(f"interrupt {load.name}", {cpu}) for load in interrupts for cpu in load.cpus]
    for table, expectation in zip(expected, own.expect, strict=True):
        _check_expected(table, expectation)
    scenario = Scenario(
        **same(Scenario, own)
        | {
            "name": (path.relative_to(ROOT) if ROOT in path.parents else Path(path.name))
            .with_suffix("")
            .as_posix(),
            "path": path,
            "tasks": tasks,
            "programs": programs,
            "digest": sha256_bytes(
                canonical_json(top.data) + (recording.text().encode() if recording else b"")
            ),
            "work": _work(top, own, names_there),
            "writes": events_of(
                *(own.event, own.window, platform, groups),
                *({task.name: task for task in tasks}, programs, bound),
            ),
            "interrupts": interrupts,
            "groups": groups,
            "kernel_threads": kernel_threads,
            "recording": recording,
            "placing_ms": PLACING_MS * sum(5 + task.count for task in tasks)
            if any(task.placed for task in tasks)
            else 0,
            "rt_app": rt_app,
        }
    )
    check_frames(scenario, top)
    if not rt_app:
        check_tasks(scenario, own.task)
        check_attributes(scenario, own.task, platform)
        check_noise(scenario, own.task, platform)
    check_programs(scenario, own.program, top.inside("window"))
    check_measures(scenario, expected)
    return scenario


def _kernel_threads(top: Place, own: ScenarioFile) -> tuple[tuple[str, tuple[int, ...]], ...]:
    for name in own.kernel_threads:
        if not re.fullmatch(KERNEL_THREAD.schema["pattern"], name):
            raise top.inside("kernel_threads").error(name, KERNEL_THREAD.allowed)
    return tuple(own.kernel_threads.items())


def _work(top: Place, own: ScenarioFile, tasks: list[str]) -> WorkRecord:
    """The unit of work: the file's, or operations of programs, or the busy loop's."""
    if own.work is None:
        return WorkRecord("operation", PROGRAMS) if own.program else LOOPS_WORK
    known = [f"{kind}.{task}" for kind in (TURNS, WAKE_UPS) for task in tasks]
    top.inside("work").one_of("counted", [*known, PROGRAMS] if own.program else known)
    return own.work


def _check_expected(table: Place, own: Expectation) -> None:
    try:
        parsed = parse_statement(own.statement)
    except RequestError as error:
        raise RequestError(f"{table.file}: {table.key('statement')} = {error}") from error
    if any(part.sign in ("==", "!=") for part in parsed.parts):
        allowed = "< <= > >=: no number of runs shows that two numbers are equal; abs(A - B) < M"
        raise table.error("statement", allowed)
    # The statement's own variants are no test of it: runs would be compared with themselves.
    variants = {own.variant, *parsed.variants}
    if len(variants) > 2:
        raise table.error("statement", "measures of two variants at most, its own among them")
    if variants & {*own.fails_under}:
        others = ", ".join(map(shortened, sorted(variants)))
        raise table.error("fails_under", f"a list of variants other than {others}")
    if own.size_percent is not None and own.size is not None:
        raise table.error("size", "not together with size_percent")
    for name in ("size_of", "measured"):
        if own.size_percent is None and own.size is None and name in table.data:
            raise table.error(name, "only with size_percent or size")
    table.within("size_of", 1, len(parsed.parts), "comparisons from 1")
    if own.states and (own.states not in (known := stated()) or known[own.states].untested):
        allowed = "the number of a statement in experiments/statements.toml without untested"
        raise table.error("states", allowed)
    if "measured" in table.data:
        table.one_of("measured", measurements())


#: Jobs of one repeat that can be drawn.
MOST_DRAWN_JOBS = 1_000
#: A timer that comes early or late must not come before the one before it.
LEAST_VSYNC_US = 1_000


def check_noise(scenario: Scenario, files: Sequence[TaskFile], platform: Platform) -> None:
    """Check that jobs that vary can be written, and that threads outside the scenario have room.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    for task, own in zip(scenario.tasks, files, strict=True):
        if re.fullmatch(rf"({BACKGROUND}|{STIR})\d*", task.name):
            allowed = f"not {BACKGROUND} or {STIR}: other threads have these names"
            raise own.place.error("name", allowed)
        if task.varies:
            _check_varies(scenario, task, own.place)
    threads = sum(task.count for task in scenario.tasks if not task.recorded)
    besides = threads_besides(scenario.background, platform)
    if threads + besides > MOST_THREADS:
        shown = f"{threads} threads and {besides} others ({scenario.background} background)"
        raise bad_input(shown_path(scenario.path), "task", shown, f"up to {MOST_THREADS} together")


def _check_varies(scenario: Scenario, task: Task, table: Place) -> None:
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
        if jobs_of(other) > MOST_DRAWN_JOBS:
            raise table.error(
                key, f"up to {MOST_DRAWN_JOBS} jobs in a repeat, not {jobs_of(other)}"
            )
