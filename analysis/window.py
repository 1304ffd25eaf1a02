# SPDX-License-Identifier: GPL-2.0-or-later
"""The measured part of a run: from the START to the STOP marker, and the trace's clock."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from eascope.engines.records import START, STOP, read_marks
from eascope.host.errors import EascopeError


@dataclass(frozen=True)
class Window:
    """Times in ns since power-on.

    :param offset_ns: added to a CLOCK_MONOTONIC time gives ns since power-on.
    """

    t0_ns: int
    t1_ns: int
    offset_ns: int = 0

    @property
    def ns(self) -> int:
        """Length in ns."""
        return self.t1_ns - self.t0_ns

    @property
    def seconds(self) -> float:
        """Length in s."""
        return self.ns / 1e9


def read_window(path: Path) -> Window:
    """The window of ``marks.json``.

    :raises EascopeError: when START or STOP is missing, doubled or in the wrong order.
    """
    marks = read_marks(path)
    begins = [mark for mark in marks if mark.id == START]
    stops = [mark for mark in marks if mark.id == STOP]
    if len(begins) != 1 or len(stops) != 1:
        raise EascopeError(
            f"{path}: {len(begins)} START and {len(stops)} STOP markers: one of each is needed"
        )
    [start], [stop] = begins, stops
    if stop.t_ns <= start.t_ns:
        raise EascopeError(f"{path}: STOP ({stop.t_ns} ns) is not after START ({start.t_ns} ns)")
    return Window(start.t_ns, stop.t_ns, offset_ns=start.t_ns - start.mono_ns)
