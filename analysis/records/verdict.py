# SPDX-License-Identifier: GPL-2.0-or-later
"""The verdict of several runs on an expectation, for records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

from eascope.host.record import Record

#: Seeds from which on there is a verdict.
ENOUGH_FOR_VERDICT = 20
#: Of intervals, where one statement is judged.
LEVEL = 0.95
HOLDS, REFUTED, UNDECIDED = "shown", "refuted", "undecided"
#: In the place of a verdict: not all values of the model axes give it; no run measures it; a page's
#: record has no run of this statement, setup and kernel.
DEPENDS, NOT_MEASURED, NOT_CURRENT = "depends on", "not measured", "no current runs"


@dataclass(frozen=True)
class Effect(Record):
    """The effect in one comparison of a statement, as measured.

    :param low: lower end of the interval; None with too few seeds.
    :param stated: the bounds between which the statement puts it; None for no bound.
    :param unit: of all of them; empty for counts.
    :param relative: whether it is a difference.
    :param paired: whether two variants were paired by seed.
    :param correlation: of the two over seeds; None where it has no meaning.
    """

    value: float
    low: float | None
    high: float | None
    stated: tuple[float | None, float | None]
    unit: str
    relative: bool
    paired: bool
    correlation: float | None

    @property
    def verdict(self) -> str:
        """Of this comparison alone: is the interval inside of its bounds, outside, or neither."""
        least, most = self.stated
        least, most = -inf if least is None else least, inf if most is None else most
        if self.low is None or self.high is None:
            return UNDECIDED
        if least <= self.low and self.high <= most:
            return HOLDS
        return REFUTED if self.high < least or most < self.low else UNDECIDED


@dataclass(frozen=True)
class Verdict(Record):
    """An expectation against several runs per variant.

    :param size_percent: the effect that its source measured, 0 for no difference.
    :param verdict: `HOLDS`, `REFUTED`, `UNDECIDED` or `DEPENDS`.
    :param reason: why it is undecided, or what it is at which value of an axis.
    :param effects: of every comparison; the first is the primary one. Empty where not measured.
    :param level: of the intervals, adjusted for how many statements are judged.
    :param needed: seeds that would decide it; None if it is decided, or if the number is not known.
    :param sides: both sides of every comparison, of the means over seeds.
    :param met: whether the means meet it; None where it is not measured.
    :param seeds_met: how many of ``seeds`` meet it alone.
    :param also_shown_of: variants of which it should not be shown, but is, so that it is worthless.
    :param known_bad: its verdict with the runs of each variant under which it must fail, if there
        are such runs.
    :param size: as ``size_percent``, in the unit of the comparison, where that is not percent.
    :param size_of: which comparison the size is of, counted from 1.
    """

    variant: str
    statement: str
    source: str
    size_percent: float | None = None
    verdict: str = UNDECIDED
    reason: str = ""
    effects: tuple[Effect, ...] = ()
    level: float = LEVEL
    needed: int | None = None
    sides: tuple[tuple[float, float], ...] = ()
    met: bool | None = None
    seeds_met: int = 0
    seeds: int = 0
    also_shown_of: tuple[str, ...] = ()
    size: float | None = None
    size_of: int = 1
    known_bad: Mapping[str, str] = field(default_factory=dict)
    depends_on: tuple[str, ...] = ()

    @property
    def decisive(self) -> int:
        """The place of the effect that decides: that of the size, or the first of the verdict's."""
        if self.size is not None or self.size_percent is not None:
            return self.size_of - 1
        words = [each.verdict for each in self.effects]
        worst = next((word for word in (REFUTED, UNDECIDED) if word in words), HOLDS)
        return words.index(worst) if worst in words else 0


def few_seeds(seeds: int) -> str:
    """The reason why so few seeds give no verdict."""
    return f"only {seeds} of the {ENOUGH_FOR_VERDICT} seeds required"
