# SPDX-License-Identifier: GPL-2.0-or-later
"""Stars: few where nothing differs, none lost where much does, and the primary energy by itself."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import stats

from eascope.analysis.compare import Comparison, comparison
from eascope.analysis.compare_text import text
from eascope.analysis.derive import Derived
from eascope.analysis.difference import difference
from eascope.analysis.glance import glance
from eascope.analysis.stars import discoveries
from eascope.configs.platform import Platform
from tests.support.stated import stated

SEEDS = 20


def test_benjamini_and_hochberg_by_hand() -> None:
    """Of five tests, the largest p that is below its rank's part of 5 % takes all before along."""
    p_values = {"a": 0.001, "b": 0.021, "c": 0.029, "d": 0.2, "e": 0.9}
    assert discoveries(p_values) == {"a", "b", "c"}
    assert discoveries({"a": 0.04, "b": 0.04}) == {"a", "b"}
    assert discoveries({"a": 0.04, "b": 0.2}) == set()
    assert discoveries({}) == set()


def test_a_difference_has_the_p_value_of_its_t_test() -> None:
    random = np.random.default_rng(3)
    base, other = random.normal(0, 1, SEEDS), random.normal(0.7, 1, SEEDS)
    made = difference(base.tolist(), other.tolist(), aligned=False)
    error = np.sqrt(base.var(ddof=1) / SEEDS + other.var(ddof=1) / SEEDS)
    assert made.p is not None
    assert 0.3 < abs(made.absolute) / error < 6
    assert (made.p < 0.05) == (abs(made.absolute) / error > 2.03)
    assert difference([1.0] * SEEDS, [2.0] * SEEDS).p == 0
    assert difference([1.0] * SEEDS, [1.0] * SEEDS).p == 1
    assert difference([1.0] * 5, [2.0] * 5).p is None


def together(platform: Platform, gap: float, seed: int) -> Comparison:
    """Two samples of mainline, whose six busy shares all follow one draw; ``gap`` in deviations."""
    random = np.random.default_rng(seed)

    def run(name: str, number: int, more: float) -> Derived:
        made = stated("mainline", 0)
        draw = random.normal()
        busy = tuple(0.3 + 0.01 * (draw + more + 0.1 * random.normal()) for _ in range(6))
        cell = dataclasses.replace(made.cell, variant=name, seed=number)
        return dataclasses.replace(
            made, cell=cell, result=dataclasses.replace(made.result, cpu_busy=busy)
        )

    runs = {
        name: [run(name, number, more) for number in range(SEEDS)]
        for name, more in (("mainline", 0.0), ("again", gap))
    }
    return comparison(platform, runs)


def stars(compared: Comparison) -> int:
    lines = [line for line in compared.lines if line.row.path[0] == "cpu_busy"]
    assert len(lines) == 6
    return sum(compared.starred(line, "again") for line in lines)


def test_rows_that_move_together_are_seldom_starred_where_nothing_differs() -> None:
    """Of 1000 tables of 80 rows that are alike, in which nothing differs."""
    random = np.random.default_rng(5)
    common = random.normal(size=(1000, 1, 2 * SEEDS))
    values = common + 0.7 * random.normal(size=(1000, 80, 2 * SEEDS))
    tests = stats.ttest_ind(values[..., :SEEDS], values[..., SEEDS:], axis=-1, equal_var=False)
    plain = (tests.pvalue < 0.05).mean(axis=1)
    starred = [len(discoveries(dict(enumerate(each)))) / 80 for each in tests.pvalue]
    assert plain.mean() == pytest.approx(0.05, abs=0.01)
    assert (plain > 0.05).mean() > 0.15, "rows come in bunches"
    assert np.mean(np.array(starred) > 0.05) < 0.05


def test_what_differs_is_starred(platform: Platform) -> None:
    assert stars(together(platform, 3.0, 1)) == 6


@pytest.fixture
def weak(platform: Platform) -> Comparison:
    """Energies that differ by so little that a correction would take the star away."""
    random = np.random.default_rng(8)

    def run(name: str, number: int, more: float) -> Derived:
        made = stated("mainline", 0)
        energy = dataclasses.replace(
            made.result.energy_j, total=0.2 + 0.001 * (random.normal() + more)
        )
        busy = tuple(0.3 + 0.01 * random.normal() for _ in range(6))
        result = dataclasses.replace(made.result, energy_j=energy, cpu_busy=busy)
        cell = dataclasses.replace(made.cell, variant=name, seed=number)
        return dataclasses.replace(made, cell=cell, result=result)

    return comparison(
        platform,
        {
            name: [run(name, number, more) for number in range(SEEDS)]
            for name, more in (("mainline", 0.0), ("again", 0.75))
        },
    )


def test_the_primary_energy_is_asked_about_by_itself(weak: Comparison) -> None:
    difference_of = weak.total.differences["again"]
    assert difference_of.p is not None
    assert 0.01 < difference_of.p < 0.05, "else this test says nothing"
    assert weak.starred(weak.total, "again")
    power = next(line for line in weak.lines if line.row.per_second)
    assert power.differences["again"].clear
    assert not weak.starred(power, "again")
    total = next(line for line in glance(weak).splitlines() if line.startswith("energy, total"))
    assert total.endswith("*")
    words = " ".join(text(weak).split())
    assert "corrected for the number of rows: at most one star in 20 is there by chance" in words
