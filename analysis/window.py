# SPDX-License-Identifier: GPL-2.0-or-later
"""The measured part of a run: from the START to the STOP marker, and the trace's clock."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from host.errors import EascopeError

START = 2
STOP = 3


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
    try:
        marks = json.loads(path.read_bytes())
        start, stop = ([mark for mark in marks if mark["id"] == wanted] for wanted in (START, STOP))
        if len(start) != 1 or len(stop) != 1:
            raise EascopeError(
                f"{path}: {len(start)} START and {len(stop)} STOP markers: one of each is needed"
            )
        t0, t1 = int(start[0]["t_ns"]), int(stop[0]["t_ns"])
        offset = t0 - int(start[0]["mono_ns"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EascopeError(f"{path}: not readable as a list of markers: {error!r}") from error
    if t1 <= t0:
        raise EascopeError(f"{path}: STOP ({t1} ns) is not after START ({t0} ns)")
    return Window(t0, t1, offset)
