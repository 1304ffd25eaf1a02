# SPDX-License-Identifier: GPL-2.0-or-later
"""Who got what: shares, speed, fairness and activations against answers known by hand."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pytest

from eascope.analysis.derive import Derived
from eascope.analysis.measures.cpus import cluster_off
from eascope.analysis.records.cell import TaskRecord
from eascope.analysis.tables import shares
from eascope.analysis.window import Window
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from tests.support.records import task_record
from tests.support.synthetic import MS, Burst, Schedule

LOW = {0: [(0, 450_000)], 1: [(0, 600_000)]}


def test_shares_of_a_task_by_cluster_and_cpu(derived: Callable[[Schedule], Derived]) -> None:
    bursts = [Burst("a", 0, 0, 30 * MS), Burst("a", 100 * MS, 1, 10 * MS)]
    bursts += [Burst("a", 200 * MS, 5, 60 * MS), Burst("b", 300 * MS, 4, 5 * MS)]
    result = derived(Schedule(1_000 * MS, bursts, LOW)).result.encode()
    assert result["run_share"] == {"a": {"little": 0.4, "big": 0.6}, "b": {"little": 0, "big": 1}}
    assert result["cpu_share"]["a"] == [0.3, 0.1, 0, 0, 0, 0.6]


def test_speed_follows_the_frequency_within_a_burst(derived: Callable[[Schedule], Derived]) -> None:
    """1.0 is a big at 1200 MHz; half a second there, and a burst across a change of OPP."""
    schedule = Schedule(
        1_000 * MS,
        [Burst("top", 0, 4, 500 * MS, 0), Burst("both", 400 * MS, 0, 200 * MS, 0)],
        {0: [(0, 450_000), (500 * MS, 950_000)], 1: [(0, 1_200_000)]},
    )
    speed = derived(schedule).result.speed
    assert speed["top"] == pytest.approx(0.5)
    little = 485 / 1024 / 1_200_000
    assert speed["both"] == pytest.approx(0.1 * 450_000 * little + 0.1 * 950_000 * little)


def test_speed_of_a_task_that_waits_for_memory(juno: Platform, juno_activity: Activity) -> None:
    """Half the clock is more than half the speed; at the largest CPU's top OPP it is 1.0."""
    slices = pl.DataFrame(
        {"task": ["m", "p"], "cpu": [4, 4], "t0_ns": [0, 100 * MS], "t1_ns": [100 * MS, 200 * MS]}
    )
    window = Window(0, 200 * MS)

    def at(khz: int) -> dict[str, float]:
        rows = [(0, 0, 200 * MS, 450_000), (1, 0, 200 * MS, khz)]
        columns = ["cluster", "t0_ns", "t1_ns", "khz"]
        frequency = pl.DataFrame(rows, schema=columns, orient="row")
        tasks = [replace(task_record("m", "m-0"), memory=0.3), task_record("p", "p-1")]
        return shares.speeds(slices, frequency, juno, juno_activity, window, tasks)

    assert at(1_200_000) == {"m": pytest.approx(0.5), "p": pytest.approx(0.5)}
    # 0.7 of a turn's time is the clock's, and doubles.
    assert at(600_000) == {"m": pytest.approx(0.5 / (2 * 0.7 + 0.3)), "p": pytest.approx(0.25)}


def test_busy_of_clusters_and_time_at_the_top(derived: Callable[[Schedule], Derived]) -> None:
    bursts = [Burst("a", 0, 0, 250 * MS, 0), Burst("b", 0, 4, 500 * MS, 0)]
    bursts += [Burst("c", 0, 5, 100 * MS, 0)]
    khz = {0: [(0, 450_000)], 1: [(0, 600_000), (200 * MS, 1_200_000), (300 * MS, 600_000)]}
    result = derived(Schedule(1_000 * MS, bursts, khz)).result.encode()
    assert result["cluster_busy"]["little"] == {"min": 0, "max": pytest.approx(0.25)}
    assert result["cluster_busy"]["big"] == {"min": pytest.approx(0.1), "max": pytest.approx(0.5)}
    assert result["cpu_usage"] == pytest.approx((0.25 + 0.5 + 0.1) / 6)
    assert result["vacated"] == 3
    assert result["top_opp"] == {"little": 0, "big": pytest.approx(0.1)}


def test_a_cluster_is_off_while_its_shared_part_is_not_on(juno: Platform) -> None:
    rows = [(0, -1, 100), (0, -1, 200), (0, 0, 7), (1, -1, 1000)]
    intervals = pl.DataFrame(rows, schema=["cluster", "cpu", "active_ns"], orient="row")
    data = SimpleNamespace(intervals=intervals, window=Window(0, 1000), platform=juno)
    assert cluster_off.function(data) == {"little": pytest.approx(0.7), "big": 0}  # type: ignore[arg-type]


def placed(*times: int) -> tuple[pl.DataFrame, list[TaskRecord]]:
    """``placement`` of threads t0, t1.. of one task that ran for so long, on CPUs 0 and 1."""
    rows = [("t", f"t{n}", n + 1, n % 2, ns) for n, ns in enumerate(times) if ns]
    columns = ("task", "thread", "pid", "cpu", "run_ns")
    table = pl.DataFrame(rows, schema=columns, orient="row")
    return table, [task_record("t", *(f"t{n}" for n in range(len(times))))]


@pytest.mark.parametrize(
    ("times", "fair"),
    [
        ((1000,), 1.0),
        ((500,) * 8, 1.0),
        ((1000, 0, 0, 0), 0.25),
        ((200,) * 5 + (1000,) * 3, 0.625),
        ((333,) * 3 + (500,) * 4 + (1000,), 0.857),
    ],
)
def test_fairness_by_hand(times: tuple[int, ...], fair: float) -> None:
    assert shares.fairness(*placed(*times)) == pytest.approx(fair, abs=0.001)


def test_fairness_of_nothing_is_not_known() -> None:
    assert shares.fairness(*placed(0, 0)) is None


def test_activations_are_rt_apps_own(derived: Callable[[Schedule], Derived]) -> None:
    """The synthetic markers all say run=1; without markers there is no such measure."""
    bursts = [Burst("a", n * 16 * MS, 0, MS, slack_us=100) for n in range(1, 10)]
    result = derived(Schedule(200 * MS, [*bursts, Burst("b", 0, 1, MS)], LOW)).result.encode()
    assert result["activation_us"] == {"a": dict.fromkeys(("p50", "p90", "p95", "p99", "max"), 1.0)}
    silent = derived(Schedule(200 * MS, [Burst("b", 0, 1, MS)], LOW)).result.encode()
    assert "activation_us" not in silent
    assert "lateness_us" not in silent


def test_a_task_that_did_not_run(
    derived: Callable[[Schedule], Derived], platform: Platform, activity: Activity
) -> None:
    table, tasks = placed(0, 100)
    tasks.append(task_record("silent", "s0", "s1"))
    shares_by_task = shares.run_share(shares.by_cpu(table, platform, tasks), platform)
    assert list(shares_by_task) == ["t"]
    assert shares_by_task["t"]["little"] == 1.0
