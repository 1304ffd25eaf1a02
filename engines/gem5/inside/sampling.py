# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples of a run: when each begins and ends.

They lie in simulated time at equal distances, wherever the guest's programs are by then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from eascope.engines.gem5.inside.request import SampleTimes
from eascope.engines.gem5.inside.rows import TICKS_PER_NS


class SampledMachine(Protocol):
    """What a sample is taken of."""

    def begin_sample(self) -> None:
        """Executed instructions are recorded from here on."""

    def end_sample(self) -> None:
        """They are no longer recorded."""


def steady(before: Sequence[int], after: Sequence[int]) -> list[int]:
    """The clock of each cluster in Hz, 0 if it has changed between two readings."""
    return [hertz if hertz == now else 0 for hertz, now in zip(before, after, strict=True)]


class Sampling:
    """The samples of a run.

    :param now: tick of the run's first step, from which times count.
    """

    def __init__(self, machine: SampledMachine, times: SampleTimes, now: int) -> None:
        first, every, length = (
            times[name] * TICKS_PER_NS for name in ("first_ns", "every_ns", "length_ns")
        )
        begins = [now + first + number * every for number in range(times["count"])]
        self._edges = [edge for begin in begins for edge in (begin, begin + length)]
        self._machine = machine
        self._next = 0

    def ahead(self, tick: int) -> int:
        """Ticks from ``tick`` to the next edge of a sample."""
        return self._edges[self._next] - tick

    def reached(self, tick: int) -> bool:
        """Begin or end a sample when ``tick`` is its edge; whether this was the last one."""
        if tick == self._edges[self._next]:
            if self._next % 2:
                self._machine.end_sample()
            else:
                self._machine.begin_sample()
            self._next += 1
        return self._next == len(self._edges)
