# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario's tasks as rt-app's JSON for a board."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.experiments.rtapp.compiler import entries_of, iterations_of, keys_of
from eascope.experiments.scenario.groups import ROOT
from eascope.experiments.scenario.model import FAIR, Scenario, Task
from eascope.experiments.scenario.workload import iterations_per_us
from eascope.host.errors import bad_input


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
        task.name: [
            iterations_of(stated, task, each, Fraction(1), activity) for each in task.phases
        ]
        for task in tasks
    }
    entries = entries_of(
        stated, works, dict.fromkeys((key for task in tasks for key in keys_of(task)), 0), 0, False
    )
    for task in tasks:
        for key in keys_of(task):
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
    yield from (f"[[interrupt]]: {load.name}" for load in scenario.interrupts)
    if scenario.writes:
        yield f"events: {len(scenario.writes)} within the window"
    if scenario.source_conditions:
        stated = scenario.source_conditions.controls.values
        yield f"[source_conditions]: {', '.join(f'{key} = {stated[key]}' for key in stated)}"
    if scenario.background != "none":
        yield f'background = "{scenario.background}"'
