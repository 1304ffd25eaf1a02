# SPDX-License-Identifier: GPL-2.0-or-later
"""When a difference is clear: by the interval that is shown, and above a noise floor."""

from __future__ import annotations

import pytest

from eascope.analysis.difference import Difference


def made(percent: float | None, ends: tuple[float, float] | None, low: float = -1.0) -> Difference:
    """A difference whose absolute interval is (low, 9)."""
    return Difference(5.0, percent, low, 9.0, 100.0, 10, percent_ends=ends)


@pytest.mark.parametrize(
    ("difference", "floor", "clear"),
    [
        (made(5.0, (1.0, 9.0)), None, True),
        (made(5.0, (1.0, 9.0)), 4.0, True),
        (made(5.0, (1.0, 9.0)), 5.0, False),
        (made(-5.0, (-9.0, -1.0)), 4.0, True),
        # The interval of the ratio decides, not that of the difference.
        (made(5.0, (-1.0, 9.0), low=1.0), None, False),
        # Percent of zero: there is no ratio, and no floor in percent.
        (made(None, None, low=1.0), 4.0, True),
        (made(None, None), None, False),
        (Difference(5.0, 5.0, None, None, 100.0, 2), None, False),
    ],
)
def test_a_clear_difference(difference: Difference, floor: float | None, clear: bool) -> None:
    assert difference.clear_above(floor) is clear
