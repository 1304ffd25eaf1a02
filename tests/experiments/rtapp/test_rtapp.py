# SPDX-License-Identifier: GPL-2.0-or-later
"""rt-app's JSON: exact work, seeds, names; checked with rt-app's own integer arithmetic."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.experiments.rtapp.compiler import compile_scenario
from eascope.experiments.scenario.replicate import start_offset_us
from eascope.experiments.scenario.workload import iterations_per_us
from eascope.experiments.scenario_file import load_scenario
from eascope.host.errors import RequestError
from tests.support.scenarios import SECOND, write


def loadwait(microseconds: int, ns_per_iteration: int) -> int:
    """How many iterations rt-app executes: its own arithmetic, step by step."""
    iterations = 0
    left = microseconds
    for _ in range(microseconds // 1_000_000):
        iterations += 1_000_000_000 // ns_per_iteration
        left -= 1_000_000
    return iterations + left * 1000 // ns_per_iteration


def compiled(path: str, platform: Platform, activity: Activity, seed: int = 0) -> Any:
    scenario = load_scenario(path, platform)
    workload = compile_scenario(scenario, platform, activity, seed, noise=False)
    return json.loads(workload.document)


def test_rate_is_that_of_the_largest_cpu(juno: Platform, juno_activity: Activity) -> None:
    ipc = Fraction(str(juno_activity.ipc(juno.cluster("big"))))
    assert juno_activity.iteration_instructions == 223
    assert iterations_per_us(juno, juno_activity) == ipc * 1200 / 223


@pytest.mark.parametrize("run_us", [1, 7, 999, 1_000, 3_333, 999_999, 1_000_000, 60_000_000])
def test_executed_iterations_are_the_wanted_ones(
    run_us: int, tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    path = write(tmp_path, phase=f"run_us = {run_us}")
    document = compiled(path, juno, juno_activity)
    phase = document["tasks"]["a"]["phases"]["phase0"]
    executed = loadwait(phase["run"], document["global"]["calibration"])
    wanted = run_us * iterations_per_us(juno, juno_activity)
    assert abs(executed - wanted) <= Fraction(1, 2)


def test_run_instructions(tmp_path: Path, juno: Platform, juno_activity: Activity) -> None:
    path = write(tmp_path, phase="run_instructions = 22300")
    phase = compiled(path, juno, juno_activity)["tasks"]["a"]["phases"]["phase0"]
    assert phase["run"] == 100


def test_work_beyond_32_bits_is_refused(
    tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    path = write(tmp_path, phase="run_us = 300_000_000")
    with pytest.raises(RequestError, match=r"task a: run_us = 300000000: allowed: up to 18\d{7}$"):
        compiled(path, juno, juno_activity)


def test_traps_of_rtapp(tmp_path: Path, juno: Platform, juno_activity: Activity) -> None:
    path = write(tmp_path, phase="loops = 3\nrun_us = 5\n[[task.phase]]\nperiod_us = 1000")
    document = compiled(path, juno, juno_activity)
    (task,) = document["tasks"].values()
    assert task["loop"] == 1, "without it rt-app repeats the phases for ever"
    assert [phase["loop"] for phase in task["phases"].values()] == [3, -1]
    assert task["phases"]["phase1"]["timer"]["mode"] == "absolute"
    assert document["global"]["log_size"] == "disable"
    assert document["global"]["gnuplot"] is False
    assert isinstance(document["global"]["calibration"], int)


def test_a_phase_states_only_what_differs(
    tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    """The guest parses a phase for each job that a seed draws."""
    phase = "loops = 1\nrun_us = 5\nperiod_us = 1000\n[[task.phase]]\nperiod_us = 1000"
    (task,) = compiled(write(tmp_path, phase=phase), juno, juno_activity)["tasks"].values()
    first, second = task["phases"].values()
    assert "loop" not in first
    assert first["timer"]["mode"] == "absolute"
    assert list(second["timer"]) == ["ref", "period"], "the thread's timer keeps its mode"
    assert second["timer"]["ref"] == first["timer"]["ref"] == "unique"


def test_attributes_change_between_phases(
    tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    """Each clamp is taken back, and a job that has what the one before has states nothing."""
    jobs = ("uclamp = {min = 600}", "nice = 3", "nice = 3", 'policy = "fifo"\nuclamp = {min = 9}')
    phase = "\n[[task.phase]]\n".join(f"loops = 2\nrun_us = 5\n{job}" for job in jobs)
    path = write(tmp_path, task='repeat = "forever"\nuclamp = {min = 0, max = 800}', phase=phase)
    document = compiled(path, juno, juno_activity)
    (task,) = document["tasks"].values()
    keys = ("policy", "priority", "util_min", "util_max")
    assert [
        [entry[key] for key in keys if key in entry] for entry in (task, *task["phases"].values())
    ] == [
        ["SCHED_OTHER", 0, 0, 800],
        ["SCHED_OTHER", 0, 600, 800],
        ["SCHED_OTHER", 3, 0, 800],
        [],
        ["SCHED_FIFO", 10, 9, 800],
    ]
    assert document["global"]["ftrace"] is True
    once = write(
        tmp_path, phase="loops = 2\nrun_us = 5\nuclamp = {max = 9}\n[[task.phase]]\nrun_us = 5"
    )
    (task,) = compiled(once, juno, juno_activity)["tasks"].values()
    assert [phase["util_max"] for phase in task["phases"].values()] == [9, 1024]
    (task,) = compiled(write(tmp_path), juno, juno_activity)["tasks"].values()
    assert "policy" not in task["phases"]["phase0"]


def test_events_in_order(tmp_path: Path, juno: Platform, juno_activity: Activity) -> None:
    """rt-app does a phase's keys in their order: wait, work, tell, rest."""
    path = write(
        tmp_path,
        phase='wait = "b"\nrun_us = 5\nsleep_us = 7',
        more=SECOND + "run_us = 5\nperiod_us = 1000",
    )
    tasks = compiled(path, juno, juno_activity)["tasks"]
    assert list(tasks["a"]["phases"]["phase0"])[1:] == ["lock0", "wait", "unlock0", "run", "sleep"]
    assert list(tasks["b"]["phases"]["phase0"])[1:] == ["run", "lock1", "broad", "unlock1", "timer"]
    path = write(tmp_path, phase="run_us = 5\nio_us = 9\nsleep_us = 7")
    document = compiled(path, juno, juno_activity)
    (task,) = document["tasks"].values()
    assert list(task["phases"]["phase0"].items())[2:] == [("iorun", 4096), ("sleep", 7)]
    assert document["global"]["io_device"] == "/dev/nullb0"
    waits, tells = tasks["a"]["phases"]["phase0"], tasks["b"]["phases"]["phase0"]
    assert waits["wait"] == {"ref": tells["broad"], "mutex": tells["lock1"]}


@pytest.mark.parametrize(
    ("cpus", "free"), [("", [0, 1, 2, 3, 4, 5]), ('cpus = "!little:0"', [1, 2, 3, 4, 5])]
)
def test_threads_start_one_after_another_and_then_are_free(
    cpus: str, free: list[int], tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    """Bigs are CPUs 4 and 5; a kernel keeps an affinity until another one is set."""
    start = f'count = 3\nstart_cpus = "big"\nstart_turns = 7\n{cpus}'
    path = write(tmp_path, task=start, phase="run_us = 100\nperiod_us = 1000")
    tasks = compiled(path, juno, juno_activity)["tasks"]
    phases = [tasks[f"a{number}"]["phases"] for number in range(3)]
    assert [(two["phase0"]["cpus"], two["phase0"]["loop"]) for two in phases] == [
        ([4], 7),
        ([5], 7),
        ([4], 7),
    ]
    assert all((two["phase1"]["cpus"], two["phase1"]["loop"]) == (free, -1) for two in phases)
    assert all(two["phase0"]["run"] == two["phase1"]["run"] for two in phases)


@pytest.mark.parametrize(
    ("policy", "deadline_us"),
    [
        ("", 20_000),
        ("{runtime_us = 2000, deadline_us = 4000, period_us = 20_000}", 4_000),
        ("{runtime_us = 2000, period_us = 12_000}", 12_000),
    ],
)
def test_the_deadline_of_a_job_is_that_of_its_policy(
    policy: str, deadline_us: int, tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    task = policy and f'policy = "deadline"\ndeadline = {policy}'
    path = write(tmp_path, task=task, phase="run_us = 900\nperiod_us = 20_000")
    scenario = load_scenario(path, juno)
    (record,) = compile_scenario(scenario, juno, juno_activity, 0, noise=False).tasks
    assert (record.period_us, record.deadline_us) == (20_000, deadline_us)


def test_thread_names(tmp_path: Path, juno: Platform, juno_activity: Activity) -> None:
    path = write(tmp_path, task="count = 2", more=SECOND + "run_us = 5\nperiod_us = 1000")
    scenario = load_scenario(path, juno)
    workload = compile_scenario(scenario, juno, juno_activity, 0, noise=False)
    assert [task.threads for task in workload.tasks] == [("a0-0", "a1-1"), ("b-2",)]
    assert list(json.loads(workload.document)["tasks"]) == ["a0", "a1", "b"]


def test_offsets_come_from_the_seed_alone(
    tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    path = write(tmp_path, task="count = 3")

    def delays(seed: int) -> list[int]:
        tasks = compiled(path, juno, juno_activity, seed)["tasks"].values()
        return [task["delay"] for task in tasks]

    assert delays(1) == delays(1) == [start_offset_us(1, f"a{i}") for i in range(3)]
    assert delays(1) != delays(2)
    assert len(set(delays(1))) == 3


def test_offsets_do_not_drift_between_versions() -> None:
    """A changed rule would silently give every seed other runs."""
    assert [start_offset_us(seed, "decode0") for seed in range(3)] == [3215, 919, 4498]
