# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan: the scenario that both engines run, and what its programs print."""

from __future__ import annotations

from experiments.controls import Controls
from experiments.request import Request

NAME = "program-speed"
PLATFORM, VARIANT, SCENARIO = "juno-r2", "mainline", "programs/sysbench-clusters"
#: What is compared, and how near the fast engine is to come, in percent.
MEASURE, GOAL_PERCENT = "events_per_s", 10
#: Engine and mode, the compared one first.
FAST, REFERENCE = ("qemu", None), ("gem5", "detailed")
#: A scenario that gem5's atomic CPUs run to its end, and what is shown of it.
WHOLE, WHOLE_REFERENCE = "programs/cyclictest-idle", ("gem5", "elided")
WHOLE_MEASURES = ("avg_us", "p99_us", "max_us")


def request(scenario: str, engine: str, mode: str | None) -> Request:
    """The cell on an engine; without noise, whose warm-up gem5 would execute."""
    return Request(
        platform=PLATFORM,
        variant=VARIANT,
        scenario=scenario,
        engine=engine,
        mode=mode,
        controls=Controls(noise=False),
    )
