# SPDX-License-Identifier: GPL-2.0-or-later
"""Estimates over seeds: a function of the means of measures, and its confidence interval.

Leaving out each seed in turn gives the estimate's pseudo-values. Their mean is the estimate, so any
function is as easy as a difference of means. Each end of the interval is the wider end of Student's
t and of the BCa bootstrap of that mean. Student's t covers too seldom if a few seeds are far away,
the bootstrap if seeds are few. ``docs/reference/measures.md`` has the measured coverage.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from eascope.analysis.records.verdict import LEVEL

Key = TypeVar("Key", bound=Hashable)
#: Seeds from which on a confidence interval is given.
ENOUGH = 10
#: Two variants are paired by seed where their correlation over seeds exceeds this.
PAIRED_ABOVE = 0.3
RESAMPLES = 9_999
_BOOTSTRAP_SEED = 20_240_917
#: Pseudo-values that differ by no more, relative to their size, are equal but for rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Estimate:
    """A number with its variation over seeds.

    :param value: the number, of the means over all seeds.
    :param groups: pseudo-values of samples that do not depend on one another; the means of groups
        add up to the value. Empty with one seed.
    :param paired: whether two variants were paired by seed.
    :param correlation: of the two variants over seeds; None where it has no meaning.
    """

    value: float
    groups: tuple[NDArray[np.float64], ...]
    paired: bool = False
    correlation: float | None = None

    @property
    def seeds(self) -> int:
        """Number of seeds; the fewest of a variant, where they differ."""
        return min((len(group) for group in self.groups), default=1)

    @property
    def constant(self) -> bool:
        """True if no seed changes anything."""
        size = max((float(np.abs(group).max()) for group in self.groups), default=0.0)
        return all(_constant(group, max(size, abs(self.value))) for group in self.groups)

    def interval(self, level: float = LEVEL) -> tuple[float, float] | None:
        """The confidence interval; None with fewer than `ENOUGH` seeds.

        The same values always give the same interval.
        """
        if self.seeds < ENOUGH:
            return None
        if self.constant:
            return self.value, self.value
        drawn = _bootstrap(self.groups, level, self._distribution)
        student = _student(self.groups, level)
        low, high = min(drawn[0], student[0]), max(drawn[1], student[1])
        # A mean of pseudo-values differs from the value where a function is not linear.
        shift = self.value - sum(float(group.mean()) for group in self.groups)
        return low + shift, high + shift

    @property
    def p(self) -> float | None:
        """Of the t test that the value is zero; None with fewer than `ENOUGH` seeds."""
        if self.seeds < ENOUGH:
            return None
        if self.constant:
            return float(self.value == 0)
        # A mean of pseudo-values differs from the value where a function is not linear.
        shift = self.value - sum(float(group.mean()) for group in self.groups)
        return float(_student_test(self.groups, shift).pvalue)

    @cached_property
    def _distribution(self) -> Any:  # noqa: ANN401 - scipy has no types
        return _resampled(self.groups)

    @property
    def deviation(self) -> float:
        """Standard deviation of one seed's part in the value."""
        return math.sqrt(sum(float(group.var(ddof=1)) for group in self.groups))


@dataclass(frozen=True)
class Proportion(Estimate):
    """The share of seeds in which something happens, in percent: each seed is 0 or 100."""

    def interval(self, level: float = LEVEL) -> tuple[float, float] | None:
        """Wilson's interval, which one seed of many widens as well as half of them."""
        (group,) = self.groups or ((),)
        if len(group) < ENOUGH:
            return None
        found = scipy.stats.binomtest(int(np.count_nonzero(group)), len(group)).proportion_ci(
            level, "wilson"
        )
        return 100 * float(found.low), 100 * float(found.high)


def proportion(happened: Sequence[float]) -> Proportion:
    """The share of seeds in which something happened, of 1 or 0 for each seed."""
    percent = 100 * np.array(happened, dtype=np.float64)
    return Proportion(float(percent.mean()), (percent,) if len(percent) > 1 else ())


def estimate(
    function: Callable[[Mapping[Key, float]], float],
    samples: Sequence[Mapping[Key, Sequence[float]]],
    *,
    aligned: bool = True,
) -> Estimate:
    """The estimate of ``function`` over means.

    :param samples: values by measure for one variant or two.
    :param aligned: whether the variants' values are in the same order of seeds.
    :raises ValueError: when a variant's values are not of one positive length, or aligned ones of
        different lengths.
    """
    lengths = [{len(values) for values in sample.values()} for sample in samples]
    if any(len(length) != 1 or 0 in length for length in lengths):
        raise ValueError("values are not of one positive length")
    if aligned and len(set.union(*lengths)) != 1:
        raise ValueError("values are not aligned by seed")
    means = {key: _mean(values) for sample in samples for key, values in sample.items()}
    value = function(means)
    if 1 in set.union(*lengths):
        return Estimate(value, ())
    groups = tuple(_pseudo_values(function, value, means, sample) for sample in samples)
    if len(groups) == 1:
        return Estimate(value, groups)
    correlation = _correlation(*groups) if aligned else None
    # Each group's mean is the value; what one of them says beyond it belongs to its own variant.
    first, second = groups
    if correlation is not None and correlation > PAIRED_ABOVE:
        return Estimate(value, (first + second - value,), True, correlation)
    return Estimate(value, (first, second - value), False, correlation)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _pseudo_values(
    function: Callable[[Mapping[Key, float]], float],
    value: float,
    means: dict[Key, float],
    sample: Mapping[Key, Sequence[float]],
) -> NDArray[np.float64]:
    """The pseudo-value of each seed of one variant, from leaving it out."""
    count = len(next(iter(sample.values())))
    pseudo = []
    for seed in range(count):
        without = {
            key: means[key] + (means[key] - values[seed]) / (count - 1)
            for key, values in sample.items()
        }
        pseudo.append(count * value - (count - 1) * function(means | without))
    return np.array(pseudo)


def _constant(group: NDArray[np.float64], size: float = 0.0) -> bool:
    return bool(np.ptp(group) <= _ROUNDING * max(size, float(np.abs(group).max())))


def _correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    """Of two variants over seeds, positive where pairing makes the interval narrower."""
    if len(first) < 3 or _constant(first) or _constant(second):
        return None
    return -float(scipy.stats.pearsonr(first, second).statistic)


def _student(groups: tuple[NDArray[np.float64], ...], level: float) -> tuple[float, float]:
    """Student's t interval of the sum of the groups' means; Welch's for two groups."""
    low, high = _student_test(groups).confidence_interval(level)
    return float(low), float(high)


def _student_test(groups: tuple[NDArray[np.float64], ...], shift: float = 0.0) -> Any:  # noqa: ANN401
    """The test that the sum of the groups' means and ``shift`` is zero.

    A group that does not vary only moves the others.
    """
    size = max(float(np.abs(group).max()) for group in groups)
    varying = [group for group in groups if not _constant(group, size)]
    still = shift + sum(float(group.mean()) for group in groups if _constant(group, size))
    if len(varying) == 1:
        return scipy.stats.ttest_1samp(varying[0] + still, 0.0)
    return scipy.stats.ttest_ind(varying[0] + still, -varying[1], equal_var=False)


def _sum_of_means(*groups: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
    total: NDArray[np.float64] = sum(group.mean(axis=axis) for group in groups)
    return total


def _resampled(groups: tuple[NDArray[np.float64], ...]) -> Any:  # noqa: ANN401
    return scipy.stats.bootstrap(
        groups,
        _sum_of_means,
        n_resamples=RESAMPLES,
        method="BCa",
        rng=np.random.Generator(np.random.PCG64(_BOOTSTRAP_SEED)),
    )


def _bootstrap(
    groups: tuple[NDArray[np.float64], ...],
    level: float,
    distribution: Any,  # noqa: ANN401
) -> tuple[float, float]:
    """The BCa interval at a level, of a distribution that was resampled before."""
    result = scipy.stats.bootstrap(
        groups,
        _sum_of_means,
        n_resamples=0,
        method="BCa",
        confidence_level=level,
        bootstrap_result=distribution,
    ).confidence_interval
    return float(result.low), float(result.high)


#: Seeds that are no longer worth asking for.
MOST_SEEDS = 1_000
#: How likely the asked-for number of seeds is to decide.
POWER = 0.8


def seeds_needed(
    estimated: Estimate, bounds: tuple[float, float], level: float, least: int
) -> int | None:
    """Seeds with which the interval most likely lies within ``bounds``, or beyond one of them.

    The estimate and its deviation are assumed to be the true ones. With that many seeds, a share of
    `POWER` of all comparisons decides.

    :param bounds: the range that a statement allows; infinite if it has no bound.
    :param least: the fewest that are allowed to decide.
    :returns: None where it takes more than `MOST_SEEDS`.
    """
    if estimated.seeds == 1:
        return None

    def decides(seeds: int) -> bool:
        return _power(estimated, bounds, level, seeds) >= POWER

    if not decides(MOST_SEEDS):
        return None
    return bisect_left(range(MOST_SEEDS), True, lo=least, key=decides)


def _power(estimated: Estimate, bounds: tuple[float, float], level: float, seeds: int) -> float:
    """The probability that a t interval with ``seeds`` seeds lies on one side of each bound."""
    low, high = bounds
    gaps = (estimated.value - low, high - estimated.value)
    # Beyond a bound, the interval has to be wholly beyond that one.
    gaps = gaps if min(gaps) >= 0 else (-min(gaps), math.inf)
    error = estimated.deviation / math.sqrt(seeds)
    if error == 0:
        return float(min(gaps) > 0)
    freedom = len(estimated.groups) * (seeds - 1)
    beyond = scipy.stats.t.ppf((1 + level) / 2, freedom)
    within = [float(scipy.stats.nct.sf(beyond, freedom, min(gap / error, 30.0))) for gap in gaps]
    return sum(within) - 1
