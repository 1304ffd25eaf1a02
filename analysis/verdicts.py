# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts of several runs on a scenario's expectations.

*Shown*: every interval is within the stated range. *Refuted*: an interval is wholly outside of it.
*Undecided*: any other case, with the reason. The chance that any statement of a comparison is
decided wrongly is one in twenty (Holm).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eascope.analysis.claim import Claim, claim_of
from eascope.analysis.records.cell import Expectation
from eascope.analysis.records.verdict import (
    ENOUGH_FOR_VERDICT,
    HOLDS,
    LEVEL,
    REFUTED,
    UNDECIDED,
    Effect,
    Verdict,
    few_seeds,
)
from eascope.analysis.statement import (
    SHARE,
    Absent,
    Lookup,
    MeasurePath,
    Part,
    Share,
    Statement,
    Term,
    parse,
    value_at,
)
from eascope.analysis.statistics import (
    ENOUGH,
    MOST_SEEDS,
    Estimate,
    estimate,
    proportion,
    seeds_needed,
)

#: A `Result` by variant and seed.
Results = Mapping[str, Mapping[int, object]]


def judge(
    expectations: Sequence[Expectation],
    results: Results,
    *,
    level: float = LEVEL,
    enough: int = ENOUGH_FOR_VERDICT,
) -> list[Verdict]:
    """Judge all expectations of a scenario together.

    :param level: the probability that none of them is decided wrongly.
    :param enough: seeds from which on there is a verdict; at least `statistics.ENOUGH`.
    """
    verdicts = []
    tests: dict[int, _Test] = {}
    for number, entry in enumerate(expectations):
        verdict = Verdict(
            *(entry.variant, entry.statement, entry.source, entry.size_percent),
            size=entry.size,
            size_of=entry.size_of,
        )
        try:
            test = _test(entry, results)
        except _NotTested as why:
            verdicts.append(replace(verdict, reason=str(why)))
            continue
        verdicts.append(replace(verdict, **test.plain))
        if test.claims and test.seeds >= enough:
            tests[number] = test
        else:
            verdicts[-1] = replace(verdicts[-1], **test.untested)
    for number, (word, own_level) in _holm(tests, level).items():
        changes = tests[number].judged(word, own_level)
        known_bad = dict(_under_known_bad(expectations[number], results))
        changes["known_bad"] = known_bad
        if word == HOLDS:
            changes["also_shown_of"] = tuple(
                name for name, other in known_bad.items() if other == HOLDS
            )
        verdicts[number] = replace(verdicts[number], **changes)
    return verdicts


class _NotTested(Exception):
    """Why there are no values to compare."""


@dataclass(frozen=True)
class _Test:
    """An expectation with its values.

    :param claims: with an estimate each; empty if the statement claims nothing testable.
    """

    seeds: int
    seeds_met: int
    sides: tuple[tuple[float, float], ...]
    met: bool
    claims: tuple[tuple[Claim, Estimate], ...]

    @property
    def plain(self) -> dict[str, Any]:
        return {
            "sides": self.sides,
            "met": self.met,
            "seeds_met": self.seeds_met,
            "seeds": self.seeds,
        }

    @property
    def untested(self) -> dict[str, Any]:
        if not self.claims:
            return {"reason": "it names neither a direction nor a margin"}
        needed = self._needed(LEVEL) if self.seeds >= ENOUGH else None
        return {
            "reason": few_seeds(self.seeds),
            "effects": self._effects(LEVEL),
            "needed": needed,
        }

    def judged(self, word: str, level: float) -> dict[str, Any]:
        changes: dict[str, Any] = {
            "verdict": word,
            "level": level,
            "effects": self._effects(level),
        }
        if word == UNDECIDED:
            needed = self._needed(level)
            changes |= {"needed": needed, "reason": _reason(needed)}
        return changes

    def decide(self, level: float) -> str:
        """The verdict at a level: all comparisons must be met, and one refutes them all."""
        answers = [claim.decided(_interval(estimated, level)) for claim, estimated in self.claims]
        if all(answers):
            return HOLDS
        strict = 1 - (1 - level) / len(self.claims)
        again = [claim.decided(_interval(estimated, strict)) for claim, estimated in self.claims]
        return REFUTED if False in again else UNDECIDED

    def _needed(self, level: float) -> int | None:
        """Seeds that decide every comparison that seeds have not decided."""
        most = 0
        for claim, estimated in self.claims:
            if claim.decided(_interval(estimated, level)) is not None:
                continue
            bounds = claim.low, claim.high
            needed = seeds_needed(estimated, bounds, level, ENOUGH_FOR_VERDICT)
            if needed is None:
                return None
            most = max(most, needed)
        return most or ENOUGH_FOR_VERDICT

    def _effects(self, level: float) -> tuple[Effect, ...]:
        return tuple(_effect(claim, estimated, level) for claim, estimated in self.claims)


def _reason(needed: int | None) -> str:
    if needed is None:
        return f"more than {MOST_SEEDS} seeds would decide it"
    return f"about {needed} seeds would decide it"


def _interval(estimated: Estimate, level: float) -> tuple[float, float]:
    interval = estimated.interval(level)
    if interval is None:
        raise ValueError("too few seeds for an interval")
    return interval


def _effect(claim: Claim, estimated: Estimate, level: float) -> Effect:
    low, high = estimated.interval(level) or (None, None)
    stated = (_finite(claim.low), _finite(claim.high))
    return Effect(
        *(estimated.value, low, high, stated, claim.unit, claim.relative),
        *(estimated.paired, estimated.correlation),
    )


def _finite(bound: float) -> float | None:
    return bound if abs(bound) != float("inf") else None


def _holm(tests: Mapping[int, _Test], joint: float) -> dict[int, tuple[str, float]]:
    """Verdict and level of every test: the more are decided, the less strict for the others.

    :param joint: the level of all of them together.
    """
    decided: dict[int, tuple[str, float]] = {}
    left = dict(tests)
    while left:
        level = 1 - (1 - joint) / len(left)
        words = {number: test.decide(level) for number, test in left.items()}
        now = {number: (word, level) for number, word in words.items() if word != UNDECIDED}
        decided |= now or {number: (UNDECIDED, level) for number in left}
        left = {number: test for number, test in left.items() if number not in decided}
    return decided


def _under_known_bad(entry: Expectation, results: Results) -> Iterator[tuple[str, str]]:
    """Variants that were run and under which the statement must fail, with its verdicts there."""
    own = parse(entry.statement).variants
    for name in entry.fails_under:
        # Runs that meet themselves test nothing; scenarios of old runs may name them.
        if name in results and name not in own:
            try:
                test = _test(entry, {**results, entry.variant: results[name]})
            except _NotTested:
                continue
            if test.claims and test.seeds >= ENOUGH_FOR_VERDICT:
                yield name, test.decide(LEVEL)


def _test(entry: Expectation, results: Results) -> _Test:
    """The values of an expectation.

    :raises _NotTested: why there are none.
    """
    statement = parse(entry.statement)
    own = entry.variant
    needed = sorted({measure.variant or own for measure in statement.measures})
    missing = [name for name in needed if name not in results]
    if missing:
        raise _NotTested(f"variant {missing[0]} was not run")
    seeds = sorted(set.intersection(*(set(results[variant]) for variant in needed)))
    if not seeds:
        raise _NotTested("no seed is common to its variants")
    by_variant: list[dict[MeasurePath, list[float]]] = [{} for _ in needed]
    try:
        for measure in statement.measures:
            variant = measure.variant or own
            by_variant[needed.index(variant)][MeasurePath(measure.path, variant)] = [
                value_at(results[variant][seed], measure.path) for seed in seeds
            ]
        return _values(statement, own, by_variant, len(seeds))
    except Absent as error:
        raise _NotTested(f"{error} is not measured") from error
    except ZeroDivisionError as error:
        raise _NotTested("a division by zero in it is not measured") from error


def _values(
    statement: Statement, own: str, samples: list[dict[MeasurePath, list[float]]], seeds: int
) -> _Test:
    values = {measure: row for sample in samples for measure, row in sample.items()}

    def alone(seed: int) -> Lookup:
        return lambda path, variant: values[MeasurePath(path, variant or own)][seed]

    def mean(path: tuple[str, ...], variant: str) -> float:
        row = values[MeasurePath(path, variant or own)]
        return sum(row) / len(row)

    def positive(term: Term) -> bool:
        return all(term.value(alone(seed)) > 0 for seed in range(seeds))

    # Over seeds a share is a number like others, which each seed has as 1 or 0.
    shares = {
        part: MeasurePath((SHARE, str(number)), own)
        for number, part in enumerate(statement.parts)
        if isinstance(part.left, Share)
    }
    for part, path in shares.items():
        values[path] = [part.left.value(alone(seed)) for seed in range(seeds)]
    parts = (replace(part, left=shares.get(part, part.left)) for part in statement.parts)
    by_seed = replace(statement, parts=tuple(parts))
    sides, met = by_seed.evaluate(mean)
    return _Test(
        seeds=seeds,
        seeds_met=sum(by_seed.evaluate(alone(seed))[1] for seed in range(seeds)),
        sides=tuple(sides),
        met=met,
        claims=tuple(
            (claim, proportion(values[shares[part]]) if part in shares else estimated)
            for part, (claim, estimated) in zip(
                statement.parts, _claims(statement.parts, own, samples, positive), strict=False
            )
        ),
    )


def _claims(
    parts: Sequence[Part],
    own: str,
    samples: list[dict[MeasurePath, list[float]]],
    positive: Callable[[Term], bool],
) -> Iterator[tuple[Claim, Estimate]]:
    """Claims with their estimates; nothing where a part claims nothing testable."""
    claims = [claim_of(part, positive) for part in parts]
    if len(samples) > 2 or None in claims:
        return
    for part, claim in zip(parts, claims, strict=True):
        mentioned = {MeasurePath(measure.path, measure.variant or own) for measure in part.measures}
        rows = [
            kept
            for sample in samples
            if (kept := {path: row for path, row in sample.items() if path in mentioned})
        ]
        if claim is not None:
            yield claim, _estimate(claim, own, rows)


def _estimate(
    claim: Claim, own: str, samples: Sequence[Mapping[MeasurePath, Sequence[float]]]
) -> Estimate:
    def effect(means: Mapping[MeasurePath, float]) -> float:
        return claim.effect(lambda path, variant: means[MeasurePath(path, variant or own)])

    return estimate(effect, samples)
