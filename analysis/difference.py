# SPDX-License-Identifier: GPL-2.0-or-later
"""Differences of one measure between two variants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eascope.analysis.statistics import Estimate, estimate

#: A mean without one seed that is no larger, relative to the mean, is zero but for rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Difference:
    """Variant less baseline, over common seeds.

    :param absolute: the mean of the variant less that of the baseline.
    :param percent: the same in percent of the baseline's mean; None when that is zero.
    :param low: lower end of the 95 % interval of ``absolute``; None with too few seeds.
    :param baseline: size of the baseline's mean.
    :param seeds: number of common seeds.
    :param paired: whether the interval is of pairs (`analysis.statistics.PAIRED_ABOVE`).
    :param correlation: of the two over seeds; None where one of them does not vary.
    :param p: of the test that there is none; None with too few seeds.
    :param ratio: the estimate of ``percent``; None where it is not known.
    :param percent_ends: the 95 % interval of ``percent`` where a record states it.
    """

    absolute: float
    percent: float | None
    low: float | None
    high: float | None
    baseline: float
    seeds: int
    paired: bool = False
    correlation: float | None = None
    p: float | None = None
    ratio: Estimate | None = field(default=None, compare=False, repr=False)
    percent_ends: tuple[float, float] | None = None

    @property
    def clear(self) -> bool | None:
        """True if the interval excludes zero; None when there is none."""
        if self.low is None or self.high is None:
            return None
        return self.low > 0 or self.high < 0

    def clear_above(self, floor: float | None) -> bool:
        """True if its interval excludes zero, and it exceeds a noise floor if one is known.

        The interval is that of ``percent``, which is shown; where there is none, of ``absolute``.

        :param floor: in percent; None where it is not known.
        """
        ends = self.in_percent()
        excludes = bool(self.clear) if ends is None else ends[0] > 0 or ends[1] < 0
        if floor is None or self.percent is None:
            return excludes
        return excludes and abs(self.percent) > floor

    def in_percent(self) -> tuple[float, float] | None:
        """The 95 % interval of ``percent``; None without either.

        The baseline's mean varies over seeds, too. So this is the interval of the ratio, not that
        of ``absolute`` divided by the baseline's mean.
        """
        if self.percent_ends is not None or self.ratio is None:
            return self.percent_ends
        return self.ratio.interval()


def difference(
    baseline: Sequence[float], variant: Sequence[float], *, aligned: bool = True
) -> Difference:
    """Compare two variants' values of a measure.

    :param aligned: whether they are in the same order of seeds.
    :raises ValueError: when one is empty, or aligned ones are not of one length.
    """
    estimated = estimate(
        lambda means: means["variant"] - means["baseline"],
        ({"baseline": baseline}, {"variant": variant}),
        aligned=aligned,
    )
    mean = abs(sum(baseline) / len(baseline))
    low, high = estimated.interval() or (None, None)
    ratio = _ratio(baseline, variant, aligned=aligned) if mean else None
    return Difference(
        absolute=estimated.value,
        percent=100 * estimated.value / mean if mean else None,
        low=low,
        high=high,
        baseline=mean,
        seeds=estimated.seeds,
        paired=estimated.paired,
        correlation=estimated.correlation,
        p=estimated.p,
        ratio=ratio,
    )


def _ratio(
    baseline: Sequence[float], variant: Sequence[float], *, aligned: bool
) -> Estimate | None:
    """The difference in percent of the baseline's size.

    :returns: None where one seed alone makes the baseline differ from zero.
    """
    mean = abs(sum(baseline) / len(baseline))

    def percent(means: Mapping[str, float]) -> float:
        if abs(means["baseline"]) <= _ROUNDING * mean:  # zero but for rounding
            raise ZeroDivisionError
        return 100 * (means["variant"] - means["baseline"]) / abs(means["baseline"])

    try:
        return estimate(percent, ({"baseline": baseline}, {"variant": variant}), aligned=aligned)
    except ZeroDivisionError:
        return None


@dataclass(frozen=True)
class UnpairedDifference:
    """The mean of some values less that of others which are not their pairs.

    :param percent: difference of the means in percent of the baseline's.
    :param low: lower end of the 95 % interval of ``percent``; None with too few values on a side.
    """

    percent: float
    low: float | None
    high: float | None


def unpaired_difference(baseline: Sequence[float], values: Sequence[float]) -> UnpairedDifference:
    """Compare two samples of positive values, such as energies, of any positive lengths.

    :raises ValueError: when one is empty, or a value of the baseline is not positive.
    """
    if not baseline or not values:
        raise ValueError("a sample is empty")
    diff = difference(baseline, values, aligned=False)
    if diff.percent is None or min(baseline) <= 0:
        raise ValueError("the baseline is not positive")
    low, high = diff.in_percent() or (None, None)
    return UnpairedDifference(diff.percent, low, high)
