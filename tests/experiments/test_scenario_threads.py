# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios with threads per CPU, repeated phases and tasks that meet: read, refused, compiled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.experiments.rtapp import Workload, compile_scenario
from eascope.experiments.scenario_file import load_scenario
from tests.support.scenarios import PHASE, SECOND, check_refused, write

#: Two tasks that meet before the work of the one and after that of both.
UI = 'loops = 1\nrun_us = 400\nmeet = ["go", "shown"]\nperiod_us = 1000'
RENDER = 'loops = 1\nmeet_before = "go"\nrun_us = 500\nmeet = "shown"'
RING = {
    "task": 'repeat = "forever"',
    "phase": f"{UI}\n[[task.phase]]\n{UI}",
    "more": f'[[task]]\nname = "b"\nrepeat = "forever"\n[[task.phase]]\n{RENDER}\n'
    f"[[task.phase]]\n{RENDER}",
}


def compiled(path: str, platform: Platform, activity: Activity) -> Workload:
    return compile_scenario(load_scenario(path, platform), platform, activity, 0, noise=False)


def tasks_of(path: str, platform: Platform, activity: Activity) -> Any:
    return json.loads(compiled(path, platform, activity).document)["tasks"]


def test_a_thread_for_each_cpu(tmp_path: Path, juno: Platform, juno_activity: Activity) -> None:
    path = write(tmp_path, task='cpus = "!big:0"\npin = "each"')
    (task,) = load_scenario(path, juno).tasks
    assert (task.count, task.cpus, task.pinned) == (5, (0, 1, 2, 3, 5), True)
    entries = tasks_of(path, juno, juno_activity)
    assert [entry["cpus"] for entry in entries.values()] == [[0], [1], [2], [3], [5]]
    (record,) = compiled(path, juno, juno_activity).tasks
    assert record.threads == ("a0-0", "a1-1", "a2-2", "a3-3", "a4-4")


def test_as_many_threads_as_cpus(tmp_path: Path, juno: Platform, juno_activity: Activity) -> None:
    path = write(tmp_path, task='count = "any"')
    (task,) = load_scenario(path, juno).tasks
    assert (task.count, task.cpus, task.pinned) == (6, None, False)
    assert all("cpus" not in entry for entry in tasks_of(path, juno, juno_activity).values())


@pytest.mark.parametrize(("repeat", "loop"), [('"forever"', -1), ("7", 7)])
def test_repeat(
    repeat: str, loop: int, tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    phase = "loops = 3\nrun_us = 5\nsleep_us = 9\n[[task.phase]]\nloops = 1\nrun_us = 50"
    path = write(tmp_path, task=f"repeat = {repeat}", phase=phase)
    (task,) = load_scenario(path, juno).tasks
    assert task.endless is (loop == -1)
    (entry,) = tasks_of(path, juno, juno_activity).values()
    assert entry["loop"] == loop
    assert [phase.get("loop", 1) for phase in entry["phases"].values()] == [3, 1]


def test_meeting_names_every_barrier_once_in_either_task(
    tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    """rt-app counts the events that name a barrier: two each, or someone waits for ever."""
    entries = tasks_of(write(tmp_path, **RING), juno, juno_activity)
    ui, render = (list(entries[name]["phases"].values()) for name in "ab")
    assert [list(phase) for phase in ui] == [["run", "barrier0", "barrier1", "timer"]] * 2
    assert [list(phase) for phase in render] == [["barrier0", "run", "barrier1"]] * 2
    for phases in (ui, render):
        assert [(phase["barrier0"], phase["barrier1"]) for phase in phases] == [
            ("go0", "shown0"),
            ("go1", "shown1"),
        ]


#: (what is wrong, arguments of write, words that the one line must have)
WRONG = {
    "pin what": ({"task": 'pin = "each"'}, ["task[0].pin", "only together with cpus"]),
    "pin how": ({"task": 'cpus = "big"\npin = "all"'}, ["task[0].pin", "'all'", "each"]),
    "pin and count": (
        {"task": 'cpus = "big"\npin = "each"\ncount = 2'},
        ["task[0].count", "= 2", "not together with pin"],
    ),
    "pin and a phase's cpus": (
        {"task": 'cpus = "big"\npin = "each"', "phase": 'run_us = 5\ncpus = "big:0"'},
        ["task[0].phase[0].cpus", "not together with the task's pin"],
    ),
    "count of nothing": ({"task": 'count = "tiny"'}, ["task[0].count", "'tiny'", "little"]),
    "repeat how often": ({"task": 'repeat = "always"'}, ["task[0].repeat", "forever"]),
    "repeat the endless": (
        {"task": "repeat = 2"},
        ["task[0].phase[0].loops", "is missing", "without repeat"],
    ),
    "forever until tasks end": (
        {
            "task": 'repeat = "forever"',
            "phase": "loops = 1\nrun_us = 5",
            "window": 'warmup_ms = 200\nuntil = "tasks-end"',
        },
        ["task[0].repeat", "'forever'", "tasks-end"],
    ),
    "meet nobody": ({"phase": 'run_us = 1\nmeet = "go"'}, ["phase[0].meet", "there is none"]),
    "meet in vain": (
        {"phase": 'run_us = 1\nmeet = "go"', "more": SECOND + PHASE},
        ["phase[0].meet", "'go'", "two tasks of one thread"],
    ),
    "meet several": (
        {
            "task": "count = 2",
            "phase": 'run_us = 1\nmeet = "go"',
            "more": SECOND + 'meet = "go"',
        },
        ["phase[0].meet", "two tasks of one thread"],
    ),
    "meet at other times": (
        {
            "phase": 'loops = 2\nrun_us = 1\nmeet = "go"\n[[task.phase]]\nrun_us = 1',
            "more": SECOND + 'loops = 3\nmeet_before = "go"\n[[task.phase]]\nrun_us = 1',
        },
        ["phase[0].meet", "'go'", "as many phases, loops and repeats"],
    ),
    "meet twice in a turn": (
        {"phase": 'run_us = 1\nmeet = ["go", "go"]', "more": SECOND + 'meet = ["go", "go"]'},
        ["phase[0].meet", "'go' once"],
    ),
    "one repeats and one does not": (
        {
            "task": 'repeat = "forever"',
            "phase": 'loops = 1\nrun_us = 1\nmeet = "go"',
            "more": SECOND + 'loops = 1\nmeet_before = "go"',
        },
        ["phase[0].meet", "repeats"],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_file_gets_one_line(case: str, tmp_path: Path, juno: Platform) -> None:
    arguments, words = WRONG[case]
    path = write(tmp_path, **arguments)
    check_refused(path, juno, words)
