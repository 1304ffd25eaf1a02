# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison at every value of the model axes: verdicts of all values, and dependent verdicts.

An interval over seeds does not cover errors of the model. So one axis at a time is set to another
value. There is a verdict only if all values give the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from eascope.analysis.compare import Comparison, Line
from eascope.analysis.difference import Difference
from eascope.analysis.records.verdict import Verdict
from eascope.analysis.rows import PER_WORK

#: What an interval says of a difference.
LESS, MORE, SAME, NO_TEST = "less", "more", "cannot be told apart", "no test"
#: What all values together say, where they do not say the same.
DEPENDS = "depends"
#: Names the asked values.
AS_ASKED = "as asked"


@dataclass(frozen=True)
class AtValue:
    """The comparison at one value of one axis.

    :param source: of the value.
    :param own_runs: runs that only this value needs.
    """

    axis: str
    value: str
    source: str
    own_runs: int
    compared: Comparison


@dataclass(frozen=True)
class Overall:
    """The joint answer of all values.

    :param word: the common answer, or `DEPENDS`.
    :param differing: axis, value and word of each value that differs from the asked values.
    """

    word: str
    differing: tuple[tuple[str, str, str], ...] = ()

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes that it depends on."""
        return tuple(dict.fromkeys(axis for axis, _, _ in self.differing))

    @property
    def words(self) -> str:
        """``less``, or ``depends on idle_exit (25%: more)``."""
        if self.word != DEPENDS:
            return self.word
        parts = [
            f"{axis} ({', '.join(f'{v}: {word}' for a, v, word in self.differing if a == axis)})"
            for axis in self.axes
        ]
        return f"depends on {', '.join(parts)}"


@dataclass(frozen=True)
class Robust:
    """The asked comparison, and the same at other values of the axes.

    :param left_out: axes that have no other value here, and why, a line each.
    """

    asked: Comparison
    values: Sequence[AtValue]
    left_out: Sequence[str] = ()

    @property
    def others(self) -> list[str]:
        """The variants that are compared with the baseline."""
        return self.asked.names[1:]

    @cached_property
    def path(self) -> tuple[str, ...]:
        """The energy by which all are compared: of the same work, where work differs anywhere."""
        every = [self.asked, *(at.compared for at in self.values)]
        if any(comparison.other_work for comparison in every) and all(
            comparison.line(*PER_WORK) for comparison in every
        ):
            return PER_WORK
        return self.asked.total.row.path

    def energy(self, compared: Comparison) -> Line:
        """The line of `path`."""
        return compared.line(*self.path) or compared.total

    def difference(self, compared: Comparison, name: str) -> Difference:
        """Of the energy of variant ``name`` from the baseline's."""
        return self.energy(compared).differences[name]

    @property
    def label(self) -> str:
        """``energy`` or ``energy per s of work``."""
        row = self.energy(self.asked).row
        return "energy" if row.path != PER_WORK else f"energy {row.label}"

    def overall(self, name: str) -> Overall:
        """The joint answer of all values on the energy of variant ``name``."""
        words = [
            (at.axis, at.value, sign(self.difference(at.compared, name))) for at in self.values
        ]
        return _overall(sign(self.difference(self.asked, name)), words)

    def judged(self, verdict: Verdict) -> Overall:
        """The joint answer on the expectation of ``verdict``, one of the asked comparison's."""
        words = [(at.axis, at.value, self.verdict_at(at, verdict).verdict) for at in self.values]
        return _overall(verdict.verdict, words)

    def verdict_at(self, at: AtValue, verdict: Verdict) -> Verdict:
        """The verdict at a value on the expectation that ``verdict`` is about."""
        key = verdict.variant, verdict.statement
        return next(v for v in at.compared.verdicts if (v.variant, v.statement) == key)


def sign(difference: Difference) -> str:
    """The answer of the interval: `LESS`, `MORE`, `SAME`, or `NO_TEST` without an interval."""
    if difference.clear is None:
        return NO_TEST
    if not difference.clear:
        return SAME
    return MORE if difference.absolute > 0 else LESS


def _overall(asked: str, words: Sequence[tuple[str, str, str]]) -> Overall:
    differing = tuple(word for word in words if word[2] != asked)
    return Overall(DEPENDS if differing else asked, differing)
