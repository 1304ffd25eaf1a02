# SPDX-License-Identifier: GPL-2.0-or-later
"""Noise in a scenario file: work that varies, clocks, other threads."""

from __future__ import annotations

import re

from eascope.configs.platform import Platform
from eascope.experiments.others import BACKGROUND, STIR, threads_besides
from eascope.experiments.scenario import MOST_THREADS, Scenario, Task
from eascope.experiments.turns import meeting, turns_of
from eascope.host.errors import bad_input
from eascope.host.strict import StrictTable

#: Turns of one repeat that can be drawn.
MOST_TURNS = 1_000
#: A timer that comes early or late must not come before the one before it.
LEAST_VSYNC_US = 1_000


def check_noise(scenario: Scenario, tables: tuple[StrictTable, ...], platform: Platform) -> None:
    """Check that turns that vary can be written, and that threads outside the scenario have room.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    for task, table in zip(scenario.tasks, tables, strict=True):
        if re.fullmatch(rf"({BACKGROUND}|{STIR})\d*", task.name):
            raise table.error("name", f"not {BACKGROUND} or {STIR}: other threads have these names")
        if task.varies:
            _check_task(scenario, task, table)
    threads = sum(task.count for task in scenario.tasks if not task.recorded)
    besides = threads_besides(scenario.background, platform)
    if threads + besides > MOST_THREADS:
        shown = f"{threads} threads and {besides} others ({scenario.background} background)"
        raise bad_input(tables[0].file, "task", shown, f"up to {MOST_THREADS} together")


def _check_task(scenario: Scenario, task: Task, table: StrictTable) -> None:
    """One task that varies."""
    phases = task.phases
    key = "work_cv" if task.work_cv else "clock"
    if task.work_cv and all(
        phase.run_us is None and phase.run_instructions is None for phase in phases
    ):
        raise table.error("work_cv", "only with run_us or run_instructions in a phase")
    if task.clock != "exact":
        if any(phase.period_us is None for phase in phases):
            raise table.error("clock", "only with period_us in every phase")
        least = min(phase.period_us or 0 for phase in phases)
        if task.clock == "vsync" and least < LEAST_VSYNC_US:
            raise table.error("clock", f"only with periods of {LEAST_VSYNC_US} us or more")
        if task.names_met and task.clock == "exponential":
            raise table.error("clock", "exact or vsync with meet, because two tasks keep step")
    for other in meeting(scenario, task):
        if other.has_prelude and other.endless:
            place = "" if other is task else f" of {other.name}, which it meets"
            raise table.error(
                key, f"phases{place} that repeat, without an endless phase after others"
            )
        if turns_of(other) > MOST_TURNS:
            raise table.error(key, f"up to {MOST_TURNS} turns in a repeat, not {turns_of(other)}")
