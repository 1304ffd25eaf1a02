# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks across the tables of a scenario file: meetings, waits, ends, measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from eascope.analysis.paths import PROGRAM, wrong_path
from eascope.analysis.programs import MEASURES, OPERATIONS, is_measure
from eascope.analysis.records.cell import NO_GROUP
from eascope.analysis.statement import parse as parse_statement
from eascope.configs.platform import CAPACITY_SCALE, Platform
from eascope.experiments.scenario import members
from eascope.experiments.scenario.model import DEADLINE, MOST_THREADS, REALTIME, Scenario, Task
from eascope.experiments.scenario.program import Program, ProgramFile
from eascope.experiments.scenario.tasks import AttributesFile, TaskFile
from eascope.host.errors import bad_input
from eascope.host.keys import Place, WrongValue
from eascope.host.strict import shown_path
from eascope.rootfs.mixture import MOST_MIXTURES

#: The guest's agent starts up to 32 processes, of which a program takes four.
MOST_MEMBERS = 7
#: Words of a command that the guest's agent spawns, `member`'s own among them.
COMMAND_WORDS = 64


def check_tasks(scenario: Scenario, files: Sequence[TaskFile]) -> None:
    """Check tasks across tables: unique names, the number of threads, an end if one is needed."""
    seen: set[str] = set()
    for task, own in zip(scenario.tasks, files, strict=True):
        table = own.place
        if task.name in seen:
            raise table.error("name", "a name that no other task has")
        seen.add(task.name)
        if task.start_cpus and task.start_turns * (task.period_us or 0) > (
            1000 * scenario.window.warmup_ms
        ):
            raise table.error("start_turns", "jobs that end within window.warmup_ms")
        if scenario.window.until == "tasks-end" and task.repeat is None:
            raise table.error("repeat", 'an integer, because window.until is "tasks-end"')
        if scenario.window.until == "tasks-end" and task.recorded:
            raise table.error("recorded", 'nothing, because window.until is "tasks-end"')
        if scenario.window.until == "tasks-end" and task.endless:
            allowed = 'an integer, because window.until is "tasks-end"'
            raise own.phase[-1].place.error("loops", allowed)
    _check_meetings(scenario, files)
    _check_memory(scenario, files)
    _check_waits(scenario, files)
    threads = sum(task.count for task in scenario.tasks if not task.recorded)
    if threads > MOST_THREADS:
        file = shown_path(scenario.path)
        raise bad_input(file, "task", f"{threads} threads", f"up to {MOST_THREADS}")


def check_attributes(scenario: Scenario, files: Sequence[TaskFile], platform: Platform) -> None:
    """Check what the kernel would refuse of attributes, or rt-app cannot take back."""
    wanted = Fraction(0)
    for task, own in zip(scenario.tasks, files, strict=True):
        parts: list[AttributesFile] = [own, *own.phase]
        for phase in own.phase:
            if phase.io_us not in (None, scenario.io_us):
                allowed = f"{scenario.io_us}, as in other phases: one device"
                raise phase.place.error("io_us", allowed)
        every = task.all_attributes
        policies = {each.policy for each in every}
        lows = {each.uclamp_min is None for each in every}
        if len(lows) > 1 and policies & {*REALTIME}:
            # Without one it has what the kernel gives real-time tasks, which is a setting.
            allowed = "no min that the task itself does not have, in a task with fifo or rr"
            where = next(one for one in parts if one.uclamp and one.uclamp.min is not None)
            raise where.place.error("uclamp", allowed)
        if task.slice_us is not None and len(policies) > 1:
            allowed = "not together with a phase's policy, which resets it"
            raise own.place.error("slice_us", allowed)
        if DEADLINE not in policies:
            continue
        apart = any(group.is_partition for group in scenario.groups)
        if task.affinities or apart or (task.group and task.group.cpus):
            allowed = "no deadline task with cpus, in a group with cpus, or beside a partition: "
            where = next(one for one in parts if one.policy == DEADLINE)
            raise where.place.error("policy", allowed + "the kernel wants all CPUs for it")
        shares = [
            (Fraction(one.deadline[0], one.deadline[2]), one) for one in parts if one.deadline
        ]
        share, where = max(shares, key=lambda share: share[0])
        wanted += task.count * share
        if allowed := not_admitted(platform, wanted, task.name):
            raise where.place.error("deadline", allowed)


def not_admitted(platform: Platform, wanted: Fraction, name: str) -> str:
    """What is allowed instead where ``sched_dl_overflow()`` refuses deadline tasks; else empty.

    It admits 95 % of all capacity, less each CPU's fair server. On 6.12 a rebuild of domains, as
    EAS makes one, forgets the servers, and then more is admitted.

    :param wanted: their time together, in CPUs, with that of the task ``name`` as the last.
    """
    most = Fraction(95 * sum(platform.capacities), 100 * CAPACITY_SCALE)
    most -= Fraction(5 * len(platform.cpus), 100)
    if wanted <= most:
        return ""
    return (
        f"up to {float(most):.3f} CPUs' time for deadline tasks together, which {name} makes "
        f"{float(wanted):.3f}: the kernel admits no more on {platform.name}"
    )


def check_frames(scenario: Scenario, top: Place) -> None:
    """Check that one thread's period begins a frame, and one thread's job ends it."""
    if scenario.frames is None:
        return
    table = top.inside("frames")
    tasks = {task.name: task for task in scenario.tasks}
    pacing, drawing = (tasks[table.one_of(role, tasks)] for role in ("paced_by", "drawn_by"))
    if pacing.period_us is None or pacing.clock == "exponential" or pacing.count != 1:
        raise table.error("paced_by", "a task of one thread with the same period in all phases")
    if drawing.count != 1:
        raise table.error("drawn_by", "a task of one thread")


def check_programs(scenario: Scenario, files: Sequence[ProgramFile], window: Place) -> None:
    """Check that the window ends with the programs that end, and that no task ends before."""
    seen = {task.name for task in scenario.tasks}
    threads: dict[str, str] = {}
    for program, own in zip(scenario.programs, files, strict=True):
        table = own.place
        if program.name in seen:
            raise table.error("name", "a name that no task and no other program has")
        seen.add(program.name)
        for thread in program.threads:
            if (other := threads.setdefault(thread, program.name)) != program.name:
                allowed = f"another program than {other}: threads of both are called {thread}"
                raise table.error("run", allowed)
        _check_words(program, table)
        server = program.kind.server
        if server and not any(program.run == server for program in scenario.programs):
            raise table.error("run", f"a scenario with a program {server}, which serves it")
    count = sum(program.member is not None for program in scenario.programs)
    if count > MOST_MEMBERS:
        raise bad_input(window.file, "program", f"{count} programs", f"up to {MOST_MEMBERS}")
    ends = any(program.ends_itself for program in scenario.programs)
    if (scenario.window.until == "programs-end") != ends:
        raise window.error(
            "until", '"programs-end" where the scenario has programs that end, and only there'
        )
    for task in scenario.tasks:
        if ends and not task.endless:
            raise window.error("until", f"tasks without an end, and {task.name} has one")


def _check_words(program: Program, table: Place) -> None:
    """Check that the guest's agent takes a program's command with all its variables."""
    variables = len(program.member.environment) if program.member else 0
    more = len(members.command(program, full=True, offset_us=0).split()) - COMMAND_WORDS
    if more > 0:
        allowed = f"up to {variables - more}: the program's command has up to {COMMAND_WORDS} words"
        raise table.line(WrongValue("environment", f"{variables} variables", allowed))


def meetings(task: Task, name: str) -> list[tuple[int, int | None]]:
    """The meetings of ``task`` at ``name``: (times in a job, loops) for each phase with one."""
    places = [(phase.meet_before + phase.meet, phase.loops) for phase in task.phases]
    return [(names.count(name), loops) for names, loops in places if name in names]


def _check_meetings(scenario: Scenario, files: Sequence[TaskFile]) -> None:
    """Check that two threads meet, each as often as the other; else one would wait for ever."""
    for own in files:
        for phase in own.phase:
            where = phase.place
            for name in phase.meet_before + phase.meet:
                key = "meet" if name in phase.meet else "meet_before"
                partners = [other for other in scenario.tasks if meetings(other, name)]
                if len(partners) != 2 or any(other.count != 1 for other in partners):
                    raise where.error(key, f"two tasks of one thread that meet at {name!r}")
                first, second = ((meetings(other, name), other.repeat) for other in partners)
                if first != second or any(times != 1 for times, _ in first[0]):
                    raise where.error(
                        key, f"{name!r} once in as many phases, loops and repeats of either task"
                    )


def _check_memory(scenario: Scenario, files: Sequence[TaskFile]) -> None:
    """Tasks of each share are a process, and no thread waits for one of another process."""
    if len(scenario.memory) > MOST_MIXTURES:
        allowed = f"up to {MOST_MIXTURES} different shares besides 0"
        raise bad_input(shown_path(scenario.path), "task.memory", list(scenario.memory), allowed)
    for task, own in zip(scenario.tasks, files, strict=True):
        for other in scenario.tasks:
            waits = any(phase.wait == other.name for phase in task.phases)
            if other.memory != task.memory and (waits or task.names_met & other.names_met):
                allowed = f"{other.memory:g}, the memory of {other.name}, for which it waits"
                raise own.place.line(WrongValue("memory", task.memory, allowed))


def _check_waits(scenario: Scenario, files: Sequence[TaskFile]) -> None:
    """Check that no tasks wait for each other before any work is done."""
    waiting = stuck({task.name: _steps(task) for task in scenario.tasks})
    for task, own in zip(scenario.tasks, files, strict=True):
        step = waiting.get(task.name)
        if step is not None:
            phase = own.phase[step.phase].place
            key = "wait" if isinstance(step, Wait) else "meet"
            if isinstance(step, Meet) and step.name in task.phases[step.phase].meet_before:
                key = "meet_before"
            raise phase.error(key, f"tasks of which one can begin; {', '.join(waiting)} never can")


def _steps(task: Task) -> list[Step]:
    """The waits and signals of a job of ``task``, in rt-app's order."""
    steps: list[Step] = []
    for number, phase in enumerate(task.phases):
        steps += [Wait(phase.wait, number)] if phase.wait is not None else []
        steps += [Meet(name, number) for name in phase.meet_before]
        steps.append(Signal())
        steps += [Meet(name, number) for name in phase.meet]
    return steps


def check_measures(scenario: Scenario, tables: Sequence[Place]) -> None:
    """Check that expectations name measures that a run of this scenario can have."""
    for table in tables:
        if wrong := wrong_measure(scenario, table.data["statement"]):
            raise table.line(WrongValue("statement", *wrong))


def wrong_measure(scenario: Scenario, statement: str) -> tuple[str, str] | None:
    """The first measure of a statement that no run of this scenario has, and what is allowed."""
    programs = [program.name for program in scenario.programs]
    named = {
        "task": [*(task.name for task in scenario.tasks), *programs],
        "program": programs,
        "load": [load.name for load in scenario.interrupts],
        "group": [NO_GROUP, *(group.name for group in scenario.groups)] if scenario.groups else [],
    }
    for measure in parse_statement(statement).measures:
        wrong = wrong_path(measure.path, named) or _wrong_printed(measure.path, scenario)
        if wrong:
            return ".".join(measure.path), f"a measure: {wrong}"
    return None


def _wrong_printed(path: Sequence[str], scenario: Scenario) -> str:
    """Why a program cannot give this measure, in words; empty for all other measures."""
    if path[0] != PROGRAM:
        return ""
    run = next(program.run for program in scenario.programs if program.name == path[1])
    if is_measure(run, path[2]):
        return ""
    known = ", ".join([*MEASURES.get(run, ()), OPERATIONS])
    return f"{run} prints no {path[2]!r}: allowed: {known}"


@dataclass(frozen=True)
class Wait:
    """A step that waits until the task ``whom`` has ended a job's work."""

    whom: str
    phase: int


@dataclass(frozen=True)
class Meet:
    """A step that waits at ``name`` for the other task that meets there."""

    name: str
    phase: int


@dataclass(frozen=True)
class Signal:
    """The end of a phase's work, for which others may wait."""


Step = Wait | Meet | Signal


def stuck(tasks: Mapping[str, Sequence[Step]]) -> dict[str, Wait | Meet]:
    """The step at which each task stays for ever, for those that never end their first job.

    A task that has ended its work once is assumed to end it again at once. So a task that is stuck
    here is stuck in every run. A run may also be stuck where this finds nothing.

    :param tasks: the steps of a job, each phase once.
    """
    reached = dict.fromkeys(tasks, 0)
    met: Counter[tuple[str, str]] = Counter()
    signalled: set[str] = set()
    moved = True
    while moved:
        moved = False
        for name, steps in tasks.items():
            while reached[name] < len(steps):
                step = steps[reached[name]]
                if isinstance(step, Wait) and step.whom not in signalled:
                    break
                if isinstance(step, Meet) and not _others_come(tasks, reached, met, name, step):
                    break
                if isinstance(step, Signal):
                    signalled.add(name)
                if isinstance(step, Meet):
                    met[name, step.name] += 1
                reached[name] += 1
                moved = True
    ends = {
        name: steps[reached[name]] for name, steps in tasks.items() if reached[name] < len(steps)
    }
    return {name: step for name, step in ends.items() if not isinstance(step, Signal)}


def _others_come(
    tasks: Mapping[str, Sequence[Step]],
    reached: Mapping[str, int],
    met: Mapping[tuple[str, str], int],
    name: str,
    step: Meet,
) -> bool:
    """True if every other task that meets at ``step`` has met there as often, or waits there."""
    for other, steps in tasks.items():
        if other == name or not any(isinstance(s, Meet) and s.name == step.name for s in steps):
            continue
        at = steps[reached[other]] if reached[other] < len(steps) else None
        standing = isinstance(at, Meet) and at.name == step.name
        if met[other, step.name] + standing <= met[name, step.name]:
            return False
    return True
