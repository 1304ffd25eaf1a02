# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of the scoreboard: figures that sources measured, and those of the pages' runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from analysis.claim import ABSOLUTE, DIFFERENCE, EQUIVALENCE, PERCENT
from analysis.records.verdict import REFUTED, SHOWN, UNDECIDED
from analysis.results.comparisons import Change
from analysis.results.origin import ResultRecord
from host.record import Record

#: A size is right where ours is at most so many times the source's, or the source's ours.
FACTOR = 2.0
#: And close where it differs by no more than this part of the source's.
CLOSE = 0.15
#: Findings on a figure: of its runs, only of runs under other conditions, or none.
FOUND, FOUND_ELSEWHERE, NOT_FOUND = "found", "elsewhere", "none"


@dataclass(frozen=True)
class Measured(Record):
    """A measurement: its author and its board.

    :param name: in ``experiments/sources.toml``.
    :param platform: ours of that board, or the one that stands in for it; empty for none.
    :param stand_in: whether it only stands in.
    """

    name: str
    who: str
    url: str
    board: str
    platform: str
    stand_in: bool


@dataclass(frozen=True)
class Quantified(Record):
    """A statement with a size, and its comparison on a page.

    :param theirs: the source's figure in ``theirs_unit``; 0 for no difference.
    :param theirs_unit: its unit. Ours differs where it is a difference of counts that may be zero.
    :param page: the page whose record has the comparison.
    :param conditions: of the runs, in words.
    :param ours: the effect; None where the record has means alone.
    :param low: lower end of its interval.
    :param relative: whether the effect is a difference, which has a sign.
    :param met: whether the means meet the statement.
    :param kind: of the comparison that the size is of (`analysis.claim`).
    :param refuted_under: known-bad variants whose runs refute it.
    :param finding: whether traces explain it: `FOUND`, `FOUND_ELSEWHERE` or `NOT_FOUND`.
    """

    scenario: str
    variant: str
    statement: str
    source: str
    measured: Measured
    theirs: float
    theirs_unit: str
    page: str
    conditions: str
    seeds: int
    verdict: str
    reason: str
    met: bool
    kind: str
    refuted_under: tuple[str, ...] = ()
    finding: str = NOT_FOUND
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    relative: bool = False

    @property
    def decided(self) -> bool:
        """Whether it is refuted, or shown and counted."""
        return self.verdict in (SHOWN, REFUTED) and not self.left_out

    @property
    def left_out(self) -> bool:
        """Whether it is shown, but no run says that it could have failed."""
        return self.verdict == SHOWN and not self.refuted_under

    @property
    def right(self) -> bool:
        """Whether ours has the sign of the source's; without a sign, whether it is as stated."""
        if self.ours is not None and self.relative and self.theirs:
            return self.ours * self.theirs > 0
        return self.met if self.verdict == UNDECIDED else self.verdict == SHOWN

    @property
    def opposite(self) -> bool:
        """Whether the interval shows the other sign than the source's."""
        if not self.relative or self.low is None or self.high is None:
            return False
        return self.high < 0 < self.theirs or self.theirs < 0 < self.low

    @property
    def outside(self) -> bool | None:
        """Whether a difference's size in the source lies outside our interval.

        None if it is no difference, or if the two cannot be compared.
        """
        if self.kind != DIFFERENCE or not self.one_unit or self.low is None or self.high is None:
            return None
        return not self.low <= self.theirs <= self.high

    @property
    def sized(self) -> bool:
        """Whether there is a size to be right about: a difference, or a count or rate.

        A level in percent, such as a share, is nearly always within a factor of two of another.
        """
        known = bool(self.theirs) and self.one_unit
        return known and (self.relative or self.unit != PERCENT)

    @property
    def one_unit(self) -> bool:
        """Whether the source's figure and ours can be compared in size."""
        return self.theirs_unit == self.unit

    @property
    def ratio(self) -> float | None:
        """Our size divided by the source's; None without both sizes in one unit."""
        if self.ours is None or not self.theirs or not self.one_unit:
            return None
        return self.ours / self.theirs

    @property
    def within_factor(self) -> bool:
        """Whether the size is right within `FACTOR`."""
        return self.ratio is not None and 1 / FACTOR <= self.ratio <= FACTOR

    @property
    def close(self) -> bool:
        """Whether the size is right within `CLOSE`."""
        return self.ratio is not None and abs(self.ratio - 1) <= CLOSE

    @property
    def badness(self) -> tuple[int, float]:
        """Larger for worse: the other sign, refuted, undecided, shown; then how far off."""
        order = (UNDECIDED, REFUTED).index(self.verdict) + 1 if self.verdict != SHOWN else 0
        ratio = self.ratio
        far = math.inf if ratio is None or ratio <= 0 else abs(math.log(ratio))
        return (3 if self.opposite else order, far if self.theirs else 0.0)


@dataclass(frozen=True)
class NotCompared(Record):
    """A statement with a size that no page has, and the reason."""

    scenario: str
    variant: str
    statement: str
    source: str
    measured: Measured
    why: str


@dataclass(frozen=True)
class Unsimulated(Record):
    """A figure of a source for which there is no scenario."""

    who: str
    board: str
    states: str
    missing: str


@dataclass(frozen=True)
class Mutant(Record):
    """A statement with the runs of a variant under which it must fail.

    :param verdict: anything but `SHOWN`, or the statement cannot fail.
    """

    scenario: str
    platform: str
    variant: str
    statement: str
    known_bad: str
    verdict: str


@dataclass(frozen=True)
class Prediction(Record):
    """A prediction of a variant's effect that nobody has measured.

    :param change: of the energy, or of that of the same work, from mainline's; None for mainline.
    :param statements: of it, each with its verdict in words.
    """

    scenario: str
    platform: str
    variant: str
    label: str
    change: Change | None
    statements: tuple[str, ...]


@dataclass(frozen=True)
class Counts(Record):
    """How many statements of a size there are, and how many of them are right.

    :param left_out: shown, but not counted.
    :param right: of the decided.
    :param by_means: of all, those of which the means are as the source says.
    :param comparable: differences whose sizes have one unit, and an interval.
    :param outside: of these, those whose size in the source is outside of it.
    :param sized: of the decided, those that have a size to be right about.
    """

    compared: int
    shown: int
    refuted: int
    undecided: int
    left_out: int
    right: int
    by_means: int
    opposite: int
    comparable: int
    outside: int
    sized: int
    within_factor: int
    close: int

    @property
    def decided(self) -> int:
        """Those that are shown and counted, or refuted."""
        return self.shown + self.refuted


@dataclass(frozen=True)
class EarlierCounts(Record):
    """The counts of earlier records by today's rules.

    :param commit: that has the records.
    """

    name: str
    commit: str
    counts: Counts


@dataclass(frozen=True)
class Hardware(ResultRecord):
    """The scoreboard, worst first."""

    statements: tuple[Quantified, ...]
    not_compared: tuple[NotCompared, ...]
    not_simulated: tuple[Unsimulated, ...]
    predictions: tuple[Prediction, ...]
    mutants: tuple[Mutant, ...] = ()
    steps: tuple[EarlierCounts, ...] = ()

    @property
    def counts(self) -> Counts:
        """Of the statements of today's records."""
        return counts_of(self.statements)

    @property
    def by_kind(self) -> Mapping[str, Counts]:
        """The same for each kind of statement."""
        return {
            kind: counts_of(each for each in self.statements if each.kind == kind)
            for kind in (DIFFERENCE, EQUIVALENCE, ABSOLUTE)
        }


def counts_of(statements: Iterable[Quantified]) -> Counts:
    """How many of some statements are decided, and how many are right."""
    every = tuple(statements)
    decided = [each for each in every if each.decided]
    verdicts = [each.verdict for each in every]
    left_out = sum(each.left_out for each in every)
    outside = [each.outside for each in every if each.outside is not None]
    sized = [each for each in decided if each.sized]
    return Counts(
        compared=len(every),
        shown=verdicts.count(SHOWN) - left_out,
        refuted=verdicts.count(REFUTED),
        undecided=verdicts.count(UNDECIDED),
        left_out=left_out,
        right=sum(each.right for each in decided),
        by_means=sum(each.right for each in every),
        opposite=sum(each.opposite for each in every),
        comparable=len(outside),
        outside=sum(outside),
        sized=len(sized),
        within_factor=sum(each.within_factor for each in sized),
        close=sum(each.close for each in sized),
    )
