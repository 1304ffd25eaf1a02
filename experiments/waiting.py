# SPDX-License-Identifier: GPL-2.0-or-later
"""Tasks that wait for each other in a circle, so that none of them ever continues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Wait:
    """A step that waits until the task ``whom`` has ended a turn's work."""

    whom: str
    phase: int


@dataclass(frozen=True)
class Meet:
    """A step that waits at ``name`` for the other task that meets there."""

    name: str
    phase: int


@dataclass(frozen=True)
class Signal:
    """The end of a phase's work, for which others may wait."""


Step = Wait | Meet | Signal


def stuck(tasks: Mapping[str, Sequence[Step]]) -> dict[str, Wait | Meet]:
    """The step at which each task stays for ever, for those that never end their first turn.

    A task that has ended its work once is assumed to end it again at once. So a task that is stuck
    here is stuck in every run. A run may also be stuck where this finds nothing.

    :param tasks: the steps of a turn, each phase once.
    """
    reached = dict.fromkeys(tasks, 0)
    met: Counter[tuple[str, str]] = Counter()
    signalled: set[str] = set()
    moved = True
    while moved:
        moved = False
        for name, steps in tasks.items():
            while reached[name] < len(steps):
                step = steps[reached[name]]
                if isinstance(step, Wait) and step.whom not in signalled:
                    break
                if isinstance(step, Meet) and not _others_come(tasks, reached, met, name, step):
                    break
                if isinstance(step, Signal):
                    signalled.add(name)
                if isinstance(step, Meet):
                    met[name, step.name] += 1
                reached[name] += 1
                moved = True
    ends = {
        name: steps[reached[name]] for name, steps in tasks.items() if reached[name] < len(steps)
    }
    return {name: step for name, step in ends.items() if not isinstance(step, Signal)}


def _others_come(
    tasks: Mapping[str, Sequence[Step]],
    reached: Mapping[str, int],
    met: Mapping[tuple[str, str], int],
    name: str,
    step: Meet,
) -> bool:
    """Whether every other task that meets at ``step`` has met there as often, or waits there."""
    for other, steps in tasks.items():
        if other == name or not any(isinstance(s, Meet) and s.name == step.name for s in steps):
            continue
        at = steps[reached[other]] if reached[other] < len(steps) else None
        standing = isinstance(at, Meet) and at.name == step.name
        if met[other, step.name] + standing <= met[name, step.name]:
            return False
    return True
