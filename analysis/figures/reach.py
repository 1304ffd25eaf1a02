# SPDX-License-Identifier: GPL-2.0-or-later
"""How far an axis of differences in percent reaches: a huge interval makes no other one small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analysis.ranges import PERCENT_CHANGE, cut

#: A mean, and its interval if there is one.
MeanAndEnds = tuple[float, tuple[float, float] | None]
#: An axis shows intervals as far as this many times what so large a share of them needs.
STRETCH, SHARE = 2.0, 0.9
#: What a drawing says of bars that go on.
WORDS = "arrows: the bar goes on"


def possible(ends: tuple[float, float] | None) -> tuple[float, float] | None:
    """An interval cut to what a difference in percent can be."""
    return None if ends is None else (cut(ends[0], PERCENT_CHANGE), cut(ends[1], PERCENT_CHANGE))


def reach(made: Sequence[MeanAndEnds], noise: Iterable[float] = ()) -> tuple[float, float]:
    """Ends of the axis, without space around: all means and zero, intervals as far as sensible.

    :param made: intervals as `possible` has them.
    :param noise: sizes of noise floors; they reach no farther than intervals do.
    """
    means = [0.0, *(mean for mean, _ in made)]
    ends = [pair for _, pair in made if pair is not None]
    bands = [(-size, size) for size in noise]
    sizes = sorted(max(abs(low), abs(high)) for low, high in ends)
    most = STRETCH * sizes[int(SHARE * (len(sizes) - 1))] if sizes else float("inf")
    lows = [max(low, -most) for low, _ in [*ends, *bands]]
    highs = [min(high, most) for _, high in [*ends, *bands]]
    return min([*means, *lows]), max([*means, *highs])


def beyond(ends: tuple[float, float] | None, axis: tuple[float, float]) -> tuple[bool, bool]:
    """Whether an interval goes on below an axis, and above it."""
    return (False, False) if ends is None else (ends[0] < axis[0], ends[1] > axis[1])
