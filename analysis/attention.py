# SPDX-License-Identifier: GPL-2.0-or-later
"""Warnings before any figure: tasks that never ran, tasks that never ended, different work."""

from __future__ import annotations

from collections.abc import Iterator

from eascope.analysis.compare import OTHER_WORK_PERCENT, Comparison
from eascope.analysis.records.cell import CellRecord, ProgramRecord
from eascope.analysis.records.result import Result


def attention(comparison: Comparison) -> list[str]:
    """One line for each warning; empty if there is none."""
    return [
        *(*_never_ran(comparison), *_unfinished(comparison), *_other_work(comparison)),
        *_system_rate(comparison),
        *_window(comparison.cell),
    ]


def _window(cell: CellRecord) -> Iterator[str]:
    """What the scenario does to the kernel before or within the window."""
    if cell.window.mainline_ms:
        yield f"tasks ran for {cell.window.mainline_ms} ms as under mainline before the warm-up"
    if writes := cell.window.writes:
        yield f"the scenario changes within the window: {'; '.join(writes)}"


def _never_ran(comparison: Comparison) -> Iterator[str]:
    for task in comparison.tasks:
        for name, results in comparison.results.items():
            absent = sum(task not in result.run_share for result in results.values())
            if absent:
                seeds = "" if absent == len(results) else f" in {absent} of {len(results)} seeds"
                yield f"{task} never ran under {name}{seeds}"


def _unfinished(comparison: Comparison) -> Iterator[str]:
    """Turns that were due and had not ended at the end of the window: a task was kept waiting."""
    for task in comparison.tasks:
        for name, results in comparison.results.items():
            jobs, missed, unfinished = (
                _mean(list(results.values()), task, what)
                for what in ("jobs", "missed", "unfinished")
            )
            if unfinished >= 1:
                yield (
                    f"{task} missed {missed:.4g} of {jobs:.4g} deadlines under {name}: "
                    f"{unfinished:.4g} of its turns did not end in the window"
                )


def _mean(results: list[Result], task: str, what: str) -> float:
    known = [getattr(entry, what) for result in results if (entry := result.deadlines.get(task))]
    return sum(known) / len(known) if known else 0.0


def _other_work(comparison: Comparison) -> Iterator[str]:
    base = comparison.baseline
    for name in comparison.names[1:]:
        percents = {}
        for task in comparison.tasks:
            line = comparison.line("task_work_s", task)
            difference = line.differences.get(name) if line is not None else None
            percent = None if difference is None else difference.percent
            if percent is not None and abs(percent) > OTHER_WORK_PERCENT:
                percents[task] = percent
        if percents:
            words = ", ".join(f"{task} {percent:+.1f} %" for task, percent in percents.items())
            unit = comparison.cell.work.unit
            follows = (
                f"energy is compared per {unit}"
                if name in comparison.other_work
                else "energies are not of the same work"
            )
            yield f"{name} and {base} did different work ({words}): {follows}"


def at_kernels_rate(cell: CellRecord) -> list[ProgramRecord]:
    """Programs of the image that the engine executes at the kernel's rate, for want of figures."""
    if not cell.engine_traits.stated_rates:
        return []
    return [
        program
        for program in cell.programs
        if program.command
        and any(line.startswith(f"program {program.run}: ") for line in cell.assumed)
    ]


def _system_rate(comparison: Comparison) -> Iterator[str]:
    """Programs without measured instructions per cycle, if these decide the result."""
    programs = at_kernels_rate(comparison.cell)
    if programs:
        names = ", ".join(program.name for program in programs)
        yield (
            f"{names}: executed at the kernel's instructions per cycle, not at a "
            "rate measured for the program: its output is not that of a board"
        )
