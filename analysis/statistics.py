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
