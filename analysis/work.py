# SPDX-License-Identifier: GPL-2.0-or-later
"""Work of a run in the unit that its scenario counts, from its other measures."""

from __future__ import annotations

from dataclasses import replace

from eascope.analysis.programs import OPERATIONS
from eascope.analysis.records.cell import CellRecord, ProgramRecord
from eascope.analysis.records.result import Result
from eascope.analysis.records.work import BUSY_LOOP, PROGRAMS, TURNS, WAKE_UPS


def with_work(cell: CellRecord, result: Result) -> Result:
    """``result`` with its work and the energy of a unit of it, both absent if there was no work."""
    done = work_done(cell, result)
    per_work = result.energy_j.total / done if done else None
    by_task = work_by_task_s(cell, result)
    return replace(result, work=done, energy_per_work_j=per_work, task_work_s=by_task)


def work_by_task_s(cell: CellRecord, result: Result) -> dict[str, float]:
    """The busy loop's work of each task in the window, in s of the largest CPU at its top OPP."""
    threads = {task.name: len(task.threads) for task in cell.tasks}
    return {
        task: result.window_s * speed * threads[task]
        for task, speed in result.speed.items()
        if task in threads
    }


def _operations(program: ProgramRecord, result: Result) -> float:
    """The operations that a program reports, or else its asked count; loads do no work."""
    if program.role != "measured":
        return 0
    return result.program.get(program.name, {}).get(OPERATIONS, program.count)


def work_done(cell: CellRecord, result: Result) -> float:
    """Work of all tasks in the window, in the scenario's unit.

    The busy loop's is in seconds of the largest CPU at its top OPP.
    """
    kind, _, name = cell.work.counted.partition(".")
    if kind == TURNS:
        return result.turns[name]
    if kind == WAKE_UPS:
        return result.wakeups[name]
    if kind == PROGRAMS:
        return sum(_operations(program, result) for program in cell.programs)
    if kind != BUSY_LOOP:
        raise ValueError(f"{kind}: no way to count work")
    return sum(work_by_task_s(cell, result).values())
