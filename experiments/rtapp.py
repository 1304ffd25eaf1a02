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

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from eascope.analysis.records.cell import ReplicateRecord, TaskRecord, UclampRange
from eascope.configs.activity import Activity
from eascope.configs.platform import Cluster, Platform
from eascope.experiments import recorded
from eascope.experiments.groups import ROOT
from eascope.experiments.others import STIR_MS, others
from eascope.experiments.replicate import in_order, replicate_record, start_offset_us, task_start_us
from eascope.experiments.rtapp_json import RtAppFile, RtAppTask, events, never_begin
from eascope.experiments.scenario import DEADLINE, FAIR, Attributes, Phase, Scenario, Task
from eascope.experiments.turns import Course, Turn, drawn, plain
from eascope.host.cache import digest_of
from eascope.host.errors import bad_input

#: ns per turn that rt-app is given: makes ``run: N`` mean N turns (see above).
CALIBRATION = 1000
#: rt-app reads numbers into a 32-bit int.
MOST_TURNS = 2**31 - 1

#: A recording begins so much after the window, at the latest.
LATER_MS = 3
#: The device that I/O is done on, and a request of it.
IO_DEVICE, IO_BYTES = "/dev/nullb0", 4096

#: Under which names rt-app runs: with the scenario's threads, and with others alone.
RT_APP_NAME, OTHERS_NAME = "rt-app", "others"
#: Kinds of markers that rt-app writes into the trace.
FTRACE = "main,task,stats"

#: How much later than a window's start threads of rt-app's own file begin: the agent takes some ms
#: for the counters in front of the window (pixel6: 6), and no work is to be before it.
BEGIN_MS = 10
#: Longer than any window, in s.
MOST_S = 1_000_000
#: rt-app logs into the trace alone.
LOG = {"logdir": "/tmp", "log_size": "disable", "gnuplot": False, "ftrace": FTRACE}

#: rt-app knows no SCHED_BATCH: the agent makes these threads that.
POLICY = {
    **{"other": "SCHED_OTHER", "batch": "SCHED_OTHER", "idle": "SCHED_IDLE"},
    **{"fifo": "SCHED_FIFO", "rr": "SCHED_RR", DEADLINE: "SCHED_DEADLINE"},
}


@dataclass(frozen=True)
class Workload:
    """rt-app's input, and its record for ``cell.json``.

    :param documents: inputs as bytes, by the name under which rt-app runs.
    :param endless: of these names, those that run until they are ended from outside.
    :param replicate: the seed's draws.
    :param own: of these names, those with threads of the scenario's tasks.
    """

    documents: dict[str, bytes]
    endless: tuple[str, ...]
    tasks: tuple[TaskRecord, ...]
    replicate: ReplicateRecord
    own: tuple[str, ...] = ()

    @property
    def document(self) -> bytes:
        """The input with the scenario's threads."""
        return self.documents[RT_APP_NAME]


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


def iterations_per_us(
    platform: Platform, activity: Activity, cluster: Cluster | None = None
) -> Fraction:
    """Iterations of the busy loop that a CPU does in a microsecond at its top OPP.

    :param cluster: the CPU's; None: the largest.
    """
    cluster = cluster or platform.largest
    ipc = Fraction(str(activity.ipc(cluster)))
    return ipc * cluster.max_khz / (1000 * activity.iteration_instructions)


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
        return _of_file(scenario, scenario.rt_app, platform, activity, seed, noise, iteration_ns)
    rate = largest_rate if iteration_ns is None else 1000 / iteration_ns
    works = {
        task.name: [_turns(scenario, task, phase, rate, activity) for phase in task.phases]
        for task in scenario.tasks
    }
    starts = _starts(scenario, seed, noise)
    of_tasks = _entries(scenario, works, starts, seed, noise)
    background = others(scenario.background, platform, activity, seed) if noise else {}
    threads = of_tasks | {key: thread.entry() for key, thread in background.items()}
    order = in_order(list(threads), seed) if noise else list(threads)
    processes = _processes(scenario, order, background)
    names = {key: f"{key}-{place}" for keys in processes.values() for place, key in enumerate(keys)}
    endless = {key for key, entry in threads.items() if _endless(entry)}
    longer = rate / largest_rate
    replays = _replays(scenario, platform, rate, noise)
    names |= {key: key for task in scenario.tasks for key in task.recorded}
    return Workload(
        documents={
            name: _document({key: threads[key] for key in keys})
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


def _of_file(
    scenario: Scenario,
    file: RtAppFile,
    platform: Platform,
    activity: Activity,
    seed: int,
    noise: bool,
    iteration_ns: Fraction | None,
) -> Workload:
    """rt-app's own file: all of it but its log, its duration, its calibration and its delays.

    rt-app calibrates to whole ns per iteration. Here these are a CPU's at its top OPP.
    """
    ns = file.settings.get("calibration", "CPU0") or "CPU0"
    if isinstance(ns, str):
        cpu = int(re.findall(r"\d+", ns)[0])
        cluster = next(cluster for cluster in platform.clusters if cpu in cluster.cpus)
        ns = round(iteration_ns or 1000 / iterations_per_us(platform, activity, cluster))
    # With a duration, rt-app goes on when all of its threads have ended: it is ended from outside.
    alive_s = -1 if scenario.window.until else MOST_S
    stir_ms = STIR_MS if noise else 0
    begin_us = 1000 * (stir_ms + scenario.window.warmup_ms + BEGIN_MS)
    tasks = {task.name: task for task in scenario.tasks}
    starts = {name: task_start_us(task, seed, name) if noise else 0 for name, task in tasks.items()}
    entries = {
        task.key: {
            **task.says,
            "delay": begin_us + starts.get(task.name, 0) + task.says.get("delay", 0),
        }
        for task in file.tasks
    }
    own: dict[str, object] = {
        "global": {**file.settings, **LOG, "duration": alive_s, "calibration": ns},
        "tasks": entries,
    }
    if file.resources:
        own["resources"] = file.resources
    background = others(scenario.background, platform, activity, seed) if noise else {}
    besides = {key: thread.entry() for key, thread in background.items()}
    documents = {RT_APP_NAME: f"{_compact(own)}\n".encode()}
    documents |= {OTHERS_NAME: _document(besides)} if besides else {}
    us_of_turn = Fraction(1) / iterations_per_us(platform, activity)
    return Workload(
        documents=documents,
        endless=(RT_APP_NAME, *([OTHERS_NAME] if any(map(_endless, besides.values())) else [])),
        tasks=tuple(
            _record_of_file(task, tasks[task.name], ns, us_of_turn, file.default_policy)
            for task in file.measured
        ),
        replicate=replicate_record(
            scenario,
            seed,
            noise=noise,
            starts=starts,
            order=[*entries, *besides],
            others=[f"{key}-{place}" for place, key in enumerate(besides)],
            threads_sha256=digest_of(own),
        ),
        own=(RT_APP_NAME,),
    )


def _record_of_file(
    task: RtAppTask, known: Task, ns: int, us_of_turn: Fraction, default_policy: str
) -> TaskRecord:
    """The record of a task of rt-app's own file.

    :param ns: of an iteration of the busy loop, as rt-app counts.
    :param us_of_turn: what an iteration takes on the largest CPU, in us.
    """
    turns = [sum(us * 1000 // ns for us in events(part, "run")) for part in task.parts]
    period_us = task.period_us
    return TaskRecord(
        name=task.name,
        threads=task.threads,
        period_us=period_us,
        deadline_us=_deadline_us(period_us, task.deadlines(default_policy))
        if task.absolute
        else None,
        work_us=round(turns[0] * us_of_turn) if len({*turns}) == 1 else None,
        turns=tuple(turns),
        uclamp=UclampRange(known.attributes.uclamp_min, known.attributes.uclamp_max),
        cpus=known.cpus,
        waits=task.waits,
        rest_us=task.rest_us,
    )


def notes_on(
    file: RtAppFile, platform: Platform, activity: Activity, length_ms: int | None
) -> Iterator[str]:
    """What rt-app's own file is on a platform and in a window, beside the file's own notes."""
    calibration = file.settings.get("calibration")
    if calibration and isinstance(calibration, int):
        us = round(1_000_000 // calibration / iterations_per_us(platform, activity))
        yield (
            f"calibration: here run: 1000 is {us} us of {platform.name}'s largest CPU at its top "
            "OPP."
        )
    yield from never_begin(file, length_ms)


def exported(
    scenario: Scenario, platform: Platform, activity: Activity
) -> tuple[dict[str, Any], list[str]]:
    """rt-app's JSON of the scenario's tasks for a board like ``platform``, and what it cannot say.

    rt-app calibrates on a CPU of the largest cluster, so ``run: N`` is N us of such a CPU at its
    top OPP, as ``run_us = N`` is (rt-app's doc/tutorial.txt, "calibration").
    """
    if file := scenario.rt_app:
        parts = {"resources": file.resources} if file.resources else {}
        says = {task.key: task.says for task in file.tasks}
        return {"tasks": says, **parts, "global": dict(file.settings)}, []
    for task in scenario.tasks:
        if task.recorded:
            allowed = "tasks with phases: rt-app replays no recording"
            raise bad_input(scenario.path, f"task {task.name}: recorded", task.recorded, allowed)
    us = 1 / (iterations_per_us(platform, activity) * activity.iteration_instructions)
    tasks = tuple(
        replace(
            task,
            phases=tuple(
                replace(
                    phase, run_us=max(1, round(phase.run_instructions * us)), run_instructions=None
                )
                if phase.run_instructions
                else phase
                for phase in task.phases
            ),
        )
        for task in scenario.tasks
    )
    stated = replace(scenario, tasks=tasks)
    works = {
        task.name: [_turns(stated, task, phase, Fraction(1), activity) for phase in task.phases]
        for task in tasks
    }
    entries = _entries(
        stated, works, dict.fromkeys((key for task in tasks for key in _keys(task)), 0), 0, False
    )
    for task in tasks:
        for key in _keys(task):
            del entries[key]["delay"]
            if task.slice_us:
                entries[key]["dl-runtime"] = task.slice_us
            if task.group and _may_be_in_a_group(task):
                entries[key]["taskgroup"] = task.group.path.removeprefix(ROOT)
    length_ms = scenario.window.full_ms
    settings = {
        "duration": -1
        if length_ms is None
        else -(-(scenario.window.warmup_ms + length_ms) // 1000),
        "calibration": f"CPU{platform.largest.cpus[0]}",
        "default_policy": "SCHED_OTHER",
        "pi_enabled": False,
        "lock_pages": False,
        "ftrace": "main,task,loop,event",
        "log_basename": scenario.name.replace("/", "-"),
    }
    return {"tasks": entries, "global": settings}, [*_unsaid(scenario)]


def _may_be_in_a_group(task: Task) -> bool:
    """rt-app refuses ``taskgroup`` of other policies."""
    return {each.policy for each in task.all_attributes} <= {*FAIR}


def _unsaid(scenario: Scenario) -> Iterator[str]:
    """What rt-app's JSON cannot say of a scenario."""
    for task in scenario.tasks:
        says = {
            f"work_cv = {task.work_cv:g}": task.work_cv,
            f'clock = "{task.clock}"': task.clock != "exact",
            f"memory = {task.memory:g}": task.memory,
            f"latency_nice = {task.latency_nice}": task.latency_nice is not None,
            f"its group{f' {task.group.name}' if task.group else ''}: rt-app has groups of "
            "SCHED_OTHER and SCHED_IDLE alone": task.group and not _may_be_in_a_group(task),
            'policy = "batch": written as SCHED_OTHER': any(
                each.policy == "batch" for each in task.all_attributes
            ),
            "slice_us: rt-app before March 2025 ignores dl-runtime of SCHED_OTHER": task.slice_us,
            "run_instructions: given as us of this platform's largest CPU": any(
                phase.run_instructions for phase in task.phases
            ),
        }
        yield from (f"task {task.name}: {words}" for words, there in says.items() if there)
    for group in scenario.groups:
        if group.files:
            yield f"group {group.name}: {', '.join(file for file, _ in group.files)}"
    yield from (f"program {program.name}: {program.run}" for program in scenario.programs)
    yield from (f"[kernel_threads]: {name}" for name, _ in scenario.kernel_threads)
    if scenario.writes:
        yield f"events: {len(scenario.writes)} within the window"
    if scenario.source_conditions:
        stated = scenario.source_conditions.controls.values
        yield f"[source_conditions]: {', '.join(f'{key} = {stated[key]}' for key in stated)}"
    if scenario.background != "none":
        yield f'background = "{scenario.background}"'


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
        for key in _keys(task)
    }


def _processes(
    scenario: Scenario, order: list[str], background: Collection[str]
) -> dict[str, list[str]]:
    """The threads of each rt-app: tasks that wait for memory have one for each share.

    :param order: of all threads.
    :param background: those that are no task's.
    """
    shares = {key: task.memory for task in scenario.tasks for key in _keys(task)}
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


def _entries(
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
        for number, key in enumerate(_keys(task)):
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


def _endless(entry: dict[str, Any]) -> bool:
    """Whether a thread runs until another process ends it."""
    return entry["loop"] == -1 or any(phase.get("loop") == -1 for phase in entry["phases"].values())


def _document(entries: dict[str, dict[str, Any]]) -> bytes:
    """The whole input, a line for each thread and each of its phases."""
    settings = {
        "duration": -1,
        "calibration": CALIBRATION,
        "default_policy": "SCHED_OTHER",
        "pi_enabled": False,
        "lock_pages": False,
        **LOG,
        # Markers of attributes have no name that rt-app reads: they come with all kinds alone.
        "ftrace": True if _attributes_change(entries) else FTRACE,
    }
    if any("iorun" in phase for entry in entries.values() for phase in entry["phases"].values()):
        settings |= {"io_device": IO_DEVICE, "mem_buffer_size": IO_BYTES}
    threads = []
    for key, entry in entries.items():
        head = _compact({name: value for name, value in entry.items() if name != "phases"})
        phases = [f"{_compact(name)}:{_compact(phase)}" for name, phase in entry["phases"].items()]
        lines = ",\n".join(phases)
        threads.append(f'{_compact(key)}:{head[:-1]},"phases":{{\n{lines}}}}}')
    tasks = ",\n".join(threads)
    return f'{{"global":{_compact(settings)},\n"tasks":{{\n{tasks}}}}}\n'.encode()


def _attributes_change(entries: dict[str, dict[str, Any]]) -> bool:
    phases = [phase for entry in entries.values() for phase in entry["phases"].values()]
    return any("policy" in phase for phase in phases)


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _keys(task: Task) -> list[str]:
    """The threads of a task as rt-app's input, or the recording, names them."""
    if task.recorded:
        return [*task.recorded]
    if task.count == 1:
        return [task.name]
    return [f"{task.name}{number}" for number in range(task.count)]


def _turns(
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
    turns = max(1, round(value * per_unit))
    if turns > MOST_TURNS:
        raise bad_input(
            scenario.path, f"task {task.name}: {key}", value, f"up to {int(MOST_TURNS / per_unit)}"
        )
    return turns


def _entry(
    task: Task, number: int, course: Course, start_us: int, waited_for: bool
) -> dict[str, Any]:
    """Thread ``number`` of a task as rt-app wants it."""
    loop = -1 if course.repeat is None else course.repeat
    entry = {"loop": loop, "delay": start_us} | _stated(task.attributes)
    if task.cpus is not None:
        entry["cpus"] = [task.cpus[number]] if task.pinned else list(task.cpus)
    met: Counter[str] = Counter()
    turns = [(task.phases[turn.phase], turn) for turn in course.turns]
    if task.start_cpus:
        own = (task.start_cpus[number % len(task.start_cpus)],)
        start = replace(course.turns[0], loops=task.start_turns)
        turns.insert(0, (replace(task.phases[0], cpus=own), start))
    entry["phases"] = {
        f"phase{index}": _phase(phase, turn, task.name if waited_for else None, met)
        for index, (phase, turn) in enumerate(turns)
    }
    _change_attributes(task, [phase for phase, _ in turns], list(entry["phases"].values()))
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
    """Add attributes to the turns in front of which they change, with the clamps to take back.

    A turn without any has those of the turn before, and the first one those of the last.
    """
    every = task.all_attributes
    if len({*every}) == 1:
        return
    free = {"util_min": 0, "util_max": 1024}
    clamped = [key for key in free if any(key in _stated(each) for each in every)]
    before = task.attributes
    for index, (phase, turn) in enumerate(zip(phases, written, strict=True)):
        own = phase.attributes or task.attributes
        repeated = index == 0 and phases[-1].attributes != phase.attributes
        if own != before or repeated:
            kept = {} if own.deadline else {key: free[key] for key in clamped}
            turn.update(kept | _stated(own))
        before = own


def _meet(events: dict[str, Any], names: tuple[str, ...], met: Counter[str]) -> None:
    """Barriers, each with a name that either task has once: rt-app counts names, not threads."""
    for name in names:
        number = sum(key.startswith("barrier") for key in events)
        events[f"barrier{number}"] = f"{name}{met[name]}"
        met[name] += 1


def _phase(phase: Phase, turn: Turn, tells: str | None, met: Counter[str]) -> dict[str, Any]:
    """A phase's events in order: wait, meet, work, wake waiting tasks, meet, rest.

    rt-app's default is one loop. The guest parses a phase per turn, so phases are short.
    """
    events: dict[str, Any] = {}
    if turn.loops != 1:
        events["loop"] = -1 if turn.loops is None else turn.loops
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
    elif turn.work is not None:
        events["run"] = turn.work
    if phase.io_us is not None:
        events["iorun"] = IO_BYTES
    if tells is not None:
        events["lock1"] = f"m_{tells}"
        events["broad"] = f"c_{tells}"
        events["unlock1"] = f"m_{tells}"
    _meet(events, phase.meet, met)
    if phase.sleep_us is not None:
        events["sleep"] = phase.sleep_us
    elif turn.period_us is not None:
        events["timer"] = {"ref": "unique", "period": turn.period_us}
    return events


def _record(
    task: Task, names: dict[str, str], turns: list[int | None], longer: Fraction
) -> TaskRecord:
    """A task's record for ``cell.json``.

    :param longer: time of a us of work on the largest CPU, in us.
    """
    work = {None if phase.run_us is None else round(phase.run_us * longer) for phase in task.phases}
    policies = [(phase.attributes or task.attributes).deadline for phase in task.phases]
    return TaskRecord(
        name=task.name,
        threads=tuple(names[key] for key in _keys(task)),
        period_us=task.period_us,
        deadline_us=None
        if task.clock == "exponential"
        else _deadline_us(task.period_us, {each and each[1] for each in policies}),
        work_us=next(iter(work)) if len(work) == 1 else None,
        turns=tuple(turns),
        uclamp=UclampRange(task.attributes.uclamp_min, task.attributes.uclamp_max),
        cpus=task.cpus,
        memory=task.memory,
        group=task.group.name if task.group else "",
        **_waiting(task),
    )


def _deadline_us(period_us: int | None, policies: Collection[int | None]) -> int | None:
    """The deadline of a task's turns, if they have a steady pace: the period's end or the policy's.

    :param policies: deadlines of its policies; None: of one without. If they differ, it has none.
    """
    if not period_us or len(policies) != 1:
        return None
    return next(iter(policies)) or period_us


def _waiting(task: Task) -> dict[str, Any]:
    """Whether a task waits for others, and its longest rest; nothing where it does not wait."""
    if not any(phase.wait or phase.meet or phase.meet_before for phase in task.phases):
        return {}
    rests = [phase.sleep_us or phase.period_us or 0 for phase in task.phases]
    return {"waits": True, "rest_us": max(rests)}
