# SPDX-License-Identifier: GPL-2.0-or-later
"""The values that an effect can have, from the ranges of its measures: no share exceeds 100 %.

An interval is made without regard to them, so its ends may be impossible. Texts show ends cut to
the range (`cut`); records and verdicts keep them as they were made.
"""

from __future__ import annotations

import math

from eascope.analysis.claim import PERCENT, claim_of
from eascope.analysis.difference import Difference
from eascope.analysis.measures.registry import Range
from eascope.analysis.records.verdict import Verdict
from eascope.analysis.rows import RANGES, MeasureRow
from eascope.analysis.statement import MeasurePath, Operation, Part, Share, Term, parse

#: Of a difference in percent of the first variant: no measure is below zero.
PERCENT_CHANGE: Range = (-100.0, math.inf)
#: Of a number about which nothing is known.
_ANY: Range = (-math.inf, math.inf)


def cut(value: float, possible: Range) -> float:
    """``value``, or the end of the range beyond which it lies."""
    return min(max(value, possible[0]), possible[1])


def possible_interval(row: MeasureRow, diff: Difference) -> tuple[float, float] | None:
    """The interval of a difference, cut to what a variant can have above the baseline's mean.

    :returns: in the row's unit; None with too few seeds.
    """
    if diff.low is None or diff.high is None:
        return None
    least, most = RANGES.get(row.path[0], (0.0, math.inf))
    possible = row.scale * least - diff.baseline, row.scale * most - diff.baseline
    return cut(diff.low, possible), cut(diff.high, possible)


def ranges_of(verdict: Verdict) -> list[Range]:
    """The range of each of its effects, in the effect's unit."""
    parts = parse(verdict.statement).parts
    if len(parts) != len(verdict.effects):
        return [_ANY] * len(verdict.effects)
    return [
        range_of_effect(part, effect.unit, relative=effect.relative)
        for part, effect in zip(parts, verdict.effects, strict=True)
    ]


def range_of(term: Term) -> Range:
    """The range of a term, as if its measures did not depend on each other."""
    if isinstance(term, MeasurePath):
        return RANGES.get(term.path[0], (0.0, math.inf))
    if isinstance(term, Share):
        return 0.0, 1.0
    if not term.operands:
        return term.number, term.number
    return _operation(term, [range_of(operand) for operand in term.operands])


def range_of_effect(part: Part, unit: str, *, relative: bool) -> Range:
    """The range of the effect of a statement's part, in ``unit``.

    :param relative: whether the effect is a difference.
    """
    claim = claim_of(part, lambda _: unit == PERCENT)
    if claim is None or claim.unit != unit or claim.relative != relative:
        return _ANY
    scale = 100.0 if unit == PERCENT else 1.0
    low, high = range_of(claim.term)
    return scale * low, scale * high


def _operation(term: Operation, of: list[Range]) -> Range:
    (low, high), *others = of
    if term.name in ("min", "max"):
        pick = min if term.name == "min" else max
        return pick(bounds[0] for bounds in of), pick(bounds[1] for bounds in of)
    if term.name == "abs":
        return (max(0.0, low, -high), max(abs(low), abs(high)))
    ((other_low, other_high),) = others
    if term.name == "+":
        return low + other_low, high + other_high
    if term.name == "-":
        return low - other_high, high - other_low
    if low < 0 or other_low < 0:
        return _ANY
    if term.name == "*":
        return _product(low, other_low), _product(high, other_high)
    least = low / other_high if other_high else math.inf
    return least, (high / other_low if other_low else math.inf)


def _product(first: float, second: float) -> float:
    """Zero times anything is zero, infinity too: no measure is infinite."""
    return first * second if first and second else 0.0
