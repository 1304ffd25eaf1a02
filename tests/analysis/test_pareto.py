# SPDX-License-Identifier: GPL-2.0-or-later
"""Pareto fronts."""

from __future__ import annotations

from analysis.pareto import front


def test_points_that_no_other_beats_in_order_of_the_first_measure() -> None:
    assert front([(3.0, 1.0), (1.0, 3.0), (2.0, 2.0), (2.5, 2.5)]) == [1, 2, 0]


def test_less_of_one_and_no_more_of_the_other_is_enough() -> None:
    assert front([(1.0, 1.0), (1.0, 2.0), (2.0, 1.0)]) == [0]


def test_equal_points_are_both_on_it() -> None:
    assert front([(1.0, 1.0), (1.0, 1.0)]) == [0, 1]
    assert front([]) == []
