# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenario to rt-app: the JSON that LISA's rt-app runs in the guest, exact in the work it does.

rt-app turns ``run: N`` (microseconds) into ``N * 1000 / calibration`` turns of its busy loop, in
integers, and splits runs of a second and more. With ``calibration = 1000`` both steps are without
remainder, so ``run: N`` is exactly N turns. We compute N from the platform's activity: nothing is
calibrated in the guest, where the calibrating loop would run on some CPU at some OPP.

Traps of rt-app that this file avoids (seen in its source, at LISA 3.1.0's version):

* a barrier's users are the events that name it: a task that names one in two phases is two users;
* a task with ``phases`` but without ``loop`` starts again for ever; ``loop`` is always written;
* keys of a phase are its events, in order, and differ by prefix;
* a ``timer`` in relative mode shifts its grid after an overrun, so a late variant would do less
  work; ours are absolute;
* with ftrace markers it refuses to start unless ``tracing_on`` is 1 at that moment;
* thread names have ``-INDEX`` appended, INDEX counting over all tasks, and 15 characters.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from analysis.records.cell import TaskRecord, UclampRange
from configs.activity import Activity
from configs.platform import Platform
from experiments.scenario import Phase, Scenario, Task
from host.errors import bad_input

#: ns per turn that rt-app is given: makes ``run: N`` mean N turns (see above).
CALIBRATION = 1000
#: rt-app reads numbers into a 32-bit int.
MOST_TURNS = 2**31 - 1
#: Start offsets are uniform in 0..OFFSET_US.
OFFSET_US = 16_000

POLICY = {"other": "SCHED_OTHER", "idle": "SCHED_IDLE", "fifo": "SCHED_FIFO", "rr": "SCHED_RR"}


@dataclass(frozen=True)
class Workload:
    """``document``: rt-app's input as bytes. ``tasks``: what ``cell.json`` says about each task."""

    document: bytes
    tasks: tuple[TaskRecord, ...]


def turns_per_us(platform: Platform, activity: Activity) -> Fraction:
    """Turns of the busy loop that the largest CPU does in a microsecond at its top OPP."""
    ipc = Fraction(str(activity.ipc(platform.largest)))
    return ipc * platform.largest.max_khz / (1000 * activity.turn_instructions)


def start_offset_us(seed: int, thread: str) -> int:
    """Start offset of a thread, uniform in 0..16 ms; depends on nothing but its arguments."""
    digest = hashlib.sha256(f"eascope start offset {seed} {thread}".encode()).digest()
    return int.from_bytes(digest[:8], "big") * (OFFSET_US + 1) >> 64


def compile_scenario(
    scenario: Scenario, platform: Platform, activity: Activity, seed: int
) -> Workload:
    """rt-app's JSON and the names of the threads that it makes.

    :raises RequestError: when a phase's work does not fit rt-app's 32-bit count.
    """
    rate = turns_per_us(platform, activity)
    waited_for = {phase.wait for task in scenario.tasks for phase in task.phases}
    entries: dict[str, Any] = {}
    records = []
    for task in scenario.tasks:
        turns = [_turns(scenario, task, phase, rate, activity) for phase in task.phases]
        threads = []
        for number in range(task.count):
            key = task.name if task.count == 1 else f"{task.name}{number}"
            threads.append(f"{key}-{len(entries)}")
            entries[key] = _entry(
                task, number, turns, start_offset_us(seed, key), task.name in waited_for
            )
        records.append(_record(task, threads, turns))
    document = {
        "global": {
            "duration": -1,
            "calibration": CALIBRATION,
            "default_policy": "SCHED_OTHER",
            "pi_enabled": False,
            "lock_pages": False,
            "logdir": "/tmp",
            "log_size": "disable",
            "gnuplot": False,
            "ftrace": "main,task,stats",
        },
        "tasks": entries,
    }
    return Workload(json.dumps(document, indent=1).encode() + b"\n", tuple(records))


def _turns(
    scenario: Scenario, task: Task, phase: Phase, rate: Fraction, activity: Activity
) -> int | None:
    """Turns of a phase's fixed work, or ``None`` when it has none."""
    if phase.run_us is not None:
        key, value, per_unit = "run_us", phase.run_us, rate
    elif phase.run_instructions is not None:
        key, value = "run_instructions", phase.run_instructions
        per_unit = Fraction(1, activity.turn_instructions)
    else:
        return None
    turns = max(1, round(value * per_unit))
    if turns > MOST_TURNS:
        raise bad_input(
            scenario.path, f"task {task.name}: {key}", value, f"up to {int(MOST_TURNS / per_unit)}"
        )
    return turns


def _entry(
    task: Task, number: int, turns: list[int | None], offset_us: int, waited_for: bool
) -> dict[str, Any]:
    """Thread ``number`` of a task as rt-app wants it."""
    loop = -1 if task.repeat is None else task.repeat
    entry: dict[str, Any] = {"loop": loop, "delay": offset_us, "policy": POLICY[task.policy]}
    entry["priority"] = task.nice if task.policy in ("other", "idle") else task.priority
    if task.uclamp_min is not None:
        entry["util_min"] = task.uclamp_min
    if task.uclamp_max is not None:
        entry["util_max"] = task.uclamp_max
    if task.cpus is not None:
        entry["cpus"] = [task.cpus[number]] if task.pinned else list(task.cpus)
    met: Counter[str] = Counter()
    entry["phases"] = {
        f"phase{index}": _phase(phase, count, task.name if waited_for else None, met)
        for index, (phase, count) in enumerate(zip(task.phases, turns, strict=True))
    }
    return entry


def _meet(events: dict[str, Any], names: tuple[str, ...], met: Counter[str]) -> None:
    """Barriers, each with a name that either task has once: rt-app counts names, not threads."""
    for name in names:
        number = sum(key.startswith("barrier") for key in events)
        events[f"barrier{number}"] = f"{name}{met[name]}"
        met[name] += 1


def _phase(phase: Phase, turns: int | None, tells: str | None, met: Counter[str]) -> dict[str, Any]:
    """A phase's events in order: wait, meet, work, tell those who wait for it, meet, rest."""
    events: dict[str, Any] = {"loop": -1 if phase.loops is None else phase.loops}
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
    elif turns is not None:
        events["run"] = turns
    if tells is not None:
        events["lock1"] = f"m_{tells}"
        events["broad"] = f"c_{tells}"
        events["unlock1"] = f"m_{tells}"
    _meet(events, phase.meet, met)
    if phase.sleep_us is not None:
        events["sleep"] = phase.sleep_us
    elif phase.period_us is not None:
        events["timer"] = {"ref": "unique", "period": phase.period_us, "mode": "absolute"}
    return events


def _record(task: Task, threads: list[str], turns: list[int | None]) -> TaskRecord:
    """What ``cell.json`` says about a task; a deadline is the end of the period."""
    work = {phase.run_us for phase in task.phases}
    return TaskRecord(
        name=task.name,
        threads=tuple(threads),
        period_us=task.period_us,
        deadline_us=task.period_us,
        work_us=next(iter(work)) if len(work) == 1 else None,
        turns=tuple(turns),
        uclamp=UclampRange(task.uclamp_min, task.uclamp_max),
        cpus=task.cpus,
        **_waiting(task),
    )


def _waiting(task: Task) -> dict[str, Any]:
    """Whether a task waits for others, and its longest rest; nothing where it does not wait."""
    if not any(phase.wait or phase.meet or phase.meet_before for phase in task.phases):
        return {}
    rests = [phase.sleep_us or phase.period_us or 0 for phase in task.phases]
    return {"waits": True, "rest_us": max(rests)}
