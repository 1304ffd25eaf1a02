# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether two samples may be from one population, whatever its form."""

from collections.abc import Sequence

import numpy as np
from scipy import stats

#: Below this probability a difference is none of chance.
LEAST = 0.001
_RESAMPLES = 4_999
_SEED = 20_261_124


def probability(first: Sequence[float], second: Sequence[float]) -> float:
    """That the samples' means differ so much when who is in which sample is drawn.

    No form of distribution is assumed: most seeds may give zero, and a few something else. Samples
    of ten that are normal are distinguished when their means are two deviations apart.
    """
    whole = np.concatenate([first, second])
    if np.ptp(whole) <= 1e-9 * np.abs(whole).max():
        return 1.0
    done = stats.permutation_test(
        (first, second),
        lambda left, right, axis: np.mean(left, axis=axis) - np.mean(right, axis=axis),
        vectorized=True,
        n_resamples=_RESAMPLES,
        random_state=_SEED,
    )
    return float(done.pvalue)
