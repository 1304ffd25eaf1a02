# SPDX-License-Identifier: GPL-2.0-or-later
"""The duration of kernel builds on this machine, as an estimate for the next build.

A build from nothing takes the same time for every kernel. A build from the kernel's own objects
compiles only the changes, and usually takes seconds. Both depend on the machine, so the estimate is
the time of the last builds of that kind. A kernel that starts from a copy of another kernel's
objects may take seconds or, if its patches change ``sched.h``, as long as from nothing.
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path

from eascope.host.cache import cache_root, write_atomic
from eascope.host.proc import duration
from eascope.kernels.worktree import Objects

#: Before there was any, on two cores.
FIRST_S = 360.0
#: Builds of each kind that count.
KEPT = 5


def _file() -> Path:
    return cache_root() / "kernel-times.json"


def _kind(from_objects: bool) -> str:
    return "from_objects_s" if from_objects else "from_nothing_s"


def _past() -> dict[str, list[float]]:
    """Seconds of past builds by kind; none if the file is missing or damaged."""
    kinds = (_kind(True), _kind(False))
    try:
        noted = json.loads(_file().read_bytes())
        return {kind: [float(seconds) for seconds in noted[kind]] for kind in kinds}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {kind: [] for kind in kinds}


def estimate_s(from_objects: bool) -> float:
    """Estimated seconds of the next build: the median of the last ones of its kind."""
    past = _past()[_kind(from_objects)]
    return statistics.median(past) if past else FIRST_S


def estimate(objects: Objects) -> str:
    """The same in words; for a build from another kernel's objects, the most that it may take."""
    if objects is Objects.COPIED:
        most = duration(estimate_s(from_objects=False))
        return f"unknown: up to {most}, by what its patches touch"
    return f"about {duration(estimate_s(objects is Objects.OWN))}"


def remember(from_objects: bool, seconds: float) -> None:
    """Record that a build took ``seconds``."""
    past = _past()
    past[_kind(from_objects)] = [*past[_kind(from_objects)], round(seconds, 1)][-KEPT:]
    write_atomic(_file(), json.dumps(past, indent=1, sort_keys=True).encode() + b"\n")
