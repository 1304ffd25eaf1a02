# SPDX-License-Identifier: GPL-2.0-or-later
"""How often intervals cover the truth, on samples whose truth is known.

``python -m tests.support.coverage`` prints the table of ``docs/reference/measures.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from analysis import statistics
from analysis.statistics import estimate
from host.table import Table

#: Share of runs that are in the other state.
OTHERWISE = 0.2
#: Standard deviations between the states; runs of eas/video-playback had 3 to 6.
GAPS = (0, 3, 6)
#: Experiments for each figure of the table.
EXPERIMENTS = 1000
#: Draws of each interval; fewer than the product's, which takes five times as long.
RESAMPLES = 1_999

Draw = Callable[[np.random.Generator, int, float], tuple[list[float], ...]]


def states(random: np.random.Generator, seeds: int, gap: float) -> NDArray[np.float64]:
    """Values of which one in five is in another state."""
    return random.normal(size=seeds) + gap * (random.random(seeds) < OTHERWISE)


def _alone(random: np.random.Generator, seeds: int, gap: float) -> tuple[list[float], ...]:
    return (states(random, seeds, gap).tolist(),)


def _in_first(random: np.random.Generator, seeds: int, gap: float) -> tuple[list[float], ...]:
    return states(random, seeds, gap).tolist(), states(random, seeds, 0).tolist()


def _in_both(random: np.random.Generator, seeds: int, gap: float) -> tuple[list[float], ...]:
    return states(random, seeds, gap).tolist(), states(random, seeds, gap).tolist()


def _together(random: np.random.Generator, seeds: int, gap: float) -> tuple[list[float], ...]:
    common = states(random, seeds, gap)
    first, second = (common + random.normal(size=seeds) for _ in range(2))
    return first.tolist(), second.tolist()


#: Samples by what varies, and their true effect as a share of the gap.
CASES: dict[str, tuple[Draw, float]] = {
    "one variant": (_alone, OTHERWISE),
    "the first of two variants": (_in_first, OTHERWISE),
    "both, each by itself": (_in_both, 0.0),
    "both, with the same seeds": (_together, 0.0),
}


def covered(case: str, gap: float, seeds: int, experiments: int) -> tuple[float, float]:
    """Percent of intervals that have the truth in them, and percent that were paired."""
    with patch.object(statistics, "RESAMPLES", RESAMPLES):
        return _covered(case, gap, seeds, experiments)


def _covered(case: str, gap: float, seeds: int, experiments: int) -> tuple[float, float]:
    draw, share = CASES[case]
    random = np.random.Generator(np.random.PCG64(list(CASES).index(case)))
    hits = pairs = 0
    for _ in range(experiments):
        samples = [{number: row} for number, row in enumerate(draw(random, seeds, gap))]
        made = estimate(lambda means: means[0] - means.get(1, 0.0), samples)
        low, high = made.interval() or (0.0, 0.0)
        hits += low <= share * gap <= high
        pairs += made.paired
    return 100 * hits / experiments, 100 * pairs / experiments


def table() -> Table:
    """Coverage of 95 % intervals by case and gap, with 20 seeds and with 10."""
    heads = ["another state in", "paired", *(f"20 seeds, {gap} sd" for gap in GAPS)]
    heads += [f"10 seeds, {GAPS[1]} sd"]
    rows = []
    for case in CASES:
        made = [covered(case, gap, 20, EXPERIMENTS) for gap in GAPS]
        few, _ = covered(case, GAPS[1], 10, EXPERIMENTS)
        paired = (
            f"{made[1][1]:.0f} %"
            if len(CASES[case][0](np.random.default_rng(0), 2, 0)) > 1
            else "-"
        )
        rows.append([case, paired, *(f"{share:.1f} %" for share, _ in made), f"{few:.1f} %"])
    return Table.of(heads, rows)


if __name__ == "__main__":
    print(table().markdown())
