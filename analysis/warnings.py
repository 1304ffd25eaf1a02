# SPDX-License-Identifier: GPL-2.0-or-later
"""Warnings before any value: tasks that never ran, jobs that never ended, different work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eascope.analysis.compare import OTHER_WORK_PERCENT, Comparison
from eascope.analysis.records.cell import CellRecord, ProgramRecord
from eascope.analysis.records.result import Result
from eascope.configs.source import KINDS, kind


def warnings(comparison: Comparison) -> list[str]:
    """One line for each warning; empty if there is none."""
    return [
        *(*_never_ran(comparison), *_unfinished(comparison), *_other_work(comparison)),
        *_missed_interrupts(comparison),
        *_perturbation_in_window(comparison),
        *_hangs_on_idle(comparison),
        *_system_rate(comparison),
        *_window(comparison.cell),
    ]


def _window(cell: CellRecord) -> Iterator[str]:
    """What the scenario does to the kernel before or within the window."""
    if cell.window.mainline_ms:
        yield f"mainline settings were used for {cell.window.mainline_ms} ms before the warm-up"
    if writes := cell.window.writes:
        yield f"the scenario writes these files during the window: {'; '.join(writes)}"


def _never_ran(comparison: Comparison) -> Iterator[str]:
    for task in comparison.tasks:
        for name, results in comparison.results.items():
            absent = sum(task not in result.run_share for result in results.values())
            if absent:
                seeds = "" if absent == len(results) else f" in {absent} of {len(results)} seeds"
                yield f"{task} never ran under {name}{seeds}"


def _unfinished(comparison: Comparison) -> Iterator[str]:
    """Jobs that were due and unfinished when the window ended: a task was kept waiting."""
    for task in comparison.tasks:
        for name, results in comparison.results.items():
            jobs, missed, unfinished = (
                _mean(list(results.values()), task, what)
                for what in ("jobs", "missed", "unfinished")
            )
            if unfinished >= 1:
                mean = " (mean per run)" if len(results) > 1 else ""
                yield (
                    f"{task} missed {missed:.4g} of {jobs:.4g} deadlines under {name}{mean}; "
                    f"{unfinished:.4g} of its jobs were unfinished when the window ended"
                )


def _missed_interrupts(comparison: Comparison) -> Iterator[str]:
    """Loads of interrupts that were lighter than the scenario states."""
    for name, by_seed in comparison.results.items():
        found = [each.more.get("interrupts", {}) for each in by_seed.values()]
        for load in found[0] if found else ():
            count, missed = (sum(each[load][key] for each in found) for key in ("count", "missed"))
            if missed:
                periods = f"{missed:.0f} of {count + missed:.0f} periods"
                yield f"interrupt {load} missed {periods} under {name}"


def _perturbation_in_window(comparison: Comparison) -> Iterator[str]:
    """Threads that only place the others, still there because CPUs had no time for them."""
    for name, by_seed in comparison.results.items():
        if times := [found for each in by_seed.values() if (found := each.more.get("stirred_s"))]:
            yield (
                f"placement perturbation overlapped the window by up to {1000 * max(times):.3g} ms "
                f"({name}, {len(times)} of {len(by_seed)} seeds); increase warmup_ms"
            )


def _hangs_on_idle(comparison: Comparison) -> Iterator[str]:
    """Deadlines, frames and latencies that the time to enter and leave idle states decides."""
    ways = [
        state.takes for cluster in comparison.platform.clusters for state in cluster.idle_states[1:]
    ]
    if not ways:
        return
    kinds = {kind(takes.source) for takes in ways}
    weakest = next(word for word in reversed(KINDS) if word in kinds).removesuffix(" from")
    entry_us = max(max(takes.entry_us, takes.last_entry_us) for takes in ways)
    exit_us = max(max(takes.exit_us, takes.first_exit_us) for takes in ways)
    time = f"idle entry/exit time ({weakest}, up to {entry_us} + {exit_us} us; --robust=idle_exit)"
    for name, by_seed in comparison.results.items():
        results = [*by_seed.values()]
        for task in comparison.tasks:
            hung = sum(each.more.get("missed_in_idle", {}).get(task, 0) for each in results)
            if hung:
                missed = sum(each.deadlines[task].missed for each in results)
                yield (
                    f"{hung:.0f} of {missed:.0f} missed deadlines of {task} under {name} were "
                    f"missed only because of {time}"
                )
        hung = sum(each.more.get("frames_late_in_idle") or 0 for each in results)
        if hung:
            late = sum(each.frames.late for each in results if each.frames)
            yield (
                f"{hung:.0f} of {late:.0f} late frames under {name} were late only because of "
                f"{time}"
            )
        slow = [task for task in comparison.tasks if _hangs_at_p99(results, task)]
        if slow:
            yield f"more than half of the p99 latency of {', '.join(slow)} under {name} is {time}"


def _hangs_at_p99(results: Sequence[Result], task: str) -> bool:
    """True if more than half of a task's latency there is such time, over all seeds."""
    waited_us = sum(each.more.get("latency_in_idle_us", {}).get(task, 0.0) for each in results)
    p99_us = sum(each.latency_us[task].p99 for each in results if task in each.latency_us)
    return bool(2 * waited_us > p99_us)


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
                else "total energies are not comparable"
            )
            yield f"{name} and {base} completed different amounts of work ({words}): {follows}"


def at_kernels_rate(cell: CellRecord) -> list[ProgramRecord]:
    """Programs of the image that the engine executes at the kernel's rate, for lack of its own."""
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
            f"no measured IPC for {names}, the kernel's is used; "
            "do not compare its output with a board"
        )
