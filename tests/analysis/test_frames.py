# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames drawn, late and skipped, and when tasks end: known answers."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.analysis.records.cell import FramesRecord
from eascope.analysis.records.result import Completion, Frames
from eascope.analysis.tables import markers
from eascope.analysis.tables.frames import frames_of
from eascope.analysis.trace import read_trace
from eascope.analysis.window import Window
from tests.support.records import cell_record, task_record
from tests.support.synthetic import MS
from tests.support.tracefile import TraceEvent, marker, switch, write

T0 = 1_000 * MS
WINDOW = Window(T0, T0 + 50 * MS)
UI, RENDER = task_record("ui", "ui-0", period_us=10_000), task_record("render", "render-1")
UI_PID, RENDER_PID = 11, 12

Counted = Callable[..., Frames | None]


@pytest.fixture
def counted(tmp_path: Path) -> Counted:
    """Frames of some markers, begun by ui."""

    def count(events: Sequence[TraceEvent], drawn_by: str, periods: int = 1) -> Frames | None:
        present = [
            switch(T0 - 90 * MS, cpu, ("swapper/0", 0), 0, thread)
            for cpu, thread in enumerate((("ui-0", UI_PID), ("render-1", RENDER_PID)))
        ]
        names = {UI_PID: "ui-0", RENDER_PID: "render-1"}
        write(tmp_path / "trace.dat", sorted([*present, *events], key=lambda e: e.t_ns), 6, names)
        trace = read_trace(tmp_path / "trace.dat")
        cell = cell_record(tasks=(UI, RENDER), frames=FramesRecord("ui", drawn_by, periods))
        marks = markers.marks_of(trace, WINDOW, cell.tasks)
        return frames_of(marks, markers.ends(trace, WINDOW, cell.tasks), WINDOW, cell)

    return count


def paced(number: int, run_us: int = 3_000, late_us: int = 0) -> TraceEvent:
    """The job of frame ``number``, which begins at 10 ms times that; late by so much or in time.

    rt-app writes the line when the timer wakes the thread, and at the end of a job that is late.
    """
    due_ns = T0 + (number + 1) * 10 * MS
    slack_us = -late_us if late_us else 10_000 - run_us
    text = f"rtapp_stats: run={run_us} wu_lat=0 slack={slack_us} c_period=10000"
    return marker(due_ns + 1000 * late_us, 0, UI_PID, text)


def drawn(at_ms: float, run_us: int = 4_000) -> TraceEvent:
    """A job of render that ends at ``at_ms`` and has no timer."""
    return marker(T0 + round(at_ms * MS), 1, RENDER_PID, f"rtapp_stats: run={run_us} wu_lat=0")


def test_a_thread_that_draws_its_own_frames(counted: Counted) -> None:
    """Frame 1 ends 2 ms late, in the window; frames 2 to 4 never come."""
    events = [paced(-1), paced(0), paced(1, run_us=12_000, late_us=2_000)]
    # Frame -1 ended before the window.
    assert counted(events, "ui") == Frames(drawn=2, late=1, skipped=3)
    assert counted(events, "ui", periods=2) == Frames(drawn=2, late=0, skipped=2)


def test_frames_that_another_thread_draws(counted: Counted) -> None:
    """Handed over 3 ms after they begin; a frame is late when the next one has begun."""
    events = [
        *(paced(number) for number in range(-1, 5)),
        drawn(-1.0),  # frame -1: before the window
        drawn(7.5),
        drawn(21.5),  # frame 1, late by 1.5 ms: taken over at 17.5 ms
        drawn(27.5),
        # frame 3 is not taken over: nobody waited when it was handed over
        drawn(47.5),
    ]
    assert counted(events, "render") == Frames(drawn=4, late=1, skipped=1)
    assert counted(events, "render", periods=2) == Frames(drawn=4, late=0, skipped=1)


def test_a_frame_that_waited_for_its_cpu_is_not_the_next_one(counted: Counted) -> None:
    """The job for frame 1 got a CPU only when frame 2 had been handed over, too."""
    events = [*(paced(number) for number in range(5))]
    events += [drawn(7.5), drawn(27.5), drawn(31.5), drawn(37.5), drawn(47.5)]
    assert counted(events, "render") == Frames(drawn=5, late=2, skipped=0)


def test_no_frame_at_all(counted: Counted) -> None:
    assert counted([], "render") == Frames(drawn=0, late=0, skipped=5)
    assert counted([], "ui") == Frames(drawn=0, late=0, skipped=5)
    end = marker(T0 + 21 * MS, 0, UI_PID, "rtapp_task: event=end")
    assert counted([end], "ui") == Frames(drawn=0, late=0, skipped=2)


def test_the_line_of_a_job_that_was_broken_off_is_no_frame(counted: Counted) -> None:
    """The pacing task is far behind; the end of rt-app breaks job 2 off after the window.

    rt-app gives the line of such a job no period, and counts its slack from the present.
    """
    broken = marker(WINDOW.t1_ns + 5 * MS, 0, UI_PID, "rtapp_stats: run=9000 slack=0 c_period=0")
    events = [paced(0), paced(1, late_us=27_000), broken]
    assert counted(events, "ui") == Frames(drawn=2, late=1, skipped=3)
    taken_over = [drawn(7.5), drawn(48.5)]
    assert counted([*events, *taken_over], "render") == Frames(drawn=2, late=1, skipped=3)


def test_a_scenario_without_frames_has_none(tmp_path: Path) -> None:
    write(tmp_path / "trace.dat", [switch(T0, 0, ("swapper/0", 0), 0, ("ui-0", 11))], 6, {})
    trace = read_trace(tmp_path / "trace.dat")
    cell = replace(cell_record(tasks=(UI,)), frames=None)
    marks = markers.marks_of(trace, WINDOW, cell.tasks)
    assert frames_of(marks, {}, WINDOW, cell) is None


def test_when_the_first_and_the_last_thread_of_a_task_are_done() -> None:
    tasks = [task_record("hog", "hog-0", "hog-1"), task_record("other", "other-2")]
    over = {"hog-0": T0 + 40 * MS, "hog-1": T0 + 20 * MS, "other-2": T0 - MS}
    assert markers.completions(over, WINDOW, tasks) == {"hog": Completion(0.02, 0.04)}
    del over["hog-1"]
    assert markers.completions(over, WINDOW, tasks) == {}, "one thread has not ended"
