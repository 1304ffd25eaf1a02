# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns: the passes of a task's threads through its phases, with a seed's draws for each.

A task that varies is written turn by turn: the work of each turn, and the time until the next.
rt-app reads one phase per turn, which takes the guest some 50 000 instructions. So `CYCLE` turns
are drawn and then repeated. Equal turns in a row are one phase with loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from eascope.experiments.scenario.draws import Draws, apportioned
from eascope.experiments.scenario.scenario import Scenario, Task

#: Turns that are drawn before they are gone through again: a second at 60 Hz.
CYCLE = 64
#: Vsync: the signal reaches a thread so much early or late at most.
VSYNC_US = 200
#: Audio: the codec's clock is so many parts per million slow or fast at most.
AUDIO_PPM = 20


@dataclass(frozen=True)
class Turn:
    """``loops`` turns of a phase, by its number, with the busy loop's iterations and the period."""

    phase: int
    loops: int | None
    work: int | None
    period_us: int | None


@dataclass(frozen=True)
class Course:
    """The turns that a thread repeats ``repeat`` times (None: to the end)."""

    repeat: int | None
    turns: tuple[Turn, ...]


def plain(task: Task, work: Sequence[int | None]) -> Course:
    """A task whose turns are all as the scenario says.

    :param work: iterations of the busy loop, by phase.
    """
    return Course(
        task.repeat,
        tuple(
            Turn(number, phase.loops, turns, phase.period_us)
            for number, (phase, turns) in enumerate(zip(task.phases, work, strict=True))
        ),
    )


def drawn(
    scenario: Scenario, task: Task, work: Sequence[int | None], seed: int, thread: str
) -> Course:
    """A task's turns with the seed's draws for its thread; `plain` if nothing is drawn.

    :param work: iterations of the busy loop, by phase: the mean, which is kept.
    """
    group = meeting(scenario, task)
    if not any(other.varies for other in group):
        return plain(task, work)
    once = [turn for turn in plain(task, work).turns for _ in range(turn.loops or 1)]
    again = task.repeat is None or task.endless
    cycle = once * (max(map(_cycles, group)) if again else 1)
    turns = _with_periods(_with_work(cycle, task, seed, thread), task, seed, thread)
    turns = [replace(turn, loops=1) for turn in turns]
    return Course(None if again else task.repeat, tuple(_merged(turns, task)))


def meeting(scenario: Scenario, task: Task) -> list[Task]:
    """The task and all tasks that it meets, directly or not; all have equally many turns."""
    group, names = [task], task.names_met
    for _ in scenario.tasks:
        group = [other for other in scenario.tasks if other is task or other.names_met & names]
        names = frozenset(name for other in group for name in other.names_met)
    return group


def turns_of(task: Task) -> int:
    """Turns of one repeat; a phase without an end counts once."""
    return sum(phase.loops or 1 for phase in task.phases)


def _cycles(task: Task) -> int:
    return -(-CYCLE // turns_of(task))


def _with_work(cycle: Sequence[Turn], task: Task, seed: int, thread: str) -> list[Turn]:
    """The cycle's work, lognormal; its sum is the same as without draws."""
    if not task.work_cv:
        return list(cycle)
    draws = Draws(seed, "work", thread)
    weights = [draws.lognormal(task.work_cv) * (turn.work or 0) for turn in cycle]
    parts = iter(
        apportioned(
            [weight for weight, turn in zip(weights, cycle, strict=True) if turn.work],
            sum(turn.work or 0 for turn in cycle),
        )
    )
    return [replace(turn, work=next(parts)) if turn.work else turn for turn in cycle]


def _with_periods(cycle: Sequence[Turn], task: Task, seed: int, thread: str) -> list[Turn]:
    """The cycle's timer by the task's clock."""
    if task.clock == "exact":
        return list(cycle)
    periods = [turn.period_us or 0 for turn in cycle]
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
    return [replace(turn, period_us=period) for turn, period in zip(cycle, periods, strict=True)]


def _merged(turns: Sequence[Turn], task: Task) -> list[Turn]:
    """Merge equal turns into one with loops; turns that meet stay, each has its own names."""
    merged: list[Turn] = []
    for turn in turns:
        last = merged[-1] if merged else None
        phase = task.phases[turn.phase]
        alike = last is not None and replace(last, loops=1) == turn
        if last is not None and alike and not (phase.meet_before or phase.meet):
            merged[-1] = replace(last, loops=(last.loops or 0) + 1)
        else:
            merged.append(turn)
    return merged
