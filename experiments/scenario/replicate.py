# SPDX-License-Identifier: GPL-2.0-or-later
"""Replicates: a seed's draws for a cell; `experiments.scenario.jobs` has the draws for its jobs.

The same seed gives the same draws with every variant, on every engine, in short and full windows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from eascope.analysis.records.cell import ReplicateRecord
from eascope.experiments.scenario.draws import Draws
from eascope.experiments.scenario.model import Phase, Scenario, Task
from eascope.experiments.scenario.others import STIR_MS

#: The machine idles up to so long before the workload.
IDLE_US = 10_000_000
#: rt-app, and programs, start within so much.
PROGRAM_US = 1_000_000
#: What everything starts within where nothing else is drawn (``--no-noise``).
OFFSET_US = 16_000


def start_offset_us(seed: int, thread: str) -> int:
    """A start in 0..16 ms, the only draw of a seed with ``--no-noise``."""
    digest = hashlib.sha256(f"eascope start offset {seed} {thread}".encode()).digest()
    return int.from_bytes(digest[:8], "big") * (OFFSET_US + 1) >> 64


def idle_us(seed: int) -> int:
    """How long the machine idles before the workload."""
    return Draws(seed, "idle").between(0, IDLE_US)


def program_start_us(seed: int, name: str) -> int:
    """When rt-app or a program starts."""
    return Draws(seed, "start of program", name).between(0, PROGRAM_US)


def task_start_us(task: Task, seed: int, thread: str) -> int:
    """When a task's thread starts, uniform over the task's own period."""
    return Draws(seed, "start", thread).between(0, start_within_us(task))


def start_within_us(task: Task) -> int:
    """A task's own period in us; its start is uniform over this period.

    A task that waits first starts at once: the task that it waits for has a drawn start. A task
    with a prelude has the period of its first phase. A task whose phases differ has the sum of
    their periods.
    """
    if task.start_within_us is not None:
        return task.start_within_us
    first = task.phases[0]
    if first.wait is not None or first.meet_before:
        return 0
    if task.period_us is not None:
        return task.period_us
    if task.has_prelude or len(task.phases) == 1:
        return _job_us(first)
    return sum(_job_us(phase) * (phase.loops or 1) for phase in task.phases)


def _job_us(phase: Phase) -> int:
    """How long a job of a phase takes on the largest CPU at its top OPP."""
    if phase.period_us is not None:
        return phase.period_us
    return (phase.run_us or phase.runtime_us or 0) + (phase.sleep_us or 0)


def in_order(threads: Sequence[str], seed: int) -> list[str]:
    """The threads in the order in which rt-app makes them."""
    return Draws(seed, "order").shuffled(threads)


def rng_seed(seed: int) -> str:
    """64 bytes in hexadecimal as the seed of the kernel's random numbers."""
    return hashlib.sha512(f"eascope rng-seed {seed}".encode()).hexdigest()


def replicate_record(
    scenario: Scenario,
    seed: int,
    *,
    noise: bool,
    starts: Mapping[str, int],
    order: Sequence[str],
    others: Sequence[str],
    threads_sha256: str,
) -> ReplicateRecord:
    """The record of the draws for ``cell.json``.

    :param starts: of the scenario's threads.
    :param order: of all threads.
    :param others: names in traces of threads outside the scenario.
    """
    start = program_start_us if noise else start_offset_us
    varying = [task for task in scenario.tasks if noise and task.varies]
    return ReplicateRecord(
        noise=noise,
        idle_us=idle_us(seed) if noise else 0,
        rt_app_us=start(seed, "rt-app"),
        programs_us={program.name: start(seed, program.name) for program in scenario.programs},
        starts_us=starts,
        order=tuple(order),
        work_cv={task.name: task.work_cv for task in varying if task.work_cv},
        clocks={task.name: task.clock for task in varying},
        others=tuple(others),
        background=scenario.background if noise else "none",
        stir_ms=STIR_MS if noise else 0,
        rng_seed=rng_seed(seed) if noise else "",
        threads_sha256=threads_sha256,
    )
