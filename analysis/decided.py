# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether seeds decide an expectation, or the interval of its answer includes the other one."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.expect import Absent, Measure, Results, Statement, Verdict, parse, value_at
from analysis.statistics import ENOUGH, resampled_means

#: Share of resampled means that must give the answer of the means. It is that of a 95 % interval
#: which lies on one side of the statement's border.
CONFIDENT = 0.975
RESAMPLES = 2_000


def decided(verdict: Verdict, results: Results) -> bool | None:
    """Whether other draws of the seeds would give the same answer.

    :param results: ``{variant: {seed: result}}``, as `judge` had them.
    :returns: None when the verdict has no answer, or there are too few seeds for a test.
    """
    if verdict.holds is None or verdict.seeds < ENOUGH:
        return None
    statement = parse(verdict.statement)
    measures = dict.fromkeys(statement.measures)
    needed = {measure.variant or verdict.variant for measure in measures}
    seeds = sorted(set.intersection(*(set(results[variant]) for variant in needed)))

    def values(measure: Measure) -> list[float]:
        by_seed = results[measure.variant or verdict.variant]
        return [value_at(by_seed[seed], measure.path) for seed in seeds]

    means = resampled_means([values(measure) for measure in measures], RESAMPLES)
    same = 0
    for draw in range(RESAMPLES):
        drawn = {
            (measure.path, measure.variant): row[draw]
            for measure, row in zip(measures, means, strict=True)
        }
        same += _answer(statement, drawn) == verdict.holds
    return same >= CONFIDENT * RESAMPLES


def _answer(
    statement: Statement, means: Mapping[tuple[tuple[str, ...], str], float]
) -> bool | None:
    """What ``statement`` says of these means; None where a division by zero leaves nothing."""

    def lookup(path: tuple[str, ...], variant: str) -> float:
        return means[path, variant]

    try:
        return statement.evaluate(lookup)[1]
    except Absent:
        return None


def verdict_word(verdict: Verdict) -> str:
    """``holds`` or ``does not hold``, with a reservation where the seeds do not decide it."""
    if verdict.holds is None:
        return "not measured"
    word = "holds" if verdict.holds else "does not hold"
    if verdict.seeds == 1:
        return f"{word}, one seed"
    if verdict.seeds < ENOUGH:
        return f"{word} on the mean, no test"
    return word if verdict.decided else f"{word} on the mean, undecided"
