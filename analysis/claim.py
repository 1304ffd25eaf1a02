# SPDX-License-Identifier: GPL-2.0-or-later
"""The claim of one comparison in a statement: an effect, and the range that is stated for it.

=============================  ===================================  ==========================
comparison                     effect                               stated
=============================  ===================================  ==========================
``X < 5%``                     X                                    below 5 %
``abs(X) < 2%``                X                                    between -2 and 2 %
``X > 95% * Y``                by how many percent X exceeds Y      above -5 %
``X > Y``, Y zero in a run     X less Y                             above 0
``share(...) > 10%``           share of seeds, in percent           above 10 %
``X == Y``                     none: neither direction nor margin
=============================  ===================================  ==========================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from eascope.analysis.rows import unit_of
from eascope.analysis.statement import Lookup, Operation, Part, Share, Term, constant, number

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
PERCENT = "%"
#: Kinds of claims: a difference in a direction, none beyond a margin, or a measure by itself.
DIFFERENCE, EQUIVALENCE, ABSOLUTE = "difference", "equivalence", "absolute"


@dataclass(frozen=True)
class Claim:
    """An effect and its stated bounds, in the effect's unit.

    :param term: the effect less its scale: percentages are shares in it.
    :param low: lower bound, minus infinity where there is none.
    :param includes: whether a bound itself is within the stated range.
    :param unit: of the effect; empty for counts.
    :param relative: the effect is a difference, which has a sign.
    """

    effect: Callable[[Lookup], float]
    term: Term
    low: float
    high: float
    includes: bool
    unit: str
    relative: bool

    @property
    def kind(self) -> str:
        """`DIFFERENCE`, `EQUIVALENCE` or `ABSOLUTE`."""
        if not self.relative:
            return ABSOLUTE
        bounded = math.isfinite(self.low) and math.isfinite(self.high)
        return EQUIVALENCE if bounded else DIFFERENCE

    def decided(self, interval: tuple[float, float]) -> bool | None:
        """True if an interval is within the bounds; None if it is partly outside."""
        low, high = interval
        within = low > self.low and high < self.high
        if within or (self.includes and low >= self.low and high <= self.high):
            return True
        beyond = low > self.high or high < self.low
        if beyond or (not self.includes and (low >= self.high or high <= self.low)):
            return False
        return None


def claim_of(part: Part, positive: Callable[[Term], bool]) -> Claim | None:
    """The claim of a comparison; None if it has neither a direction nor a margin."""
    left, sign, right = part.left, part.sign, part.right
    if sign not in _MIRRORED:
        return None
    if constant(left) is not None:
        left, sign, right = right, _MIRRORED[sign], left
    bound = constant(right)
    if bound is not None:
        percent = isinstance(left, Share) or any(each.percent for each in _operations(right))
        return _level(left, sign, bound, percent)
    (first, own), (second, other) = _split(left), _split(right)
    if first > 0 and second > 0 and positive(other):
        ratio = Operation("-", (Operation("/", (own, other)), number(1.0)))
        return _bounded(ratio, sign, second / first - 1, PERCENT, relative=True)
    return _bounded(Operation("-", (left, right)), sign, 0.0, _unit(left), relative=True)


def _level(term: Term, sign: str, bound: float, percent: bool) -> Claim:
    """A term against a number."""
    unit = PERCENT if percent else _unit(term)
    if isinstance(term, Operation) and term.name == "abs" and sign in ("<", "<="):
        scale = 100.0 if percent else 1.0
        inner = term.operands[0]
        return Claim(
            *(_scaled(inner, scale), inner, -bound * scale, bound * scale),
            includes=sign == "<=",
            unit=unit,
            relative=True,
        )
    return _bounded(term, sign, bound, unit, relative=False)


def _bounded(term: Term, sign: str, bound: float, unit: str, *, relative: bool) -> Claim:
    """A term on one side of a bound; percentages are shares up to here."""
    scale = 100.0 if unit == PERCENT else 1.0
    above = sign.startswith(">")
    return Claim(
        effect=_scaled(term, scale),
        term=term,
        low=bound * scale if above else -math.inf,
        high=math.inf if above else bound * scale,
        includes=sign.endswith("="),
        unit=unit,
        relative=relative,
    )


def _scaled(term: Term, scale: float) -> Callable[[Lookup], float]:
    return lambda lookup: scale * term.value(lookup)


def _split(term: Term) -> tuple[float, Term]:
    """A term as a number times another term."""
    if isinstance(term, Operation) and term.name in ("*", "/"):
        first, second = term.operands
        by, over = constant(second), constant(first)
        if by:
            inner, rest = _split(first)
            return (inner * by if term.name == "*" else inner / by), rest
        if over is not None and term.name == "*":
            inner, rest = _split(second)
            return inner * over, rest
    return 1.0, term


def _unit(term: Term) -> str:
    """The unit that a measure's key names; empty for counts and for computed terms."""
    if any(operation.name in ("*", "/") for operation in _operations(term)):
        return ""
    units = {unit_of(measure.path[0]) for measure in term.measures}
    return units.pop() if len(units) == 1 else ""


def _operations(term: Term) -> Iterator[Operation]:
    """A term's operations and numbers."""
    if isinstance(term, Operation):
        yield term
        for operand in term.operands:
            yield from _operations(operand)
