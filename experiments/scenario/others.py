# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads outside the scenario: a board's background, and the stirring before the warm-up.

Both are threads of the same rt-app. A thread is one phase whose events are works and sleeps: rt-app
reads an event in a third of the time that a phase takes.

Background: an idle device still wakes up now and then. A dozen threads wake up at random. They may
run anywhere and have no clamps. A job is 50 us to 2 ms of a little CPU's time at its top OPP, and
together they use 4 % of such a CPU. Stirring: for a second, a pinned thread on each CPU has short
bursts, so that load balance moves other tasks away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from eascope.analysis.records.cell import STIR
from eascope.configs.activity import Activity
from eascope.configs.platform import Cluster, Platform
from eascope.experiments.scenario.draws import Draws, apportioned

#: Threads of a board's background, their share of a little CPU's time, and the work of a job.
BACKGROUND_THREADS = 12
BACKGROUND_SHARE = Fraction(4, 100)
BACKGROUND_WORK_US = (50, 2_000)
#: Jobs of a thread that are drawn; then it begins again.
BACKGROUND_JOBS = 16

STIR_MS = 1_000
#: Bursts of a CPU in that time, and how long each is at the CPU's top OPP.
STIR_BURSTS = 20
STIR_WORK_US = (1_000, 5_000)

BACKGROUND = "bg"


@dataclass(frozen=True)
class Other:
    """A thread: `delay_us`, then works (iterations) and sleeps (us), alternately."""

    delay_us: int
    events: tuple[tuple[str, int], ...]
    endless: bool
    cpu: int | None = None

    def entry(self) -> dict[str, Any]:
        """The thread as rt-app wants it."""
        loop = -1 if self.endless else 1
        entry: dict[str, Any] = {"loop": loop, "delay": self.delay_us, "policy": "SCHED_OTHER"}
        if self.cpu is not None:
            entry["cpus"] = [self.cpu]
        events = {f"{kind}{number // 2}": value for number, (kind, value) in enumerate(self.events)}
        entry["phases"] = {"phase0": {"loop": loop, **events}}
        return entry


def others(
    background: str, platform: Platform, activity: Activity, seed: int
) -> Mapping[str, Other]:
    """The threads by name."""
    threads = {f"{STIR}{cpu}": _perturbing(cpu, platform, activity, seed) for cpu in platform.cpus}
    if background == "board":
        for number in range(BACKGROUND_THREADS):
            name = f"{BACKGROUND}{number}"
            threads[name] = _background(name, platform, activity, seed)
    return threads


def threads_besides(background: str, platform: Platform) -> int:
    """The number of `others`."""
    return len(platform.cpus) + (BACKGROUND_THREADS if background == "board" else 0)


def _background(name: str, platform: Platform, activity: Activity, seed: int) -> Other:
    draws = Draws(seed, "background", name)
    little = min(platform.clusters, key=lambda cluster: platform.capacities[cluster.cpus[0]])
    work_us = [draws.between(*BACKGROUND_WORK_US) for _ in range(BACKGROUND_JOBS)]
    cycle_us = round(sum(work_us) * BACKGROUND_THREADS / BACKGROUND_SHARE)
    sleep_us = apportioned([draws.exponential() for _ in work_us], cycle_us - sum(work_us))
    rate = _iterations_per_us(little, activity)
    return Other(
        delay_us=draws.below(cycle_us // BACKGROUND_JOBS),
        events=tuple(
            event
            for work, sleep in zip(work_us, sleep_us, strict=True)
            for event in (("run", max(1, round(work * rate))), ("sleep", sleep))
        ),
        endless=True,
    )


def _perturbing(cpu: int, platform: Platform, activity: Activity, seed: int) -> Other:
    draws = Draws(seed, "stir", cpu)
    rate = _iterations_per_us(platform.cluster_of(cpu), activity)
    work_us = [draws.between(*STIR_WORK_US) for _ in range(STIR_BURSTS)]
    left_us = STIR_MS * 1000 - sum(work_us)
    sleep_us = apportioned([draws.exponential() for _ in work_us], left_us)
    return Other(
        delay_us=0,
        events=tuple(
            event
            for work, sleep in zip(work_us, sleep_us, strict=True)
            for event in (("sleep", sleep), ("run", max(1, round(work * rate))))
        ),
        endless=False,
        cpu=cpu,
    )


def _iterations_per_us(cluster: Cluster, activity: Activity) -> Fraction:
    """Iterations of the busy loop that a CPU of the cluster does per us at its top OPP."""
    ipc = Fraction(str(activity.ipc(cluster)))
    return ipc * cluster.max_khz / (1000 * activity.iteration_instructions)
