# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames: the period of a task begins a frame, and the end of a task's job draws it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

import polars as pl

from eascope.analysis.records.cell import CellRecord, FramesRecord, TaskRecord
from eascope.analysis.records.result import Frames
from eascope.analysis.tables.markers import due_ns
from eascope.analysis.window import Window

#: rt-app states times in whole us, each rounded: a hand-over is up to that far from what follows.
_ROUNDING_NS = 3_000


def frames_of(
    marks: pl.DataFrame, ended: Mapping[str, int], window: Window, cell: CellRecord
) -> Frames | None:
    """Frames of the window; None where the scenario has none.

    A frame is due when the next one begins, or as many periods later as the scenario says. Where
    another task draws it, that task's job does for which it was the last one handed over.

    :param marks: jobs of the whole trace (`analysis.tables.markers.marks_of`).
    :param ended: when threads had done all of their jobs (`analysis.tables.markers.ends`).
    """
    if cell.frames is None:
        return None
    frames = _frames(marks, ended, window, cell, cell.frames)
    inside = _inside(frames, window)
    missing = [by for by, end in frames if end is None or end > window.t1_ns]
    return Frames(
        drawn=len(inside),
        late=sum(end > by for by, end in inside),
        skipped=sum(window.t0_ns < by <= window.t1_ns for by in missing),
    )


def late_frames(
    marks: pl.DataFrame, ended: Mapping[str, int], window: Window, cell: CellRecord
) -> list[tuple[int, int]]:
    """When each late frame of the window was due, and when it was drawn; see `frames_of`."""
    frames = _frames(marks, ended, window, cell, cell.frames) if cell.frames else []
    return [(by, end) for by, end in _inside(frames, window) if end > by]


def _inside(frames: Sequence[tuple[int, int | None]], window: Window) -> list[tuple[int, int]]:
    return [(by, end) for by, end in frames if end and window.t0_ns < end <= window.t1_ns]


def _frames(
    marks: pl.DataFrame,
    ended: Mapping[str, int],
    window: Window,
    cell: CellRecord,
    of: FramesRecord,
) -> list[tuple[int, int | None]]:
    """When each frame is due, and when it was drawn, if it was."""
    tasks = {task.name: task for task in cell.tasks}
    pacing, drawing = tasks[of.paced_by], tasks[of.drawn_by]
    # The end of rt-app breaks a job off: its line has no period, and its time is not a due time.
    whole = pl.col("c_period").fill_null(1) > 0
    paced = _jobs(marks, pacing).drop_nulls("slack").filter(whole)
    ready: list[int] = paced["due_ns"].to_list()
    ends = _drawn(_handed_over(paced), _jobs(marks, drawing))
    if pacing is drawing:
        ends = list(paced["end_ns"])
    last_ns = min(ended.get(pacing.threads[0], window.t1_ns), window.t1_ns)
    known = ready[-1] if ready else window.t0_ns
    period_ns = 1000 * (pacing.period_us or 0)
    later = list(range(known + period_ns, last_ns + 1, period_ns))
    more_ns = (of.periods - 1) * period_ns
    due = [ns + more_ns for ns in (*ready, *later)]
    return list(zip(due, [*ends, *[None] * len(later)], strict=True))


def _jobs(marks: pl.DataFrame, task: TaskRecord) -> pl.DataFrame:
    """A task's jobs in order, with when each began, was due and ended, in ns since power-on."""
    in_time = (pl.col("slack") >= 0).fill_null(value=False)
    jobs = marks.filter((pl.col("task") == task.name) & (pl.col("run") > 0)).sort("t_ns")
    return jobs.with_columns(due_ns().alias("due_ns")).with_columns(
        pl.when(in_time)
        .then(pl.col("due_ns") - 1000 * pl.col("slack"))
        .otherwise(pl.col("t_ns"))
        .alias("end_ns"),
        pl.col("t_ns").shift(1).alias("begin_ns"),
    )


def _handed_over(paced: pl.DataFrame) -> list[int]:
    """The end of each job's work; from then on its frame can be taken over.

    Later parts of the job, such as waiting for the other task, do not count.
    """
    begin = pl.col("begin_ns").fill_null(pl.col("due_ns") - 1000 * pl.col("c_period"))
    return list(paced.select(begin + 1000 * pl.col("run")).to_series())


def _drawn(handed_over: Sequence[int], drawing: pl.DataFrame) -> list[int | None]:
    """The time at which each frame was drawn, by the job that found it as the last handed over.

    Jobs keep the order of frames: a job that waited for its CPU until another frame was handed
    over has the earlier frame.
    """
    drawn: list[int | None] = [None] * len(handed_over)
    following = len(handed_over)
    for end_ns, run_us in reversed(list(drawing.select("end_ns", "run").iter_rows())):
        began_ns = end_ns - 1000 * run_us + _ROUNDING_NS
        frame = min(bisect_right(handed_over, began_ns), following) - 1
        if frame < 0:
            break
        drawn[frame] = end_ns
        following = frame
    return drawn
