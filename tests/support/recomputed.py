# SPDX-License-Identifier: GPL-2.0-or-later
"""What a record states of energies, computed again from the energies by seed that it keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple

import pytest

from analysis.claim import Claim, claim_of
from analysis.difference import difference
from analysis.records.verdict import ENOUGH_FOR_VERDICT, LEVEL, REFUTED, SHOWN, UNDECIDED, Verdict
from analysis.results.comparisons import Comparisons, ScenarioResult, VariantResult
from analysis.statement import parse
from analysis.statistics import Estimate, estimate

TOTAL = ("energy_j", "total")
#: Energies in J by variant, in the order of seeds.
Energies = Mapping[str, Sequence[float]]


def differing(record: Comparisons) -> list[str]:
    """Places of figures that are not those of the energies by seed."""
    return [
        f"{result.scenario} ({result.controls}): {place}"
        for result in record.scenarios
        for place in _places(result, record.seeds)
    ]


def _places(result: ScenarioResult, seeds: int) -> Iterator[str]:
    baseline = result.variants[0].energy_mj_by_seed
    for variant in result.variants:
        if len(variant.energy_mj_by_seed) != seeds:
            yield f"{variant.name}: {len(variant.energy_mj_by_seed)} seeds"
            continue
        for place, stated, again in _of_variant(variant, baseline):
            if not _same(stated, again):
                yield f"{variant.name}: {place}: {stated} instead of {again}"
    energies = {
        variant.name: [energy / 1000 for energy in variant.energy_mj_by_seed]
        for variant in result.variants
    }
    for verdict in result.judged:
        if all(measure.path == TOTAL for measure in parse(verdict.statement).measures):
            for place, stated, again in _of_verdict(verdict, energies):
                if not _same(stated, again):
                    yield f"{verdict.variant}: {verdict.statement}: {place}: {stated}, not {again}"


def _same(stated: Sequence[object], again: Sequence[object]) -> bool:
    return all(
        figure == (pytest.approx(other, rel=1e-6, abs=1e-9) if isinstance(other, float) else other)
        for figure, other in zip(stated, again, strict=True)
    )


def _of_variant(
    variant: VariantResult, baseline: Sequence[float]
) -> Iterator[tuple[str, tuple[object, ...], tuple[object, ...]]]:
    values = variant.energy_mj_by_seed
    spread = sum(values) / len(values), min(values), max(values)
    yield "energy_mj", astuple(variant.energy_mj), spread
    if variant.energy_change is None:  # only the baseline has none
        yield "energy_mj_by_seed", values, tuple(baseline)
        return
    made = difference(baseline, values)
    ends = made.in_percent() or (None, None)
    yield "energy_change", astuple(variant.energy_change), (made.percent, *ends)


def _of_verdict(
    verdict: Verdict, energies: Energies
) -> Iterator[tuple[str, tuple[object, ...], tuple[object, ...]]]:
    claims = list(_claims(verdict, energies))
    yield "met", (verdict.met, verdict.seeds_met), _met(verdict, energies)
    for (_, made), effect in zip(claims, verdict.effects, strict=True):
        ends = made.interval(verdict.level) or (None, None)
        yield "effect", (effect.value, effect.low, effect.high), (made.value, *ends)
    yield "verdict", (verdict.verdict,), (_word(claims, verdict.level),)
    for name, word in verdict.known_bad.items():
        others = list(_claims(verdict, {**energies, verdict.variant: energies[name]}))
        yield f"known_bad {name}", (word,), (_word(others, LEVEL),)


def _claims(verdict: Verdict, energies: Energies) -> Iterator[tuple[Claim, Estimate]]:
    statement, own = parse(verdict.statement), verdict.variant
    samples = [
        {name: energies[name]}
        for name in sorted({measure.variant or own for measure in statement.measures})
    ]
    for part in statement.parts:
        claim = claim_of(part, lambda _: True)
        assert claim is not None

        def effect(means: Mapping[str, float], claim: Claim = claim) -> float:
            return claim.effect(lambda _, variant: means[variant or own])

        yield claim, estimate(effect, samples)


def _word(claims: Sequence[tuple[Claim, Estimate]], level: float) -> str:
    """The verdict on a statement of one comparison."""
    ((claim, made),) = claims
    interval = made.interval(level)
    if interval is None or made.seeds < ENOUGH_FOR_VERDICT:
        return UNDECIDED
    return {True: SHOWN, False: REFUTED, None: UNDECIDED}[claim.decided(interval)]


def _met(verdict: Verdict, energies: Energies) -> tuple[bool, int]:
    statement = parse(verdict.statement)

    def of(values: Mapping[str, float]) -> bool:
        return statement.evaluate(lambda _, variant: values[variant or verdict.variant])[1]

    seeds = range(len(energies[verdict.variant]))
    by_seed = [{name: row[seed] for name, row in energies.items()} for seed in seeds]
    means = {name: sum(row) / len(row) for name, row in energies.items()}
    return of(means), sum(map(of, by_seed))
