# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts in words, for the table, the report and pages."""

from __future__ import annotations

from collections.abc import Sequence

from eascope.analysis.claim import PERCENT
from eascope.analysis.measures.registry import Range
from eascope.analysis.ranges import cut, ranges_of
from eascope.analysis.records.verdict import (
    DEPENDS,
    HOLDS,
    LEVEL,
    REFUTED,
    UNDECIDED,
    Effect,
    Verdict,
)
from eascope.configs.knobs import axis_words


def printed(word: str) -> str:
    """A stored word as people read it: records and ``--json`` keep ``shown`` for ``holds``."""
    return "holds" if word == HOLDS else word


def details(verdict: Verdict) -> str:
    """The measured effect, the claimed range, and why there is no verdict, in one line."""
    parts = [
        f"{measured_words(effect, possible)}, claimed {stated_words(effect)}"
        for effect, possible in zip(verdict.effects, ranges_of(verdict), strict=True)
    ]
    if verdict.effects and (size := size_words(verdict)):
        parts.append(f"the source measured {size}")
    if not verdict.effects and verdict.met is not None:
        parts += [f"{left:.6g} against {right:.6g}" for left, right in verdict.sides]
    if verdict.seeds > 1:
        parts.append(f"true in {verdict.seeds_met} of {verdict.seeds} seeds")
    if verdict.level != LEVEL:
        parts.append(corrected_words(verdict.level))
    parts += pairing(verdict)
    if verdict.reason:
        parts.append(verdict.reason)
    if verdict.also_shown_of:
        names = ", ".join(verdict.also_shown_of)
        parts.append(f"not counted: also holds for {names}, where it should fail")
    return "; ".join(parts)


def corrected_words(level: float) -> str:
    """``97.5 % intervals (corrected for 2 tests)``: an interval's level, and what makes it so."""
    tests = round((1 - LEVEL) / (1 - level))
    return f"{100 * level:.4g} % intervals (corrected for {tests} tests)"


def counts(verdicts: Sequence[Verdict]) -> str:
    """``2 hold, 1 refuted, 3 undecided``; those that do not discriminate are not counted."""
    counted = [verdict.verdict for verdict in verdicts if not verdict.also_shown_of]
    words = {HOLDS: "hold", REFUTED: REFUTED, UNDECIDED: UNDECIDED}
    more = {
        "not counted": len(verdicts) - len(counted),
        f"{DEPENDS} a model axis": counted.count(DEPENDS),
    }
    numbers = [f"{counted.count(of)} {word}" for of, word in words.items()]
    return ", ".join([*numbers, *(f"{count} {word}" for word, count in more.items() if count)])


def word(verdict: Verdict) -> str:
    """``holds``, or ``depends on idle entry/exit power``."""
    axes = " and ".join(map(axis_words, verdict.depends_on))
    return f"{printed(verdict.verdict)} {axes}".rstrip()


def short(verdict: Verdict) -> str:
    """``holds: 0.4 against 131.1, -99.7 % (-99.8 .. -99.6)``, and why it is undecided."""
    effect = ""
    if verdict.effects:
        effect = f": {measured_words(verdict.effects[0], ranges_of(verdict)[0])}"
        if verdict.effects[0].relative and verdict.sides:
            left, right = verdict.sides[0]
            effect = f": {left:.4g} against {right:.4g},{effect[1:]}"
    return f"{word(verdict)}{effect}{f', {verdict.reason}' if verdict.reason else ''}"


def size_words(verdict: Verdict) -> str:
    """The size that the source measured, ``+18.5 %``; ``no difference`` for zero."""
    effect = verdict.effects[verdict.size_of - 1]
    if verdict.size_percent is None and verdict.size is None:
        return ""
    if verdict.size_percent is None:
        return f"{verdict.size:g}{_unit(effect)}"
    if effect.relative and verdict.size_percent == 0:
        return "no difference"
    return f"{verdict.size_percent:{'+' if effect.relative else ''}g} %"


def measured_words(effect: Effect, possible: Range) -> str:
    """``+0.8 % (-2.5 .. +3.7)``; ends that no run can have are cut to what is possible."""
    unit = _unit(effect)
    value = f"{_number(effect.value, effect)}{unit}"
    if effect.low is None or effect.high is None:
        return value
    low, high = (_number(cut(end, possible), effect) for end in (effect.low, effect.high))
    return f"{value} ({low} .. {high})"


def stated_words(effect: Effect) -> str:
    """``> 0 %``, ``< 5 %`` or ``within 2 %``."""
    low, high = effect.stated
    unit = _unit(effect)
    if low is not None and high is not None:
        return f"within {high:g}{unit}"
    if low is not None:
        return f"> {low:g}{unit}"
    return f"< {high:g}{unit}"


def pairing(verdict: Verdict) -> list[str]:
    """``paired by seed (correlation 0.62)``, for the primary effect that is."""
    for effect in verdict.effects:
        if effect.paired and effect.correlation is not None:
            return [f"paired by seed (correlation {effect.correlation:.2f})"]
    return []


def _unit(effect: Effect) -> str:
    """As it stands after a number: `` mJ``, ``/s``."""
    return "/s" if effect.unit == "1/s" else f" {effect.unit}" if effect.unit else ""


def _number(value: float, effect: Effect) -> str:
    sign = "+" if effect.relative else ""
    text = f"{value:{sign}.1f}" if effect.unit == PERCENT else f"{value:{sign}.4g}"
    return text if float(text) != 0 else text.lstrip("+-")
