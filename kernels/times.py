# SPDX-License-Identifier: GPL-2.0-or-later
"""How long kernel builds take on this machine: an estimate for who waits for the next one.

A build from objects that an earlier one left costs what its patches touch: seconds for a changed
source file, as long as a build from nothing for a queue that changes ``sched.h``, as ours do. Both
depend on the machine. So the estimate is what the last builds of its kind took.
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path

from host.cache import cache_root, write_atomic

#: Before there was any, on two cores. The first build from objects is that of another queue.
FIRST_S = 360.0
#: Builds of each kind that count.
KEPT = 5


def _file() -> Path:
    return cache_root() / "kernel-times.json"


def _kind(from_objects: bool) -> str:
    return "from_objects_s" if from_objects else "from_nothing_s"


def _past() -> dict[str, list[float]]:
    """Seconds of past builds by kind; none where the file is not there, or not what we wrote."""
    kinds = (_kind(True), _kind(False))
    try:
        noted = json.loads(_file().read_bytes())
        return {kind: [float(seconds) for seconds in noted[kind]] for kind in kinds}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {kind: [] for kind in kinds}


def estimate_s(from_objects: bool) -> float:
    """What the next build will take in seconds: the median of the last ones of its kind."""
    past = _past()[_kind(from_objects)]
    return statistics.median(past) if past else FIRST_S


def remember(from_objects: bool, seconds: float) -> None:
    """A build took ``seconds``."""
    past = _past()
    past[_kind(from_objects)] = [*past[_kind(from_objects)], round(seconds, 1)][-KEPT:]
    write_atomic(_file(), json.dumps(past, indent=1, sort_keys=True).encode() + b"\n")
