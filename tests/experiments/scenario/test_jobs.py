# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs that vary: the mean is kept, every variant gets the same, whoever meets keeps step."""

import json
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest

from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.experiments.rtapp.compiler import compile_scenario
from eascope.experiments.scenario.jobs import AUDIO_PPM, CYCLE, VSYNC_US
from eascope.experiments.scenario_file import load_scenario
from tests.support.scenarios import SECOND, write

FRAME = "run_us = 2_500\nperiod_us = 16_667"


class Compiled:
    def __init__(self, path: str, platform: Platform, activity: Activity, seed: int = 0) -> None:
        self.scenario = load_scenario(path, platform)
        self.workload = compile_scenario(self.scenario, platform, activity, seed)
        self.threads: dict[str, Any] = json.loads(self.workload.document)["tasks"]

    def phases(self, key: str) -> list[dict[str, Any]]:
        """A thread's phases, each as often as it loops."""
        phases = self.threads[key]["phases"].values()
        return [phase for phase in phases for _ in range(abs(phase.get("loop", 1)))]


def test_work_varies_and_its_mean_is_kept(
    tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    still = Compiled(write(tmp_path, phase=FRAME), juno, juno_activity)
    (iterations,) = still.workload.tasks[0].turns
    assert iterations
    path = write(tmp_path, task="work_cv = 0.3", phase=FRAME)
    spreads = []
    for seed in range(20):
        compiled = Compiled(path, juno, juno_activity, seed)
        work = [phase["run"] for phase in compiled.phases("a")]
        assert len(work) == CYCLE
        assert sum(work) == CYCLE * iterations
        assert compiled.threads["a"]["loop"] == -1, "again and again"
        spreads.append(stdev(work) / fmean(work))
    assert fmean(spreads) == pytest.approx(0.3, abs=0.02)
    assert compiled.workload.tasks[0].turns == (iterations,), "the record has the mean"


def test_threads_of_a_task_differ_and_do_not_depend_on_other_tasks(
    tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    path = write(tmp_path, task="work_cv = 0.3\ncount = 2", phase=FRAME)
    alone = Compiled(path, juno, juno_activity)
    path = write(tmp_path, task="work_cv = 0.3\ncount = 2", phase=FRAME, more=SECOND + FRAME)
    company = Compiled(path, juno, juno_activity)
    assert alone.phases("a0") != alone.phases("a1")
    for key in ("a0", "a1"):
        assert alone.threads[key] == company.threads[key]


def test_vsync_is_early_or_late_and_does_not_drift(
    tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    path = write(tmp_path, task='clock = "vsync"', phase=FRAME)
    periods = [
        phase["timer"]["period"] for phase in Compiled(path, juno, juno_activity).phases("a")
    ]
    assert sum(periods) == CYCLE * 16_667
    at = [sum(periods[:job]) - job * 16_667 for job in range(CYCLE)]
    assert 1.5 * VSYNC_US < max(at) - min(at) <= 2 * VSYNC_US


def test_an_audio_clock_drifts(tmp_path: Path, juno: Platform, juno_activity: Activity) -> None:
    path = write(tmp_path, task='clock = "audio"', phase="run_us = 500\nperiod_us = 10_000")
    off = []
    for seed in range(40):
        compiled = Compiled(path, juno, juno_activity, seed)
        periods = [phase["timer"]["period"] for phase in compiled.phases("a")]
        assert {*periods} <= {9_999, 10_000, 10_001}
        off.append((sum(periods) / CYCLE / 10_000 - 1) * 1e6)
        assert len(compiled.threads["a"]["phases"]) < CYCLE / 2, "jobs that are alike are one phase"
    assert max(map(abs, off)) <= AUDIO_PPM + 1
    assert min(off) < -AUDIO_PPM / 2
    assert max(off) > AUDIO_PPM / 2


def test_an_exponential_clock_keeps_its_mean_and_has_no_deadline(
    tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    path = write(tmp_path, task='clock = "exponential"', phase="run_us = 9\nperiod_us = 100_000")
    compiled = Compiled(path, juno, juno_activity)
    periods = [phase["timer"]["period"] for phase in compiled.phases("a")]
    assert sum(periods) == CYCLE * 100_000
    assert 0.5 < sum(period > 69_315 for period in periods) / CYCLE * 1.2 < 0.8
    (record,) = compiled.workload.tasks
    assert (record.period_us, record.deadline_us) == (100_000, None)


def test_whoever_meets_goes_through_as_many_jobs(
    tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    """rt-app counts the events that name a barrier: two each, or someone waits for ever."""
    path = write(
        tmp_path,
        task='repeat = "forever"\nwork_cv = 0.2',
        phase='loops = 3\nrun_us = 400\nmeet = ["go", "done"]\nperiod_us = 10_000\n'
        "[[task.phase]]\nloops = 2\nrun_us = 50\nperiod_us = 10_000",
        more='[[task]]\nname = "b"\nrepeat = "forever"\n[[task.phase]]\n'
        'loops = 3\nmeet_before = "go"\nrun_us = 100\nmeet = "done"',
    )
    compiled = Compiled(path, juno, juno_activity)
    names = [
        [phase[key] for phase in compiled.phases(thread) for key in phase if "barrier" in key]
        for thread in "ab"
    ]
    assert names[0] == names[1]
    assert len({*names[0]}) == len(names[0]) >= 2 * CYCLE * 3 / 5


def test_a_repeat_that_is_longer_than_a_cycle_is_drawn_once(
    tmp_path: Path, juno: Platform, juno_activity: Activity
) -> None:
    path = write(tmp_path, task="work_cv = 0.2\nrepeat = 2", phase=f"loops = 90\n{FRAME}")
    compiled = Compiled(path, juno, juno_activity)
    assert len(compiled.phases("a")) == 90
    assert compiled.threads["a"]["loop"] == 2
