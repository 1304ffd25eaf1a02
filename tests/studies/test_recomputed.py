# SPDX-License-Identifier: GPL-2.0-or-later
"""Committed records of pages state the energies that their own energies by seed give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from analysis.records.verdict import SHOWN, UNDECIDED, Verdict
from analysis.results.comparisons import Comparisons, ScenarioResult, VariantResult
from analysis.results.origin import RESULTS
from studies.pages.plan import NAMES
from tests.support.recomputed import differing

COMMITTED = [name for name in NAMES if (RESULTS / f"{name}.json").is_file()]
EDITED = "push-pixel6"


def read(name: str) -> Comparisons:
    return Comparisons.read(RESULTS / f"{name}.json")


def test_pages_are_committed() -> None:
    assert len(COMMITTED) >= 8


@pytest.mark.parametrize("name", COMMITTED)
def test_means_intervals_and_verdicts_are_those_of_the_energies_by_seed(name: str) -> None:
    assert differing(read(name)) == []


def with_variant(
    record: Comparisons, change: Callable[[VariantResult], VariantResult]
) -> Comparisons:
    """With another second variant in the first scenario."""
    first, *others = record.scenarios
    variants = list(first.variants)
    variants[1] = change(variants[1])
    return replace(record, scenarios=(replace(first, variants=tuple(variants)), *others))


def without_a_seed(variant: VariantResult) -> VariantResult:
    return replace(variant, energy_mj_by_seed=variant.energy_mj_by_seed[1:])


def with_another_seed(variant: VariantResult) -> VariantResult:
    first, *others = variant.energy_mj_by_seed
    return replace(variant, energy_mj_by_seed=(1.001 * first, *others))


def with_another_mean(variant: VariantResult) -> VariantResult:
    energy = variant.energy_mj
    return replace(variant, energy_mj=replace(energy, mean=1.0001 * energy.mean))


def with_another_interval(variant: VariantResult) -> VariantResult:
    change = variant.energy_change
    assert change is not None
    assert change.low is not None
    return replace(variant, energy_change=replace(change, low=change.low - 0.01))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (without_a_seed, "19 seeds"),
        (with_another_seed, "energy_mj"),
        (with_another_mean, "energy_mj"),
        (with_another_interval, "energy_change"),
    ],
)
def test_an_edited_figure_is_noticed(
    change: Callable[[VariantResult], VariantResult], place: str
) -> None:
    edited = with_variant(read(EDITED), change)
    assert any(f": {place}" in words for words in differing(edited))


def with_another_effect(verdict: Verdict) -> Verdict:
    (effect,) = verdict.effects
    return replace(verdict, effects=(replace(effect, value=effect.value + 0.01),))


def with_another_word(verdict: Verdict) -> Verdict:
    return replace(verdict, verdict=SHOWN if verdict.verdict == UNDECIDED else UNDECIDED)


def with_more_seeds_met(verdict: Verdict) -> Verdict:
    return replace(verdict, seeds_met=verdict.seeds_met - 1)


def with_another_known_bad(verdict: Verdict) -> Verdict:
    return replace(verdict, known_bad={name: SHOWN for name in verdict.known_bad})


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (with_another_effect, "effect"),
        (with_another_word, "verdict"),
        (with_more_seeds_met, "met"),
        (with_another_known_bad, "known_bad"),
    ],
)
def test_an_edited_verdict_is_noticed(change: Callable[[Verdict], Verdict], place: str) -> None:
    record = read("eas-pixel6")

    def of_energy(result: ScenarioResult) -> bool:
        return result.scenario == "eas/idle-screen"

    (first, *_) = filter(of_energy, record.scenarios)
    judged = (change(first.judged[0]), *first.judged[1:])
    edited = replace(record, scenarios=(replace(first, judged=judged),))
    assert any(f": {place}" in words for words in differing(edited))
