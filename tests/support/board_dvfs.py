# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a Juno's frequencies change no more often than the board's own do."""

import polars as pl

#: The board's rate limit, less the time in which the one request reaches the controller later than
#: the other: schedutil's thread leaves the deepest idle state within 1.2 ms.
LEAST_NS = 4_000_000 - 1_500_000


def changes_ns(frequency: pl.DataFrame, cluster: str) -> pl.Series:
    """Times between changes of a cluster's frequency, of the derived table ``frequency``.

    :raises AssertionError: when there are too few to say anything.
    """
    begins = frequency.filter(pl.col("cluster_name") == cluster).sort("t0_ns")["t0_ns"]
    apart = begins.diff().drop_nulls()[1:]  # the first interval begins with the window
    assert len(apart) > 2, apart
    return apart
