# SPDX-License-Identifier: GPL-2.0-or-later
"""The Pareto front of points with two measures, of both of which less is better."""

from __future__ import annotations

from collections.abc import Sequence


def front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Places of the points of which no other has less of one measure and no more of the other.

    They are in order of the first measure.
    """
    kept = [
        place
        for place, (x, y) in enumerate(points)
        if not any(a <= x and b <= y and (a, b) != (x, y) for a, b in points)
    ]
    return sorted(kept, key=lambda place: points[place])
