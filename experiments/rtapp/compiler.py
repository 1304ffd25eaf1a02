# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenario to rt-app: the JSON that LISA's rt-app runs in the guest, exact in the work it does.

For ``run: N`` (microseconds) rt-app makes ``N * 1000 / calibration`` iterations of its busy loop,
in integers, and splits runs of a second and more. With ``calibration = 1000`` both steps have no
remainder, so ``run: N`` is exactly N iterations. N is computed from the platform's activity. The
guest calibrates nothing, because the calibrating loop would run on some CPU at some OPP.

This file avoids traps of rt-app (seen in its source, at LISA 3.1.0's version):

* a barrier's users are the events that name it: a task that names it in two phases is two users;
* a task with ``phases`` but without ``loop`` repeats for ever; ``loop`` is always written;
* keys of a phase are its events, in order, and differ by prefix;
* a ``timer`` in relative mode shifts its grid after an overrun, so a late variant would do less
  work; ours are absolute;
* with ftrace markers it refuses to start unless ``tracing_on`` is 1 at that moment;
* rt-app appends ``-INDEX`` to thread names; INDEX counts over all tasks, a name has 15 characters;
* to read a phase costs the guest 50 000 instructions, a run and a sleep within a phase 16 000.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from eascope.analysis.records.cell import TaskRecord, UclampRange
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.experiments.rtapp.own import compile_own
from eascope.experiments.scenario import recorded
from eascope.experiments.scenario.jobs import Course, Job, drawn, plain
from eascope.experiments.scenario.model import DEADLINE, FAIR, Attributes, Phase, Scenario, Task
from eascope.experiments.scenario.others import STIR_MS, others
from eascope.experiments.scenario.replicate import (
    in_order,
    replicate_record,
    start_offset_us,
    task_start_us,
)
from eascope.experiments.scenario.workload import (
    IO_BYTES,
    OTHERS_NAME,
    RT_APP_NAME,
    Workload,
    deadline_us,
    document_of,
    is_endless,
    iterations_per_us,
)
from eascope.host.cache import digest_of
from eascope.host.errors import bad_input

#: rt-app reads numbers into a 32-bit int.
MOST_ITERATIONS = 2**31 - 1
#: A recording begins so much after the window, at the latest.
LATER_MS = 3
#: rt-app knows no SCHED_BATCH: the agent makes these threads that.
POLICY = {
    **{"other": "SCHED_OTHER", "batch": "SCHED_OTHER", "idle": "SCHED_IDLE"},
    **{"fifo": "SCHED_FIFO", "rr": "SCHED_RR", DEADLINE: "SCHED_DEADLINE"},
}


def memory_name(number: int) -> str:
    """The name under which rt-app runs with the tasks of a mixture; mixtures count from 1."""
    return f"memory{number}"


def process_of(scenario: Scenario, task: Task) -> str:
    """The name of the rt-app that has the threads of ``task``."""
    if task.recorded:
        return recorded.NAME
    if not task.memory:
        return RT_APP_NAME
    return memory_name(scenario.memory.index(task.memory) + 1)


def compile_scenario(
    scenario: Scenario,
    platform: Platform,
    activity: Activity,
    seed: int,
    *,
    noise: bool = True,
    iteration_ns: Fraction | None = None,
) -> Workload:
    """rt-app's JSON, the names of its threads, and the seed's draws for them.

    :param noise: whether more than the starts of threads is drawn.
    :param iteration_ns: ns of one iteration, in which work is counted; None: the largest CPU's.
    :raises RequestError: when a phase's work does not fit rt-app's 32-bit count.
    """
    largest_rate = iterations_per_us(platform, activity)
    if scenario.rt_app:
        return compile_own(scenario, scenario.rt_app, platform, activity, seed, noise, iteration_ns)
    rate = largest_rate if iteration_ns is None else 1000 / iteration_ns
    works = {
        task.name: [iterations_of(scenario, task, phase, rate, activity) for phase in task.phases]
        for task in scenario.tasks
    }
    starts = _starts(scenario, seed, noise)
    of_tasks = entries_of(scenario, works, starts, seed, noise)
    background = others(scenario.background, platform, activity, seed) if noise else {}
    threads = of_tasks | {key: thread.entry() for key, thread in background.items()}
    order = in_order(list(threads), seed) if noise else list(threads)
    processes = _processes(scenario, order, background)
    names = {key: f"{key}-{place}" for keys in processes.values() for place, key in enumerate(keys)}
    endless = {key for key, entry in threads.items() if is_endless(entry)}
    longer = rate / largest_rate
    replays = _replays(scenario, platform, rate, noise)
    names |= {key: key for task in scenario.tasks for key in task.recorded}
    return Workload(
        documents={
            name: document_of({key: threads[key] for key in keys})
            for name, keys in processes.items()
            if keys
        }
        | replays,
        endless=(*(name for name, keys in processes.items() if endless & {*keys}), *replays),
        tasks=tuple(_record(task, names, works[task.name], longer) for task in scenario.tasks),
        replicate=replicate_record(
            scenario,
            seed,
            noise=noise,
            starts=starts,
            order=order,
            others=[names[key] for key in background],
            threads_sha256=digest_of(threads),
        ),
        own=(*(name for name, keys in processes.items() if {*keys} & {*of_tasks}), *replays),
    )


def _replays(
    scenario: Scenario, platform: Platform, rate: Fraction, noise: bool
) -> dict[str, bytes]:
    """What the threads of the scenario's recording are given, by the name under which they run."""
    if scenario.recording is None:
        return {}
    attributes = {
        key: recorded.Attributes(
            task.cpus or (), task.attributes.uclamp_min, task.attributes.uclamp_max
        )
        for task in scenario.tasks
        for key in task.recorded
    }
    window = scenario.window
    before_ms = window.mainline_ms + window.warmup_ms + 2 * scenario.placing_ms
    # The begin falls into the window, not before it.
    before_us = 1000 * (before_ms + (STIR_MS if noise else 0) + LATER_MS)
    data = recorded.guest_file(scenario.recording, attributes, rate, before_us, platform.cpus)
    return {recorded.NAME: data}


def _starts(scenario: Scenario, seed: int, noise: bool) -> dict[str, int]:
    """When each thread of the tasks starts, in us, by its key."""
    start = task_start_us if noise else lambda _, seed, key: start_offset_us(seed, key)
    return {
        key: start(task, seed, key)
        for task in scenario.tasks
        if not task.recorded
        for key in keys_of(task)
    }


def _processes(
    scenario: Scenario, order: list[str], background: Collection[str]
) -> dict[str, list[str]]:
    """The threads of each rt-app: tasks that wait for memory have one for each share.

    :param background: those that are no task's.
    """
    shares = {key: task.memory for task in scenario.tasks for key in keys_of(task)}
    waiting = {
        memory_name(number): [key for key in order if shares.get(key) == share]
        for number, share in enumerate(scenario.memory, 1)
    }
    # Where the tasks' end is the window's, their rt-app must end: others have one of their own.
    alone = {*background} if scenario.window.until == "tasks-end" else set()
    elsewhere = alone.union(*waiting.values())
    return {
        RT_APP_NAME: [key for key in order if key not in elsewhere],
        OTHERS_NAME: [key for key in order if key in alone],
        **waiting,
    }


def entries_of(
    scenario: Scenario,
    works: dict[str, list[int | None]],
    starts: dict[str, int],
    seed: int,
    noise: bool,
) -> dict[str, dict[str, Any]]:
    """The scenario's threads by name, as rt-app wants them."""
    waited_for = {phase.wait for task in scenario.tasks for phase in task.phases}
    entries = {}
    for task in scenario.tasks:
        if task.recorded:
            continue
        after_us = _begin_us(scenario, task, noise)
        for number, key in enumerate(keys_of(task)):
            work = works[task.name]
            course = drawn(scenario, task, work, seed, key) if noise else plain(task, work)
            entries[key] = _entry(
                task, number, course, after_us + starts[key], task.name in waited_for
            )
    return entries


def _begin_us(scenario: Scenario, task: Task, noise: bool) -> int:
    """The fixed delay of a task after rt-app's start, in us, without the seed's draw.

    A task that ends with the window begins with it, so all of its work is measured, under every
    variant. And phases that run once must not end before the stirring does.
    """
    stir_ms = scenario.placing_ms + (STIR_MS if noise else 0)
    if scenario.window.until == "tasks-end":
        return 1000 * (stir_ms + scenario.window.warmup_ms)
    runs_once = task.has_prelude or not task.endless
    return 1000 * (stir_ms if runs_once else scenario.placing_ms)


def latest_begin_ms(scenario: Scenario, noise: bool) -> int:
    """When the last task begins, after rt-app's start and without a seed's draw."""
    own = (task for task in scenario.tasks if not task.recorded)
    return max((_begin_us(scenario, task, noise) for task in own), default=0) // 1000


def keys_of(task: Task) -> list[str]:
    """The threads of a task as rt-app's input, or the recording, names them."""
    if task.recorded:
        return [*task.recorded]
    if task.count == 1:
        return [task.name]
    return [f"{task.name}{number}" for number in range(task.count)]


def iterations_of(
    scenario: Scenario, task: Task, phase: Phase, rate: Fraction, activity: Activity
) -> int | None:
    """Iterations of a phase's fixed work, or ``None`` when it has none."""
    if phase.run_us is not None:
        key, value, per_unit = "run_us", phase.run_us, rate
    elif phase.run_instructions is not None:
        key, value = "run_instructions", phase.run_instructions
        per_unit = Fraction(1, activity.iteration_instructions)
    else:
        return None
    iterations = max(1, round(value * per_unit))
    if iterations > MOST_ITERATIONS:
        most = int(MOST_ITERATIONS / per_unit)
        raise bad_input(scenario.path, f"task {task.name}: {key}", value, f"up to {most}")
    return iterations


def _entry(
    task: Task, number: int, course: Course, start_us: int, waited_for: bool
) -> dict[str, Any]:
    loop = -1 if course.repeat is None else course.repeat
    entry = {"loop": loop, "delay": start_us} | _stated(task.attributes)
    if task.cpus is not None:
        entry["cpus"] = [task.cpus[number]] if task.pinned else list(task.cpus)
    met: Counter[str] = Counter()
    jobs = [(task.phases[job.phase], job) for job in course.jobs]
    if task.start_cpus:
        own = (task.start_cpus[number % len(task.start_cpus)],)
        start = replace(course.jobs[0], loops=task.start_turns)
        jobs.insert(0, (replace(task.phases[0], cpus=own), start))
    entry["phases"] = {
        f"phase{index}": _phase(phase, job, task.name if waited_for else None, met)
        for index, (phase, job) in enumerate(jobs)
    }
    _change_attributes(task, [phase for phase, _ in jobs], list(entry["phases"].values()))
    timers = (phase["timer"] for phase in entry["phases"].values() if "timer" in phase)
    if (first := next(timers, None)) is not None:
        # A thread's timer is one and the same in all of its phases; its first event sets the mode.
        first["mode"] = "absolute"
    return entry


def _stated(attributes: Attributes) -> dict[str, Any]:
    """Attributes as rt-app reads them; it leaves alone what is not named."""
    stated: dict[str, Any] = {"policy": POLICY[attributes.policy]}
    if attributes.deadline:
        keys = ("dl-runtime", "dl-deadline", "dl-period")
        return stated | dict(zip(keys, attributes.deadline, strict=True))
    fair = attributes.policy in FAIR
    stated["priority"] = attributes.nice if fair else attributes.priority
    clamps = {"util_min": attributes.uclamp_min, "util_max": attributes.uclamp_max}
    return stated | {key: clamp for key, clamp in clamps.items() if clamp is not None}


def _change_attributes(
    task: Task, phases: Sequence[Phase], written: Sequence[dict[str, Any]]
) -> None:
    """Add attributes to the jobs in front of which they change, with the clamps to take back.

    A job without any has those of the job before, and the first one those of the last.
    """
    every = task.all_attributes
    if len({*every}) == 1:
        return
    free = {"util_min": 0, "util_max": 1024}
    clamped = [key for key in free if any(key in _stated(each) for each in every)]
    before = task.attributes
    for index, (phase, job) in enumerate(zip(phases, written, strict=True)):
        own = phase.attributes or task.attributes
        repeated = index == 0 and phases[-1].attributes != phase.attributes
        if own != before or repeated:
            kept = {} if own.deadline else {key: free[key] for key in clamped}
            job.update(kept | _stated(own))
        before = own


def _meet(events: dict[str, Any], names: tuple[str, ...], met: Counter[str]) -> None:
    """Barriers, each with a name that either task has once: rt-app counts names, not threads."""
    for name in names:
        number = sum(key.startswith("barrier") for key in events)
        events[f"barrier{number}"] = f"{name}{met[name]}"
        met[name] += 1


def _phase(phase: Phase, job: Job, tells: str | None, met: Counter[str]) -> dict[str, Any]:
    """A phase's events in order: wait, meet, work, wake waiting tasks, meet, rest.

    rt-app's default is one loop. The guest parses a phase per job, so phases are short.
    """
    events: dict[str, Any] = {}
    if job.loops != 1:
        events["loop"] = -1 if job.loops is None else job.loops
    if phase.cpus is not None:
        events["cpus"] = list(phase.cpus)
    if phase.wait is not None:
        mutex, condition = f"m_{phase.wait}", f"c_{phase.wait}"
        events["lock0"] = mutex
        events["wait"] = {"ref": condition, "mutex": mutex}
        events["unlock0"] = mutex
    _meet(events, phase.meet_before, met)
    if phase.runtime_us is not None:
        events["runtime"] = phase.runtime_us
    elif job.work is not None:
        events["run"] = job.work
    if phase.io_us is not None:
        events["iorun"] = IO_BYTES
    if tells is not None:
        events["lock1"] = f"m_{tells}"
        events["broad"] = f"c_{tells}"
        events["unlock1"] = f"m_{tells}"
    _meet(events, phase.meet, met)
    if phase.sleep_us is not None:
        events["sleep"] = phase.sleep_us
    elif job.period_us is not None:
        events["timer"] = {"ref": "unique", "period": job.period_us}
    return events


def _record(
    task: Task, names: dict[str, str], iterations: list[int | None], longer: Fraction
) -> TaskRecord:
    """A task's record for ``cell.json``.

    :param longer: time of a us of work on the largest CPU, in us.
    """
    work = {None if phase.run_us is None else round(phase.run_us * longer) for phase in task.phases}
    policies = [(phase.attributes or task.attributes).deadline for phase in task.phases]
    return TaskRecord(
        name=task.name,
        threads=tuple(names[key] for key in keys_of(task)),
        period_us=task.period_us,
        deadline_us=None
        if task.clock == "exponential"
        else deadline_us(task.period_us, {each and each[1] for each in policies}),
        work_us=next(iter(work)) if len(work) == 1 else None,
        turns=tuple(iterations),
        uclamp=UclampRange(task.attributes.uclamp_min, task.attributes.uclamp_max),
        cpus=task.cpus,
        memory=task.memory,
        group=task.group.name if task.group else "",
        **_waiting(task),
    )


def _waiting(task: Task) -> dict[str, Any]:
    """Whether a task waits for others, and its longest rest; nothing where it does not wait."""
    if not any(phase.wait or phase.meet or phase.meet_before for phase in task.phases):
        return {}
    rests = [phase.sleep_us or phase.period_us or 0 for phase in task.phases]
    return {"waits": True, "rest_us": max(rests)}
