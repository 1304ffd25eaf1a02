# SPDX-License-Identifier: GPL-2.0-or-later
"""What of late jobs, late frames and slow wake-ups is the way of a CPU into or out of idle."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.analysis.compare import comparison
from eascope.analysis.derive import Derived, derive
from eascope.analysis.records.cell import FramesRecord
from eascope.analysis.records.result import Deadlines, Frames
from eascope.analysis.tables.idle_waits import (
    at_p99,
    idle_waits,
    late_by_idle,
    late_frames_by_idle,
    waited_ns,
)
from eascope.analysis.tables.markers import due_ns
from eascope.analysis.tables.split import AWAKE, ENTERING, LEAVING, Stretch
from eascope.analysis.trace import Trace
from eascope.analysis.warnings import warnings
from eascope.analysis.window import Window
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.experiments.controls import Controls
from tests.support.records import cell_record, task_record
from tests.support.synthetic import playback, write_run

MS = 1_000_000
WINDOW = Window(0, 100 * MS, offset_ns=0)
#: CPU 0 is 3 ms on its way out before 20 ms; CPU 1 is 1 ms on its way in, then 2 ms out.
WAYS = {
    0: [Stretch(0, 17 * MS, 2), Stretch(17 * MS, 20 * MS, LEAVING), Stretch(20 * MS, 99 * MS, -1)],
    1: [
        Stretch(0, 40 * MS, AWAKE),
        Stretch(40 * MS, 41 * MS, ENTERING),
        Stretch(41 * MS, 43 * MS, LEAVING),
    ],
}


def trace(
    wakes: list[tuple[int, int]], runs: list[tuple[int, int, int]], thread: str = "a"
) -> Trace:
    """Thread 7 is woken (ms, by CPU) and runs (from ms, to ms, on CPU)."""
    switches = [(begin * MS, cpu, "<idle>", 0, 0, thread, 7) for begin, _, cpu in runs]
    switches += [(end * MS, cpu, thread, 7, 1, "<idle>", 0) for _, end, cpu in runs]
    names = ["t_ns", "cpu", "prev_comm", "prev_pid", "prev_state", "next_comm", "next_pid"]
    tables = {
        "sched_switch": pl.DataFrame(sorted(switches), orient="row", schema=names),
        "sched_waking": pl.DataFrame(
            [(ms * MS, cpu, thread, 7) for ms, cpu in wakes],
            orient="row",
            schema=["t_ns", "cpu", "comm", "pid"],
        ),
    }
    return Trace(Path("trace.dat"), pl.DataFrame(), tables)


def test_a_thread_waits_where_its_timer_fires_then_where_it_is_to_run() -> None:
    """CPU 0's exit counts until CPU 0 wakes it; then CPU 1's, on which it is to run."""
    traced = trace([(20, 0), (42, 0)], [(21, 30, 0), (44, 50, 1)])
    waits = idle_waits(traced, WINDOW, ["a", "b"], WAYS)
    assert waits == {"a": [(17 * MS, 20 * MS), (42 * MS, 43 * MS)]}
    assert waited_ns(waits["a"], 18 * MS, 43 * MS) == 3 * MS
    # Of two threads that wait at once, the time counts once.
    assert waited_ns([(0, 5), (2, 4), (3, 9)], 1, 8) == 7


def jobs(*slacks_us: int, period_us: int = 10_000) -> pl.DataFrame:
    """Turns of thread a, due every 10 ms from 20 ms on, that end this much before."""
    rows = [(20 * MS + number * 1000 * period_us, slack) for number, slack in enumerate(slacks_us)]
    return pl.DataFrame(
        {
            "task": ["a"] * len(rows),
            "thread": ["a"] * len(rows),
            "t_ns": [due - 1000 * min(slack, 0) for due, slack in rows],
            "slack": [slack for _, slack in rows],
            "run": [100] * len(rows),
            "wu_lat": [0] * len(rows),
            "c_period": [period_us] * len(rows),
        }
    ).with_columns(due_ns().alias("due_ns"))


def test_a_job_hangs_on_idle_if_its_waits_cover_what_it_was_late_by() -> None:
    """Late by 2 and by 4 ms, each with 3 ms of its own waits; a wait before it does not count."""
    task = replace(task_record("a", period_us=10_000), deadline_us=10_000)
    waits = {"a": [(17 * MS, 20 * MS), (33 * MS, 36 * MS), (41 * MS, 44 * MS)]}

    def hung(*slacks_us: int) -> dict[str, float]:
        return late_by_idle(jobs(*slacks_us), {}, WINDOW, [task], waits)

    assert hung(-2_000) == {"a": 1}
    assert hung(-4_000) == {"a": 0}
    assert hung(2_000) == {"a": 0}  # in time
    # Due at 30 ms: the first wait was over at its begin, the second one comes after its end.
    assert hung(2_000, -1_000) == {"a": 0}
    assert hung(2_000, 2_000, -3_000) == {"a": 1}
    assert late_by_idle(jobs(-2_000), {}, WINDOW, [replace(task, deadline_us=None)], waits) == {}


def test_a_late_frame_hangs_on_the_waits_of_those_that_draw_it() -> None:
    frames = FramesRecord(paced_by="a", drawn_by="a", periods=1)
    tasks = (replace(task_record("a", period_us=10_000), deadline_us=10_000),)
    cell = replace(cell_record(tasks=tasks), frames=frames)
    waits = {"a": [(17 * MS, 20 * MS)]}
    assert late_frames_by_idle(jobs(-2_000), {}, WINDOW, cell, waits) == 1
    assert late_frames_by_idle(jobs(-4_000), {}, WINDOW, cell, waits) == 0
    assert late_frames_by_idle(jobs(0), {}, WINDOW, replace(cell, frames=None), waits) is None


def test_what_of_the_slowest_wakeups_was_a_way_of_idle() -> None:
    latency = pl.DataFrame(
        {
            "task": ["a", "a", None],
            "thread": ["a", "a", "x"],
            "woken_ns": [10 * MS, 41 * MS, 0],
            "t_ns": [11 * MS, 45 * MS, 90 * MS],
            "latency_ns": [1 * MS, 4 * MS, 90 * MS],
        }
    )
    assert at_p99(latency, {"a": [(40 * MS, 43 * MS)]}) == {"a": 2_000}


@pytest.fixture
def one(tmp_path: Path, juno: Platform, juno_activity: Activity) -> Derived:
    write_run(tmp_path / "run", juno, playback("mainline", 0))
    return derive(tmp_path / "run", juno, juno_activity)


def test_a_line_says_what_hangs_on_the_axis(
    one: Derived, juno: Platform, snapshot: SnapshotAssertion
) -> None:
    task = one.cell.tasks[0].name

    def said(platform: Platform, **more: object) -> list[str]:
        deadlines = {task: Deadlines(jobs=495, missed=122, late=122, unfinished=0)}
        result = replace(
            one.result, deadlines=deadlines, frames=Frames(drawn=60, late=9, skipped=0), more=more
        )
        lines = warnings(comparison(platform, {"mainline": [replace(one, result=result)]}))
        return [line for line in lines if "idle entry/exit time" in line]

    assert said(juno) == []
    assert said(juno, missed_in_idle={task: 0.0}, frames_late_in_idle=0.0) == []
    assert said(juno, missed_in_idle={task: 100.0}) == snapshot
    assert said(juno, frames_late_in_idle=3.0) == snapshot
    p99 = one.result.latency_us[task].p99
    assert said(juno, latency_in_idle_us={task: 0.49 * p99}) == []
    told = Controls(idle_exit="told").of_platform(juno)
    assert said(told, latency_in_idle_us={task: 0.51 * p99}) == snapshot
