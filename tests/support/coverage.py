# SPDX-License-Identifier: GPL-2.0-or-later
"""How often intervals cover the truth, on samples whose truth is known.

The intervals are the product's, with as many resamples, of many experiments at once: one row of an
array is one experiment. A test holds them to what `analysis.statistics` gives for one.
`tests/analysis/test_statistics.py` holds the tables of ``docs/reference/measures.md`` to them.
"""

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from eascope.analysis import statistics
from eascope.analysis.records.verdict import LEVEL

#: Share of runs that are in the other state.
OTHERWISE = 0.2
#: Of the first of seven statements that are judged together.
STRICT = 1 - (1 - LEVEL) / 7
#: Standard deviations between the states; runs of eas/video-playback had 3 to 6.
GAPS = (0, 3, 6)
#: Experiments at once: their resamples take some 100 MB.
_AT_ONCE = 500

Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int], float], tuple[Values, ...]]


def states(random: np.random.Generator, shape: int | tuple[int, int], gap: float) -> Values:
    """Values of which one in five is in another state."""
    return random.normal(size=shape) + gap * (random.random(shape) < OTHERWISE)


def _alone(random: np.random.Generator, shape: tuple[int, int], gap: float) -> tuple[Values, ...]:
    return (states(random, shape, gap),)


def _in_first(
    random: np.random.Generator, shape: tuple[int, int], gap: float
) -> tuple[Values, ...]:
    return states(random, shape, gap), states(random, shape, 0)


def _in_both(random: np.random.Generator, shape: tuple[int, int], gap: float) -> tuple[Values, ...]:
    return states(random, shape, gap), states(random, shape, gap)


def _together(
    random: np.random.Generator, shape: tuple[int, int], gap: float
) -> tuple[Values, ...]:
    common = states(random, shape, gap)
    first, second = (common + random.normal(size=shape) for _ in range(2))
    return first, second


#: Samples by what varies, and their true effect as a share of the gap.
CASES: dict[str, tuple[Draw, float]] = {
    "one variant": (_alone, OTHERWISE),
    "the first of two variants": (_in_first, OTHERWISE),
    "both, each by itself": (_in_both, 0.0),
    "both, with the same seeds": (_together, 0.0),
}


def drawn(case: str, gap: float, seeds: int, experiments: int) -> tuple[Values, ...]:
    """Samples of a case, always the same ones; a row for each experiment."""
    random = np.random.Generator(np.random.PCG64(list(CASES).index(case)))
    return CASES[case][0](random, (experiments, seeds), gap)


def covered(case: str, gap: float, seeds: int, experiments: int) -> tuple[float, float]:
    """Percent of intervals that have the truth in them, and percent that were paired."""
    truth = CASES[case][1] * gap
    samples = drawn(case, gap, seeds, experiments)
    ends, paired = intervals(samples)
    hits = (ends[0] <= truth) & (truth <= ends[1])
    return 100 * float(hits.mean()), 100 * float(paired.mean())


def intervals(samples: tuple[Values, ...]) -> tuple[Values, NDArray[np.bool_]]:
    """Ends of the interval of each row's difference of means, and whether it was paired."""
    if len(samples) == 1:
        return _ends(samples), np.zeros(len(samples[0]), dtype=bool)
    first, second = samples
    paired = stats.pearsonr(first, second, axis=-1).statistic > statistics.PAIRED_ABOVE
    ends = np.empty((2, len(first)))
    ends[:, paired] = _ends((first[paired] - second[paired],))
    ends[:, ~paired] = _ends((first[~paired], -second[~paired]))
    return ends, paired


def _ends(groups: tuple[Values, ...], level: float = LEVEL) -> Values:
    """As `Estimate.interval`, of each row."""
    parts = [_ends_of_some(some, level) for some in _some(groups)]
    return np.concatenate(parts, axis=1) if parts else np.empty((2, 0))


def _some(groups: tuple[Values, ...]) -> Iterator[tuple[Values, ...]]:
    for begin in range(0, len(groups[0]), _AT_ONCE):
        yield tuple(group[begin : begin + _AT_ONCE] for group in groups)


def _ends_of_some(groups: tuple[Values, ...], level: float) -> Values:
    boot = stats.bootstrap(
        groups,
        statistics._sum_of_means,
        n_resamples=0,
        method="BCa",
        confidence_level=level,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=_resampled(groups)),
        axis=-1,
    ).confidence_interval
    if len(groups) == 1:
        student = stats.ttest_1samp(groups[0], 0.0, axis=-1).confidence_interval(level)
    else:
        test = stats.ttest_ind(groups[0], -groups[1], equal_var=False, axis=-1)
        student = test.confidence_interval(level)
    low, high = np.minimum(boot.low, student.low), np.maximum(boot.high, student.high)
    return np.array([low, high])


def _resampled(groups: tuple[Values, ...]) -> Values:
    """Each row's sums of means, of scipy's own draws; a value counts as often as it is drawn."""
    random = np.random.Generator(np.random.PCG64(statistics._BOOTSTRAP_SEED))
    total = np.zeros((len(groups[0]), statistics.RESAMPLES))
    for group in groups:
        seeds = group.shape[-1]
        chosen = random.integers(0, seeds, (statistics.RESAMPLES, seeds))
        counts = np.stack([np.bincount(item, minlength=seeds) for item in chosen])
        total += group @ counts.T / seeds
    return total


def covered_rare(share: float, noise: float, level: float, experiments: int) -> float:
    """Percent of the intervals of one variant that cover the mean.

    :param share: of runs in another state, `GAPS`' last away.
    :param noise: standard deviation in a state.
    """
    random = np.random.Generator(np.random.PCG64(round(1 / share)))
    shape = (experiments, 20)
    gap = GAPS[-1]
    values = noise * random.normal(size=shape) + gap * (random.random(shape) < share)
    low, high = _with_spread(values, level)
    return 100 * float(((low <= gap * share) & (gap * share <= high)).mean())


def _with_spread(values: Values, level: float) -> Values:
    """The ends of each row's interval; a row of equal values has one point, as in the product."""
    ends = np.array([values[:, 0], values[:, 0]])
    spread = np.ptp(values, axis=1) > 0
    ends[:, spread] = _ends((values[spread],), level)
    return ends
