# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of the scoreboard: figures that sources measured, and those of the pages' runs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from analysis.claim import PERCENT
from analysis.records.verdict import REFUTED, SHOWN, UNDECIDED
from analysis.results.comparisons import Change
from analysis.results.origin import ResultRecord
from host.record import Record

#: A size is right where ours is at most so many times the source's, or the source's ours.
FACTOR = 2.0
#: And close where it differs by no more than this part of the source's.
CLOSE = 0.15


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
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    relative: bool = False

    @property
    def decided(self) -> bool:
        """Whether it is shown or refuted."""
        return self.verdict in (SHOWN, REFUTED)

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

    :param sized: of the decided, those that have a size to be right about.
    :param as_source: of the undecided, those of which the means are as the source says.
    """

    compared: int
    decided: int
    right: int
    opposite: int
    sized: int
    within_factor: int
    close: int
    undecided: int
    as_source: int


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


def counts_of(statements: Iterable[Quantified]) -> Counts:
    """How many of some statements are decided, and how many are right."""
    every = tuple(statements)
    decided = [each for each in every if each.decided]
    undecided = [each for each in every if not each.decided]
    sized = [each for each in decided if each.sized]
    return Counts(
        compared=len(every),
        decided=len(decided),
        right=sum(each.right for each in decided),
        opposite=sum(each.opposite for each in every),
        sized=len(sized),
        within_factor=sum(each.within_factor for each in sized),
        close=sum(each.close for each in sized),
        undecided=len(undecided),
        as_source=sum(each.right for each in undecided),
    )
