# SPDX-License-Identifier: GPL-2.0-or-later
"""Differences between variants over seeds.

The spread over seeds comes from start offsets alone: it is phase sensitivity, not noise, and is
called so. With fewer than :data:`ENOUGH` common seeds the values are shown and no test is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

#: Seeds from which on a confidence interval is given.
ENOUGH = 10
RESAMPLES = 10_000
_BOOTSTRAP_SEED = 20_240_917


@dataclass(frozen=True)
class Difference:
    """Variant less baseline, paired over common seeds.

    :param absolute: mean of the differences.
    :param percent: the same in percent of the baseline's mean; None when that is zero.
    :param low: lower end of the 95 % interval of ``absolute``; None with too few seeds.
    :param pairs: number of common seeds.
    """

    absolute: float
    percent: float | None
    low: float | None
    high: float | None
    pairs: int

    @property
    def clear(self) -> bool | None:
        """Whether the interval excludes zero; None when there is none."""
        if self.low is None or self.high is None:
            return None
        return self.low > 0 or self.high < 0


def difference(baseline: Sequence[float], variant: Sequence[float]) -> Difference:
    """Compare values that are aligned by seed.

    The interval is a percentile bootstrap over the pairs with a fixed generator, so the same values
    always give the same interval.

    :raises ValueError: when the two are not of one positive length.
    """
    if len(baseline) != len(variant) or not baseline:
        raise ValueError("values are not paired")
    base = np.asarray(baseline, dtype=float)
    pairs = np.asarray(variant, dtype=float) - base
    mean = float(base.mean())
    absolute = float(pairs.mean())
    percent = 100 * absolute / abs(mean) if mean != 0 else None
    low = high = None
    if len(pairs) >= ENOUGH:
        generator = np.random.Generator(np.random.PCG64(_BOOTSTRAP_SEED))
        picks = generator.integers(0, len(pairs), size=(RESAMPLES, len(pairs)))
        means = pairs[picks].mean(axis=1)
        low, high = (float(np.quantile(means, share)) for share in (0.025, 0.975))
    return Difference(absolute, percent, low, high, len(pairs))


def resampled_means(rows: Sequence[Sequence[float]], count: int) -> list[list[float]]:
    """Means of each row over ``count`` draws of seeds, the same draws for all rows.

    :param rows: values by seed, all of one positive length.
    """
    values = np.asarray(rows, dtype=float)
    generator = np.random.Generator(np.random.PCG64(_BOOTSTRAP_SEED))
    picks = generator.integers(0, values.shape[1], size=(count, values.shape[1]))
    means: list[list[float]] = [row[picks].mean(axis=1).tolist() for row in values]
    return means


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
    """Compare two samples of what is never zero, as energies are, each of any positive length.

    The interval is a percentile bootstrap that draws from each sample anew, with a fixed generator.

    :raises ValueError: when one is empty, or a value of the baseline is not positive.
    """
    if not baseline or not values:
        raise ValueError("a sample is empty")
    if min(baseline) <= 0:
        raise ValueError("the baseline is not positive")
    base, other = (np.asarray(sample, dtype=float) for sample in (baseline, values))
    low = high = None
    if min(len(base), len(other)) >= ENOUGH:
        generator = np.random.Generator(np.random.PCG64(_BOOTSTRAP_SEED))
        means = [
            sample[generator.integers(0, len(sample), size=(RESAMPLES, len(sample)))].mean(axis=1)
            for sample in (base, other)
        ]
        shares = 100 * (means[1] / means[0] - 1)
        low, high = (float(np.quantile(shares, share)) for share in (0.025, 0.975))
    return UnpairedDifference(100 * float(other.mean() / base.mean() - 1), low, high)
