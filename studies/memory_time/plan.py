# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan: the executed mixtures, with their shares of memory and lengths of chains of misses."""

from __future__ import annotations

from configs.activity import Activity, at_measured_speeds, load_activity
from configs.platform import Platform
from configs.platform_file import load_platform
from engines.timing.mixture import Mixture, mixture
from experiments.characterisation.guest import Chain

NAME = "memory-time"
PLATFORMS = ("juno-r2", "pixel6")
#: Shares that are aimed at; busy iterations are whole, so what is executed is near them.
SHARES = (0.1, 0.3, 0.5)
#: Misses of a chain. A single miss may overlap with the busy iterations around it.
CHAINS = (16, 1)
#: Busy iterations of one measurement.
ITERATIONS = 240
#: What is aimed at, in per cent.
GOAL_PERCENT = 5


def measured(name: str) -> tuple[Platform, Activity]:
    """The platform with the busy loop's speeds on gem5's detailed cores."""
    platform = load_platform(name)
    return at_measured_speeds(platform, load_activity(platform))


def chains(platform: Platform, activity: Activity) -> list[Chain]:
    """The kernels that are executed, on every cluster the same."""
    kernels: dict[tuple[int, int], Chain] = {}
    for share in SHARES:
        turn = mixture(platform, activity, share)
        for misses in CHAINS:
            busy = max(1, round(misses * turn.busy / turn.misses))
            name = f"mixture_{round(100 * share)}_{misses}"
            # Two shares may have the same whole parts.
            kernels.setdefault(
                (busy, misses), Chain(name, max(4, ITERATIONS // busy), busy, misses)
            )
    return list(kernels.values())


def executed_share(platform: Platform, activity: Activity, chain: Chain) -> float:
    """The exact share of memory of a chain, whose parts are whole numbers.

    With the share ``s``, busy is ``1 - s (1 + k)`` and misses ``s q``, where both ``k`` and ``q``
    follow from any other share; their ratio is the chain's.
    """
    known = mixture(platform, activity, SHARES[0])
    slope, rate = (1 - known.busy) / known.memory, known.misses / known.memory
    return 1 / (slope + rate * chain.busy / chain.misses)


def taken(platform: Platform, activity: Activity, chain: Chain) -> Mixture:
    """The mixture by which the engines account a chain."""
    return mixture(platform, activity, executed_share(platform, activity, chain))
