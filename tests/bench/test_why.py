# SPDX-License-Identifier: GPL-2.0-or-later
"""How long the answers to "why" take: `eascope diff` of two runs, and the floor of a load."""

import time
from pathlib import Path

import pytest

from eascope.analysis.bound import Load, Machine
from eascope.configs.activity import load_activity
from eascope.configs.platform_file import load_platform
from eascope.power.choice import power_model
from tests.support.measuring import Keep, took
from tests.support.synthetic import MS, Burst, Schedule, write_run
from tests.support.tracefile import TraceEvent

pytestmark = pytest.mark.long

PLATFORM = load_platform("pixel6")
#: Processor seconds, and wall seconds on a quiet host.
MOST_DIFF_S, MOST_FLOOR_S = 3.0, 10.0


def test_a_diff_of_two_runs_of_5_s_on_8_cpus(tmp_path: Path, keep: Keep) -> None:
    """Of a task on each CPU every 4 ms, which in one run goes to another CPU every 100 ms."""
    runs = []
    for moved in (False, True):
        bursts = [
            Burst(
                f"t{cpu}", n * 4 * MS + cpu * MS // 4, (cpu + (moved and not n % 25)) % 8, MS // 5
            )
            for n in range(1250)
            for cpu in PLATFORM.cpus
        ]
        chosen = [
            TraceEvent(
                each.wake_ns + 1, each.cpu, 0, "sched_wakeup", (each.task, 100, 120, each.cpu)
            )
            for each in bursts
        ]
        khz = {cluster.index: [(0, cluster.max_khz)] for cluster in PLATFORM.clusters}
        runs.append(tmp_path / str(moved))
        write_run(runs[-1], PLATFORM, Schedule(5000 * MS, bursts, khz, more=chosen))
    took(["diff", *map(str, runs)])  # derives
    each = [took(["diff", *map(str, runs)]) for _ in range(3)]
    least = min(one.processor_s for one in each)
    keep("diff", {"processor_s": least, "wall_s": min(one.wall_s for one in each)})
    assert least <= MOST_DIFF_S


def test_the_floor_of_24_tasks(keep: Keep) -> None:
    activity = load_activity(PLATFORM)
    machine = Machine(PLATFORM, activity, power_model(None, PLATFORM, activity))
    begun = time.process_time()
    assert machine.floor([Load(1, 0.05, PLATFORM.cpus) for _ in range(24)], 5.0)
    took_s = time.process_time() - begun
    keep("floor", {"processor_s": took_s})
    assert took_s <= MOST_FLOOR_S
