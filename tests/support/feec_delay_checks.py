# SPDX-License-Identifier: GPL-2.0-or-later
"""What ``ou_delay_us`` does, asked of a kernel in a guest, and what must be found.

A CPU is overutilized above four fifths of its capacity; utilization halves in 32 ms.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from eascope.configs.platform import Platform
from eascope.kernels.build import KernelArtefact
from tests.support.feec_checks import FILES, Case, traced
from tests.support.guest_cases import GROUP, Found

#: When the system becomes overutilized by tasks that run on one CPU.
DELAYED = {
    "late": Case("stuck 1 0 0x1 300", switches={"ou_delay_us": 1_000_000}),
    "in-time": Case("stuck 1 0 0x1 300", switches={"ou_delay_us": 50_000}),
    "at-once": Case("stuck 1 0 0x1 300"),
    # Above the limit twice for less than the delay; the second time begins after more than it.
    "rests": Case("works 4 400 900 2", switches={"ou_delay_us": 1_000_000}),
    "rests-at-once": Case("works 4 400 900 2"),
    "short-rests": Case("works 4 100 3 12", switches={"ou_delay_us": 500_000}),
    # Above the limit for less than 200 ms, then without bandwidth for 100 ms.
    "throttled-late": Case(
        "throttled 4", bandwidth="200000 300000", switches={"ou_delay_us": 212_000}
    ),
    "throttled-at-once": Case("throttled 4", bandwidth="200000 300000"),
    # It falls asleep once the delay is over, before the next tick.
    "leaves": Case("leaves 4 200000 20", switches={"ou_delay_us": 200_000}),
    "leaves-at-once": Case("leaves 4 200000 20"),
}


def check_delay(delayed: Mapping[str, Found]) -> None:
    """A CPU that is overutilized for 400 ms makes the system so after ``ou_delay_us``."""
    assert delayed["at-once"].counted["overutilized_set"] >= 1
    assert delayed["in-time"].counted["overutilized_set"] >= 1
    assert delayed["late"].counted["overutilized_set"] == 0


def check_delay_after_rest(delayed: Mapping[str, Found]) -> None:
    """A rest in which utilization falls below the limit begins the time anew; a short one not."""
    # An idle system may keep the mark of the first time.
    assert delayed["rests-at-once"].counted["overutilized_set"] >= 1
    assert delayed["rests"].counted["overutilized_set"] == 0
    assert delayed["short-rests"].counted["overutilized_set"] >= 1


def check_delay_after_throttling(delayed: Mapping[str, Found]) -> None:
    """The time begins anew with the first task that a group brings when it runs again."""
    for name in ("throttled-late", "throttled-at-once"):
        ((stopped_ms,),) = delayed[name].lines
        assert 50 < stopped_ms < 150, name
    assert delayed["throttled-at-once"].counted["overutilized_set"] >= 1
    assert delayed["throttled-late"].counted["overutilized_set"] == 0


def check_delay_without_task(delayed: Mapping[str, Found]) -> None:
    """A CPU whose last task sleeps does not make the system overutilized, with any delay."""
    assert delayed["leaves-at-once"].counted["overutilized_set"] >= 1
    ((after,),) = delayed["leaves"].lines
    assert after >= 5
    assert delayed["leaves"].counted["overutilized_set"] == 0


WOKEN = re.compile(r" (\d+\.\d+): sched_wakeup: comm=works .*target_cpu=004")
ASKED = re.compile(r" (\d+\.\d+): sched_cpufreq_req: cpu=4 ")


def check_asks_after_rest(feec: KernelArtefact, platform: Platform, folder: Path) -> None:
    """A task that wakes up after a rest asks for a frequency, whatever the delay has looked at."""
    lines = [
        f"write {GROUP}/cpu.uclamp.max max",
        f"write {FILES}/ou_delay_us 1000000",
        "trace",
        "spawn works /bin/works 4 300 303 4",
        "wait works 20000",
    ]
    text = traced(feec, platform, folder, "sched:sched_wakeup eascope:sched_cpufreq_req", lines)
    woken = [float(time) for time in WOKEN.findall(text)]
    asked = [float(time) for time in ASKED.findall(text)]
    assert len(woken) >= 3
    # A tick, which asks as well, is up to 4 ms later.
    late = [time for time in woken if min(abs(time - other) for other in asked) > 0.0003]
    assert not late, late
