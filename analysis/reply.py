# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparisons as a table fit for a reply on the list: a row and one word for each."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any

import scipy

from eascope.analysis.compare import Comparison, Line
from eascope.analysis.difference import Difference
from eascope.analysis.ranges import PERCENT_CHANGE, cut
from eascope.analysis.records.verdict import DEPENDS, ENOUGH_FOR_VERDICT, LEVEL
from eascope.analysis.rows import PER_WORK
from eascope.host.table import Row, Section, Table

BETTER, WORSE, MIXED, SAME = "better", "worse", "mixed", "no difference seen"
UNTESTED = "not tested"
#: The smallest percentage that is printed.
LEAST = 0.1
#: Columns of a mail.
WIDTH = 72
LEGEND = (
    "*: significant at 95 %. energy: per unit of work, with its interval. p99: wake-up latency of "
    "the task whose p99 changes most. late: frames, or else deadlines, per run."
)


@dataclass(frozen=True)
class Change:
    """The change of a measure of which less is better.

    :param about: the measure, as `MeasureRow.measure`.
    :param seen: whether it is a difference, and not by chance.
    :param could: the size that would have been seen, in percent; None where it is not known.
    """

    about: str
    difference: Difference
    seen: bool
    could: float | None

    @property
    def word(self) -> str:
        """What it says by itself; empty where no difference is seen."""
        return (WORSE if self.difference.absolute > 0 else BETTER) if self.seen else ""

    @property
    def size(self) -> tuple[bool, float]:
        """By which changes are ranked: what is seen comes first."""
        return self.seen, abs(self.difference.percent or 0.0)

    def record(self) -> dict[str, Any]:
        """As JSON."""
        diff = self.difference
        ends = diff.in_percent()
        return {
            "measure": self.about,
            "absolute": diff.absolute,
            "percent": diff.percent,
            "percent_interval": None if ends is None else [*ends],
            "seen": self.seen,
            "would_have_seen_percent": self.could,
        }


@dataclass(frozen=True)
class Outcome:
    """A variant of a comparison, whose baseline is the first one, in a row.

    :param variant: which one; empty: the second.
    """

    comparison: Comparison
    variant: str = ""

    @cached_property
    def energy(self) -> Change:
        """The energy per unit of work, or in all where no work is known."""
        per_work = self.comparison.line(*PER_WORK)
        return self._change(per_work or self.comparison.total, alone=True)

    @cached_property
    def latencies(self) -> list[Change]:
        """The p99 wake-up latencies of tasks, the largest change first."""
        named = (self.comparison.line("latency_us", task, "p99") for task in self.comparison.tasks)
        changes = [self._change(line) for line in named if line and self._name in line.differences]
        return sorted(changes, key=lambda change: change.size, reverse=True)

    @cached_property
    def late(self) -> Change | None:
        """Late frames, or else missed deadlines; None where there are neither."""
        line = self.comparison.line("frames", "late") or self.comparison.line("missed_deadlines")
        return self._change(line) if line and self._name in line.differences else None

    @cached_property
    def depends(self) -> str:
        """On which model axes the sign of the energy depends, in words; mostly empty."""
        joint = self.comparison.overall(self._name)
        return joint.words if joint.word == DEPENDS else ""

    @cached_property
    def verdict(self) -> str:
        """One word, of all changes that are seen."""
        if len(self.comparison.seeds) < ENOUGH_FOR_VERDICT:
            return UNTESTED
        words = {change.word for change in self._changes} - {""}
        if self.depends or len(words) > 1:
            return MIXED
        return words.pop() if words else SAME

    @property
    def where(self) -> str:
        """Scenario and platform."""
        return f"{self.comparison.cell.scenario}, {self.comparison.platform.name}"

    @property
    def notes(self) -> Iterator[str]:
        """What would have been seen, if nothing was; on what the sign of the energy depends."""
        sizes = zip(("energy", "p99"), (self.energy, *self.latencies[:1]), strict=False)
        shown = [f"{what} {c.could:.1f} %" for what, c in sizes if c.could is not None]
        if self.verdict == SAME and shown:
            yield f"{self.where}: smallest detectable difference: {', '.join(shown)}"
        if self.depends:
            yield f"{self.where}: energy {self.depends}"

    def cells(self) -> Row:
        """The texts of the row."""
        latency = self.latencies[0] if self.latencies else None
        late = self.late and f"{self.late.difference.absolute:+.1f}{_star(self.late)}"
        return [
            self.comparison.platform.name[:9],
            _percent(self.energy, interval=True),
            _percent(latency) if latency else "-",
            late or "-",
            self.verdict,
        ]

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "scenario": self.comparison.cell.scenario,
            "platform": self.comparison.platform.name,
            "verdict": self.verdict,
            "energy": self.energy.record(),
            "p99": [change.record() for change in self.latencies],
            "late": self.late and self.late.record(),
            "depends_on": self.depends,
            "seeds": len(self.comparison.seeds),
        }

    @property
    def _name(self) -> str:
        return self.variant or self.comparison.names[1]

    @property
    def _changes(self) -> list[Change]:
        return [self.energy, *self.latencies, *([self.late] if self.late else [])]

    def _change(self, line: Line, *, alone: bool = False) -> Change:
        """A change; one that is tested ``alone`` is not corrected for the number of measures.

        It must exceed the noise floor, if one is known, and show in what is printed.
        """
        diff = line.differences[self._name]
        found = bool(diff.clear) if alone else self.comparison.starred(line, self._name)
        floor = self.comparison.noise.floor(line.row) if self.comparison.noise else None
        could = None
        if diff.low is not None and diff.high is not None and diff.baseline:
            half = (diff.high - diff.low) / 2
            if not alone:
                half *= _wider(self.comparison.tested(self._name), diff)
            could = 100 * max(half, floor or 0.0) / diff.baseline
            could = max(could, LEAST)
        shows = diff.percent is None or abs(diff.percent) >= LEAST / 2
        seen = found and shows and abs(diff.absolute) > (floor or 0.0)
        return Change(line.row.measure, diff, seen, could)


def _wider(many: int, diff: Difference) -> float:
    """By what an interval is wider at the level at which one of ``many`` measures is starred."""
    freedom = (diff.seeds - 1) * (1 if diff.paired else 2)
    tail = (1 - LEVEL) / 2
    one, alone = scipy.stats.t.isf([tail / many, tail], freedom)
    return float(one / alone)


def table(outcomes: Sequence[Outcome]) -> str:
    """All rows below their scenarios, and what they mean, at most `WIDTH` columns wide."""
    rows = ((outcome.comparison.cell.scenario, outcome.cells()) for outcome in outcomes)
    return text_of(rows, [LEGEND, *(note for outcome in outcomes for note in outcome.notes)])


def text_of(rows: Iterable[tuple[str, Row]], notes: Iterable[str]) -> str:
    """Rows below the scenarios that come with them, and notes."""
    lines: list[Row | Section] = []
    for scenario, same in groupby(rows, key=itemgetter(0)):
        lines += [Section(scenario), *(cells for _, cells in same)]
    heads = ("", "energy, %", "p99, %", "late", "verdict")
    # A number stays with its unit.
    whole = (note.replace(" %", "\N{NO-BREAK SPACE}%") for note in notes)
    wrapped = (textwrap.wrap(note, WIDTH, break_on_hyphens=False) for note in whole)
    below = [line.replace("\N{NO-BREAK SPACE}", " ") for some in wrapped for line in some]
    return "\n".join([Table.of(heads, lines, left=1).text(), *([""] if below else []), *below])


def _star(change: Change) -> str:
    return "*" if change.seen else ""


def _percent(change: Change, *, interval: bool = False) -> str:
    """``-13.8 (-13.9..-13.6)*``; the difference itself where the baseline is zero."""
    diff = change.difference
    if diff.percent is None:
        return f"{diff.absolute:+.3g}{_star(change)}"
    ends = diff.in_percent() if interval else None
    within = f" ({_number(ends[0])}..{_number(ends[1])})" if ends else ""
    return f"{_number(diff.percent)}{within}{_star(change)}"


def _number(percent: float) -> str:
    rounded = cut(percent, PERCENT_CHANGE)
    return f"{rounded:+.0f}" if abs(rounded) >= 99.95 else f"{round(rounded, 1) + 0.0:+.1f}"
