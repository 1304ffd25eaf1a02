# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws: the same on every host, independent of each other, distributed as they say."""

from decimal import Decimal, getcontext
from statistics import fmean, stdev

import pytest

from eascope.experiments.scenario.draws import Draws, apportioned

MANY = 4_000


def test_draws_do_not_drift_between_versions() -> None:
    """A changed rule would silently give every seed other runs."""
    draws = Draws(7, "start", "decode0")
    assert [draws.below(1000) for _ in range(6)] == [516, 907, 653, 580, 500, 315]
    assert str(Draws(7, "work", "a").lognormal(0.15)) == "0.99877418264948669629"
    assert str(Draws(7, "timer", "a").exponential()) == "0.18319321265261195134"
    assert Draws(7, "order").shuffled("abcdef") == list("dfbaec")


def test_a_program_that_sets_decimals_otherwise_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = Draws(7, "work", "a").lognormal(0.3), apportioned([Decimal(1), Decimal(2)], 1000)
    monkeypatch.setattr(getcontext(), "prec", 3)
    assert (
        Draws(7, "work", "a").lognormal(0.3),
        apportioned([Decimal(1), Decimal(2)], 1000),
    ) == before


def test_sequences_depend_on_seed_and_name_alone() -> None:
    def first(*names: object) -> list[int]:
        draws = Draws(*names)  # type: ignore[arg-type]
        return [draws.below(1 << 30) for _ in range(5)]

    assert first(1, "start", "a") == first(1, "start", "a")
    others = [first(2, "start", "a"), first(1, "start", "b"), first(1, "work", "a")]
    assert len({tuple(draws) for draws in [first(1, "start", "a"), *others]}) == 4


def test_uniform() -> None:
    draws = Draws(0, "uniform")
    values = [draws.between(-200, 200) for _ in range(MANY)]
    assert (min(values), max(values)) == (-200, 200)
    # Four standard errors of a share of a quarter.
    for low in (-200, -100, 1, 101):
        share = sum(low <= value < low + 100 for value in values) / MANY
        assert abs(share - 100 / 401) < 4 * (0.25 * 0.75 / MANY) ** 0.5


@pytest.mark.parametrize("cv", [0.15, 0.3])
def test_lognormal_has_its_mean_and_spread(cv: float) -> None:
    draws = Draws(0, "lognormal", cv)
    values = [float(draws.lognormal(cv)) for _ in range(MANY)]
    assert fmean(values) == pytest.approx(1, abs=4 * cv / MANY**0.5)
    assert stdev(values) == pytest.approx(cv, rel=0.06)
    assert Draws(0, "x").lognormal(0) == 1


def test_exponential() -> None:
    draws = Draws(0, "exponential")
    values = [float(draws.exponential()) for _ in range(MANY)]
    assert fmean(values) == pytest.approx(1, abs=4 / MANY**0.5)
    assert sum(value > 1 for value in values) / MANY == pytest.approx(0.368, abs=0.03)


def test_every_order_is_as_likely() -> None:
    orders = ["".join(Draws(seed, "order").shuffled("abc")) for seed in range(1200)]
    counts = {order: orders.count(order) for order in orders}
    assert len(counts) == 6
    assert all(150 < count < 250 for count in counts.values())


def test_apportioned_parts_add_up() -> None:
    draws = Draws(0, "parts")
    weights = [draws.lognormal(0.3) for _ in range(64)]
    parts = apportioned(weights, 1_000_003)
    assert sum(parts) == 1_000_003
    whole = sum(weights)
    for weight, part in zip(weights, parts, strict=True):
        assert abs(part - float(weight / whole) * 1_000_003) <= 1
    assert apportioned([Decimal(1), Decimal(10**6)], 5) == [1, 5]
