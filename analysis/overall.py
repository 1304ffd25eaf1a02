# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers at every value of the model axes, put together: the range, and one word or `DEPENDS`.

An interval over seeds does not cover errors of the model. So one axis at a time has another value.
A verdict holds only if all values give it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from eascope.analysis.difference import Difference
from eascope.analysis.records.verdict import DEPENDS, ENOUGH_FOR_VERDICT, HOLDS, Verdict
from eascope.analysis.verdict_text import printed
from eascope.configs.knobs import axis_words

#: What an interval says of a difference.
LESS, MORE, SAME, NO_TEST = "less", "more", "no significant difference", "not tested"
#: Names the asked values.
AS_ASKED = "as configured"


class Assumed(Protocol):
    """The same comparison at another value of one model axis, compared now or recorded."""

    @property
    def axis(self) -> str:
        """The axis."""

    @property
    def value(self) -> str:
        """Its value here."""

    @property
    def source(self) -> str:
        """Of the value."""

    @property
    def own_runs(self) -> int:
        """Runs that only this value needs."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """What else its runs are known by, for JSON."""

    @property
    def other_work(self) -> Mapping[str, float]:
        """See `analysis.compare.Comparison.other_work`."""

    def difference(self, name: str, path: tuple[str, ...]) -> Difference | None:
        """Of a measure of variant ``name`` from the baseline's; None where it is not known."""

    def verdict(self, variant: str, statement: str) -> Verdict | None:
        """On an expectation; None where it was not judged."""


@dataclass(frozen=True)
class Overall:
    """The joint answer of all values.

    :param word: the common answer, or `DEPENDS`.
    :param differing: axis, value and word of each value that differs from the asked values.
    """

    word: str
    asked: str
    differing: tuple[tuple[str, str, str], ...] = ()

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes that it depends on."""
        return tuple(dict.fromkeys(axis for axis, _, _ in self.differing))

    @property
    def words(self) -> str:
        """``less``, or ``depends on power model (less as configured, more with measured)``."""
        if self.word != DEPENDS:
            return printed(self.word)
        names = " and ".join(map(axis_words, self.axes))
        return f"{DEPENDS} {names} ({self.reason})"

    @property
    def reason(self) -> str:
        """``less as configured, more with measured``."""
        return self._reason(named=len(self.axes) > 1)

    @property
    def by_axis(self) -> str:
        """``less as configured, more with power model measured``."""
        return self._reason(named=True)

    def _reason(self, *, named: bool) -> str:
        """:param named: whether each value has its axis before it."""
        values: dict[str, list[str]] = {}
        for axis, value, word in self.differing:
            shown = f"{axis_words(axis)} {value}" if named else value
            values.setdefault(printed(word), []).append(shown)
        others = (f"{word} with {', '.join(some)}" for word, some in values.items())
        return ", ".join([f"{printed(self.asked)} {AS_ASKED}", *others])


def overall(asked: str, words: Iterable[tuple[str, str, str]]) -> Overall:
    """The joint answer of the asked values and of others, as (axis, value, word).

    Without a test of the asked values, it depends on nothing.
    """
    differing = tuple(word for word in words if asked not in (word[2], NO_TEST))
    return Overall(DEPENDS if differing else asked, asked, differing)


def over_all(verdict: Verdict, assumed: Sequence[Assumed]) -> Verdict:
    """``verdict`` if every value gives it, else `DEPENDS`; likewise those of known-bad variants.

    With too few seeds there is none, and so none that could depend on anything.
    """
    if verdict.seeds < ENOUGH_FOR_VERDICT:
        return verdict
    key = verdict.variant, verdict.statement
    others = [(at.axis, at.value, found) for at in assumed if (found := at.verdict(*key))]
    joint = overall(verdict.verdict, [(axis, value, at.verdict) for axis, value, at in others])
    known_bad = {
        name: overall(
            word, [(axis, value, at.known_bad.get(name, word)) for axis, value, at in others]
        ).word
        for name, word in verdict.known_bad.items()
    }
    also = tuple(name for name in verdict.also_shown_of if known_bad[name] == HOLDS)
    if joint.word == DEPENDS:
        also = ()
        verdict = replace(verdict, verdict=DEPENDS, reason=joint.reason, depends_on=joint.axes)
    return replace(verdict, known_bad=known_bad, also_shown_of=also)


def sign(difference: Difference) -> str:
    """The answer of the interval: `LESS`, `MORE`, `SAME`, or `NO_TEST` without an interval."""
    if difference.clear is None:
        return NO_TEST
    if not difference.clear:
        return SAME
    return MORE if difference.absolute > 0 else LESS


@dataclass(frozen=True)
class End:
    """An end of a range: the difference in percent, and the axis that gives it.

    :param axis: empty for the asked values.
    """

    percent: float
    axis: str = ""
    value: str = ""


def span(asked: float, others: Iterable[End]) -> tuple[End, End] | None:
    """The range of a difference in percent over all values; None if no other value changes it.

    Of equal ends the first one counts, and the asked values come before all others.
    """
    ends = [End(asked), *others]
    low, high = min(ends, key=lambda end: end.percent), max(ends, key=lambda end: end.percent)
    return None if low == high else (low, high)
