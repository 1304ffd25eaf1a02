# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts: what holds, is refuted and undecided, and with which words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from eascope.analysis.compare_json import verdict_json
from eascope.analysis.records.cell import Expectation
from eascope.analysis.records.verdict import (
    ENOUGH_FOR_VERDICT,
    HOLDS,
    REFUTED,
    UNDECIDED,
    Effect,
    Verdict,
)
from eascope.analysis.statistics import estimate
from eascope.analysis.verdict_text import counts, details, short, size_words
from eascope.analysis.verdicts import judge

MORE = "energy_j.total > energy_j.total[mainline]"
CLOSE = "abs(energy_j.total / energy_j.total[mainline] - 1) < 3%"
#: Twenty values around zero that have neither a trend nor a mean.
NOISE = [0.01 * (-1) ** seed * (1 + seed % 3) for seed in range(20)]
NOISE = [value - sum(NOISE) / 20 for value in NOISE]


def runs(**values: Sequence[float]) -> dict[str, dict[int, dict[str, Any]]]:
    """Results with these energies by variant, and as many migrations as joules."""
    return {
        name.replace("_", "-"): {
            seed: {"energy_j": {"total": value}, "migrations": value}
            for seed, value in enumerate(energies)
        }
        for name, energies in values.items()
    }


def around(mean: float, seeds: int = 20, scale: float = 1.0) -> list[float]:
    return [mean + scale * NOISE[seed % 20] for seed in range(seeds)]


def verdict_on(
    statement: str, results: Mapping[str, Any], variant: str = "cas", **more: Any
) -> Verdict:
    (verdict,) = judge([Expectation(variant, statement, "s", **more)], results)
    return verdict


@pytest.mark.parametrize(
    ("statement", "cas", "verdict"),
    [
        (MORE, 1.1, HOLDS),
        (MORE, 0.9, REFUTED),
        (MORE, 1.0, UNDECIDED),
        ("energy_j.total > 95% * energy_j.total[mainline]", 1.0, HOLDS),
        ("energy_j.total > 1.05 * energy_j.total[mainline]", 1.0, REFUTED),
        ("2 * energy_j.total <= energy_j.total[mainline]", 0.4, HOLDS),
        ("2 * energy_j.total <= energy_j.total[mainline]", 0.6, REFUTED),
        ("energy_j.total / 2 < energy_j.total[mainline]", 1.9, HOLDS),
        (CLOSE, 1.0, HOLDS),
        (CLOSE, 1.1, REFUTED),
        (CLOSE, 0.9, REFUTED),
        (CLOSE, 1.03, UNDECIDED),
        ("abs(energy_j.total / energy_j.total[mainline] - 1) < 0.1%", 1.0, UNDECIDED),
        ("energy_j.total > 100%", 1.1, HOLDS),
        ("1 < energy_j.total", 1.1, HOLDS),
        ("energy_j.total > 1 and energy_j.total < 1.2", 1.1, HOLDS),
        ("energy_j.total > 1 and energy_j.total < 1.2", 1.3, REFUTED),
        ("energy_j.total > 1 and energy_j.total < 1.2", 1.2, UNDECIDED),
        ("energy_j.total == 1", 1.0, UNDECIDED),
        ("energy_j.total != 1", 2.0, UNDECIDED),
    ],
)
def test_verdicts(statement: str, cas: float, verdict: str) -> None:
    results = runs(mainline=around(1.0), cas=around(cas)[::-1])
    assert verdict_on(statement, results).verdict == verdict


def test_a_bound_itself_counts_by_its_sign() -> None:
    results = runs(mainline=[5.0] * 20, cas=[5.0] * 20)
    for statement in ("energy_j.total >= energy_j.total[mainline]", "energy_j.total <= 5"):
        assert verdict_on(statement, results).verdict == HOLDS
    for statement in (MORE, "energy_j.total < 5"):
        assert verdict_on(statement, results).verdict == REFUTED


def test_one_of_several_comparisons_refutes_at_a_stricter_level() -> None:
    """Two comparisons have two chances to be refuted by noise."""
    values = around(1.0)
    estimated = estimate(lambda means: means[0], [{0: values}])
    ends = [estimated.interval(level) for level in (0.95, 0.975)]
    assert ends[0]
    assert ends[1]
    bound = (ends[0][0] + ends[1][0]) / 2
    alone = f"energy_j.total < {bound}"
    assert verdict_on(alone, runs(cas=values)).verdict == REFUTED
    both = f"{alone} and energy_j.total < 100"
    assert verdict_on(both, runs(cas=values)).verdict == UNDECIDED


def test_fewer_than_twenty_seeds_decide_nothing() -> None:
    for seeds in (19, 9, 1):
        results = runs(mainline=around(1.0, seeds), cas=around(2.0, seeds))
        verdict = verdict_on(MORE, results)
        assert verdict.verdict == UNDECIDED
        assert verdict.reason == f"only {seeds} of the {ENOUGH_FOR_VERDICT} seeds required"
        assert (verdict.met, verdict.seeds_met) == (True, seeds)
    assert verdict.effects[0].low is None


def test_a_statement_that_was_not_measured_is_undecided_with_a_reason() -> None:
    results = runs(cas=around(1.0))
    assert verdict_on(MORE, results).reason == "variant mainline was not run"
    assert verdict_on("gpu_j.total > 1", results).reason == "gpu_j.total is not measured"
    zero = "energy_j.total / (energy_j.total - energy_j.total) > 1"
    assert "division by zero" in verdict_on(zero, results).reason
    assert verdict_on("energy_j.total == 1", results).reason == (
        "it names neither a direction nor a margin"
    )
    assert verdict_on(MORE, runs(cas=around(1.0))).met is None


def test_counts_that_are_zero_somewhere_are_subtracted() -> None:
    results = runs(mainline=[0.0, 2.0] * 10, cas=[0.0, 1.0, 0.0, 0.0] * 5)
    verdict = verdict_on("migrations < migrations[mainline]", results)
    assert (verdict.verdict, verdict.effects[0].unit) == (HOLDS, "")
    assert verdict.effects[0].value == pytest.approx(-0.75)


def test_variants_are_paired_only_where_seeds_move_both() -> None:
    drift = [0.1 * seed for seed in range(20)]
    together = runs(
        mainline=[10 + step for step in drift],
        cas=[10.05 + step + noise for step, noise in zip(drift, around(0.0), strict=True)],
    )
    paired = verdict_on(MORE, together)
    assert paired.effects[0].paired
    assert paired.verdict == HOLDS
    assert "paired by seed (correlation 1.00)" in details(paired)
    shuffled = np.random.default_rng(1).permutation(20)
    apart = runs(
        mainline=[10 + step for step in drift], cas=[10.05 + drift[index] for index in shuffled]
    )
    alone = verdict_on(MORE, apart)
    assert not alone.effects[0].paired
    assert alone.verdict == UNDECIDED
    assert "paired" not in details(alone)


def test_many_statements_share_one_chance_of_error() -> None:
    """What one statement alone shows, it does not show together with nineteen others."""
    results = runs(mainline=around(1.0), cas=around(1.0147)[::-1])
    weak = Expectation("cas", MORE, "s")
    (alone,) = judge([weak], results)
    assert (alone.verdict, alone.level) == (HOLDS, 0.95)
    open_ones = [
        Expectation("cas", f"energy_j.total > {1.0147 + number * 1e-6}", "s")
        for number in range(19)
    ]
    together = judge([weak, *open_ones], results)
    assert together[0].verdict == UNDECIDED
    assert together[0].level == pytest.approx(1 - 0.05 / 20)
    assert "99.75 % intervals (corrected for 20 tests)" in details(together[0])
    clear = [Expectation("cas", f"energy_j.total > 0.{number}", "s") for number in range(1, 10)]
    helped = judge([weak, *clear], results)
    assert [verdict.verdict for verdict in helped] == [HOLDS] * 10
    assert helped[0].level == 0.95, "what the others have decided no longer costs anything"
    assert helped[1].level == pytest.approx(1 - 0.05 / 10)


def test_an_undecided_statement_states_the_seeds_that_would_decide() -> None:
    results = runs(mainline=around(1.0), cas=around(1.006)[::-1])
    verdict = verdict_on(MORE, results)
    assert verdict.verdict == UNDECIDED
    assert verdict.needed is not None
    assert 40 < verdict.needed < 400
    assert verdict.reason == f"about {verdict.needed} seeds would decide it"
    more = runs(mainline=around(1.0, 400), cas=around(1.006, 400)[::-1])
    assert verdict_on(MORE, more).verdict == HOLDS
    same = verdict_on(MORE, runs(mainline=around(1.0), cas=around(1.0)[::-1]))
    assert (same.needed, same.reason) == (None, "more than 1000 seeds would decide it")


def test_a_statement_that_is_shown_of_its_counterexample_is_not_counted() -> None:
    results = runs(mainline=around(1.0), cas=around(1.1), feec_b=around(1.2))
    weak = verdict_on("energy_j.total > 0.5", results, fails_under=("mainline", "absent"))
    assert (weak.verdict, weak.also_shown_of) == (HOLDS, ("mainline",))
    assert "not counted: also holds for mainline, where it should fail" in details(weak)
    less = runs(mainline=around(1.0), cas=around(1.1), feec_b=around(0.8))
    able = verdict_on(MORE, less, fails_under=("feec-b",))
    assert (able.verdict, able.also_shown_of) == (HOLDS, ())
    assert (weak.known_bad, able.known_bad) == ({"mainline": HOLDS}, {"feec-b": REFUTED})
    other = verdict_on(MORE, results, fails_under=("feec-b",))
    assert (other.known_bad, other.also_shown_of) == ({"feec-b": HOLDS}, ("feec-b",))
    assert counts([weak, able]) == "1 hold, 0 refuted, 0 undecided, 1 not counted"


def test_a_statement_is_not_tested_by_its_own_reference() -> None:
    results = runs(mainline=around(1.0), cas=around(1.1))
    verdict = verdict_on(MORE, results, fails_under=("mainline",))
    assert (verdict.verdict, verdict.known_bad) == (HOLDS, {})


def test_words() -> None:
    results = runs(mainline=around(1.0), cas=around(1.1)[::-1])
    verdict = verdict_on(MORE, results, size_percent=18.5)
    assert short(verdict).startswith("holds: 1.1 against 1, +10.0 % (+")
    assert "claimed > 0 %; the source measured +18.5 %; true in 20 of 20" in details(verdict)
    level = verdict_on("energy_j.total < 200%", results)
    assert details(level).startswith("110.0 % (")
    assert "claimed < 200 %" in details(level)
    within = verdict_on("abs(energy_j.total - 1.1) < 0.5", results)
    assert "claimed within 0.5 J" in details(within)


@pytest.mark.parametrize(
    ("seeds", "verdict", "low", "high"),
    # Wilson's intervals of k of 20, by hand: (k + z2/2 -+ z sqrt(k (20-k) / 20 + z2/4)) / (20 + z2)
    [
        (0, UNDECIDED, 0.0, 16.11),
        (1, HOLDS, 0.89, 23.61),
        (3, HOLDS, 5.24, 36.04),
        (20, HOLDS, 83.89, 100.0),
    ],
)
def test_a_share_of_seeds(seeds: int, verdict: str, low: float, high: float) -> None:
    """Its interval is Wilson's: no seed of twenty excludes only what one in six has."""
    results = runs(mainline=[1.0] * 20, cas=[2.0] * seeds + [0.5] * (20 - seeds))
    found = verdict_on("share(energy_j.total > 1.5 * energy_j.total[mainline]) > 0", results)
    assert (found.verdict, found.seeds_met) == (verdict, seeds)
    (effect,) = found.effects
    assert effect.unit == "%"
    assert effect.value == pytest.approx(5.0 * seeds)
    assert (effect.low, effect.high) == pytest.approx((low, high), abs=0.01)
    half = verdict_on("share(energy_j.total > 1) < 50% and energy_j.total > 0", results)
    assert half.verdict == (HOLDS if seeds <= 3 else REFUTED)
    assert half.sides[0] == pytest.approx((seeds / 20, 0.5))


def test_json() -> None:
    results = runs(mainline=around(1.0), cas=around(1.1)[::-1])
    entry = verdict_json(verdict_on(MORE, results, size_percent=18.5))
    assert entry["verdict"] == HOLDS
    assert entry["effect"] == pytest.approx(10.0)
    assert entry["interval"][0] < 10 < entry["interval"][1]
    assert (entry["unit"], entry["level"], entry["seeds"]) == ("%", 0.95, 20)
    assert entry["parts"][0]["stated"] == [0.0, None]
    assert entry["source_percent"] == 18.5
    few = verdict_json(verdict_on(MORE, runs(mainline=[1.0], cas=[2.0])))
    assert (few["verdict"], few["interval"]) == (UNDECIDED, None)
    assert few["reason"] == "only 1 of the 20 seeds required"


def test_a_size_is_in_the_unit_of_its_comparison() -> None:
    half = Effect(0.5, 0.4, 0.6, (None, 0.6), "", False, False, None)
    verdict = Verdict("cas", "a < 1 and b < 2", "s", effects=(MORE_EFFECT, half), size=0.7)
    assert size_words(replace(verdict, size_of=2)) == "0.7"
    no_difference = replace(verdict, size=None, size_percent=0.0)
    assert size_words(no_difference) == "no difference"
    assert size_words(replace(verdict, size=None)) == ""


#: A difference in percent.
MORE_EFFECT = Effect(2.0, 1.0, 3.0, (0.0, None), "%", True, False, None)
