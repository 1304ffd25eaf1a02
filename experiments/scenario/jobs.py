# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs: the passes of a task's threads through its phases, with a seed's draws for each.

A task that varies is written job by job: the work of each job, and the time until the next.
rt-app reads one phase per job, which takes the guest some 50 000 instructions. So `CYCLE` jobs
are drawn and then repeated. Equal jobs in a row are one phase with loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from eascope.experiments.scenario.draws import Draws, apportioned
from eascope.experiments.scenario.model import Scenario, Task

#: Jobs that are drawn before they are gone through again: a second at 60 Hz.
CYCLE = 64
#: Vsync: the signal reaches a thread so much early or late at most.
VSYNC_US = 200
#: Audio: the codec's clock is so many parts per million slow or fast at most.
AUDIO_PPM = 20


@dataclass(frozen=True)
class Job:
    """``loops`` jobs of a phase, by its number, with the busy loop's iterations and the period."""

    phase: int
    loops: int | None
    work: int | None
    period_us: int | None


@dataclass(frozen=True)
class Course:
    """The jobs that a thread repeats ``repeat`` times (None: to the end)."""

    repeat: int | None
    jobs: tuple[Job, ...]


def plain(task: Task, work: Sequence[int | None]) -> Course:
    """A task whose jobs are all as the scenario says.

    :param work: iterations of the busy loop, by phase.
    """
    return Course(
        task.repeat,
        tuple(
            Job(number, phase.loops, iterations, phase.period_us)
            for number, (phase, iterations) in enumerate(zip(task.phases, work, strict=True))
        ),
    )


def drawn(
    scenario: Scenario, task: Task, work: Sequence[int | None], seed: int, thread: str
) -> Course:
    """A task's jobs with the seed's draws for its thread; `plain` if nothing is drawn.

    :param work: iterations of the busy loop, by phase: the mean, which is kept.
    """
    group = meeting(scenario, task)
    if not any(other.varies for other in group):
        return plain(task, work)
    once = [job for job in plain(task, work).jobs for _ in range(job.loops or 1)]
    again = task.repeat is None or task.endless
    cycle = once * (max(map(_cycles, group)) if again else 1)
    jobs = _with_periods(_with_work(cycle, task, seed, thread), task, seed, thread)
    jobs = [replace(job, loops=1) for job in jobs]
    return Course(None if again else task.repeat, tuple(_merged(jobs, task)))


def meeting(scenario: Scenario, task: Task) -> list[Task]:
    """The task and all tasks that it meets, directly or not; all have equally many jobs."""
    group, names = [task], task.names_met
    for _ in scenario.tasks:
        group = [other for other in scenario.tasks if other is task or other.names_met & names]
        names = frozenset(name for other in group for name in other.names_met)
    return group


def jobs_of(task: Task) -> int:
    """Jobs of one repeat; a phase without an end counts once."""
    return sum(phase.loops or 1 for phase in task.phases)


def _cycles(task: Task) -> int:
    return -(-CYCLE // jobs_of(task))


def _with_work(cycle: Sequence[Job], task: Task, seed: int, thread: str) -> list[Job]:
    """The cycle's work, lognormal; its sum is the same as without draws."""
    if not task.work_cv:
        return list(cycle)
    draws = Draws(seed, "work", thread)
    weights = [draws.lognormal(task.work_cv) * (job.work or 0) for job in cycle]
    parts = iter(
        apportioned(
            [weight for weight, job in zip(weights, cycle, strict=True) if job.work],
            sum(job.work or 0 for job in cycle),
        )
    )
    return [replace(job, work=next(parts)) if job.work else job for job in cycle]


def _with_periods(cycle: Sequence[Job], task: Task, seed: int, thread: str) -> list[Job]:
    """The cycle's timer by the task's clock."""
    if task.clock == "exact":
        return list(cycle)
    periods = [job.period_us or 0 for job in cycle]
    draws = Draws(seed, "timer", thread)
    if task.clock == "vsync":
        early = [draws.between(-VSYNC_US, VSYNC_US) for _ in cycle]
        steps = [after - before for before, after in pairwise([*early, early[0]])]
        periods = [period + step for period, step in zip(periods, steps, strict=True)]
    elif task.clock == "audio":
        ppm = draws.between(-AUDIO_PPM, AUDIO_PPM)
        ends = [sum(periods[: number + 1]) for number in range(len(periods))]
        ends = [end + round(end * ppm / 1_000_000) for end in ends]
        periods = [end - begin for begin, end in pairwise([0, *ends])]
    else:
        weights = [draws.exponential() * period for period in periods]
        periods = apportioned(weights, sum(periods))
    return [replace(job, period_us=period) for job, period in zip(cycle, periods, strict=True)]


def _merged(jobs: Sequence[Job], task: Task) -> list[Job]:
    """Merge equal jobs into one with loops; jobs that meet stay, each has its own names."""
    merged: list[Job] = []
    for job in jobs:
        last = merged[-1] if merged else None
        phase = task.phases[job.phase]
        alike = last is not None and replace(last, loops=1) == job
        if last is not None and alike and not (phase.meet_before or phase.meet):
            merged[-1] = replace(last, loops=(last.loops or 0) + 1)
        else:
            merged.append(job)
    return merged
