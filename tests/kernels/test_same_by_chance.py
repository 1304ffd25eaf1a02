# SPDX-License-Identifier: GPL-2.0-or-later
"""What `test_long_same` takes for a change: not what chance does, but what a kernel does."""

from __future__ import annotations

from random import Random

import pytest

from tests.support.chance import LEAST, probability

SEEDS = 10


def normal(number: int, mean: float = 0.0) -> list[float]:
    """A sample of `SEEDS`, with deviation 1."""
    random = Random(number)
    return [random.gauss(mean, 1.0) for _ in range(SEEDS)]


def test_a_rare_event_is_no_change() -> None:
    """Two seeds of ten change the OPP twice, and none of the reference's."""
    assert probability([0.0] * SEEDS, [0.0] * 8 + [0.6664, 0.6666]) > 0.1


def test_a_frequent_event_is_a_change() -> None:
    assert probability([0.0] * SEEDS, [0.0] + [0.6664] * 9) < LEAST


def test_what_is_always_the_same_is_no_change() -> None:
    assert probability([0.1] * SEEDS, [0.1] * SEEDS) == 1.0
    assert probability([0.0] * SEEDS, [0.0] * SEEDS) == 1.0


def test_what_is_always_different_is_a_change() -> None:
    assert probability([0.1] * SEEDS, [0.1001] * SEEDS) < LEAST


def test_chance_is_seldom_taken_for_a_change() -> None:
    assert sum(probability(normal(n), normal(1000 + n)) < LEAST for n in range(50)) <= 1


@pytest.mark.parametrize("direction", [-1, 1])
def test_a_shift_of_three_deviations_is_seen(direction: int) -> None:
    seen = [probability(normal(n), normal(1000 + n, 3.0 * direction)) < LEAST for n in range(20)]
    assert sum(seen) >= 18
