# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of the scoreboard: the parts for its notes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from analysis.claim import ABSOLUTE, DIFFERENCE, EQUIVALENCE, PERCENT
from analysis.ranges import cut, range_of_effect
from analysis.records.verdict import REFUTED, SHOWN, UNDECIDED
from analysis.results.hardware import (
    CLOSE,
    FACTOR,
    FOUND,
    FOUND_ELSEWHERE,
    NOT_FOUND,
    Counts,
    Hardware,
    Measured,
    Quantified,
)
from analysis.rows import Range
from analysis.statement import parse
from host.table import Table
from studies.drawing import Drawing
from studies.hardware.plan import NAME, SIGNS, SIZES
from studies.pages.page import change_text

_TODAY = "today's records"
_KINDS = {
    DIFFERENCE: "a difference with a sign",
    EQUIVALENCE: "no difference, within a margin",
    ABSOLUTE: "a level",
}


def parts(record: Hardware) -> dict[str, str]:
    """Markdown by the names that the notes use."""
    return {
        "answer": answer(record),
        "counts": _counts(record).markdown(),
        "scenarios": _scenarios(record),
        "kinds": _kinds(record).markdown(),
        "goals": _goals_table(record.counts).markdown(),
        "statements": _statements(record).markdown(),
        "not-compared": "\n".join(_not_compared(record)) or "None.",
        "not-simulated": "\n".join(
            f"* {each.who} ({each.board}): {each.states}. Missing: {each.missing}."
            for each in record.not_simulated
        ),
        "findings": _findings(record),
        "predictions": _predictions(record),
        "mutants": _mutants(record),
        "origin": record.origin.words,
    }


def _scenarios(record: Hardware) -> str:
    """``17 scenarios, and 7 texts have measured them``."""
    scenarios = {(each.page, each.scenario) for each in record.statements}
    sources = {each.measured.who for each in record.statements}
    return f"{len(scenarios)} scenarios, and {len(sources)} texts have measured them"


def answer(record: Hardware) -> str:
    """The counts, with disagreement and missed goals: for the page, and quoted by the README."""
    counts, differences = record.counts, record.by_kind[DIFFERENCE]
    missed = [f"{goal.words} ({goal.now})" for goal in _goals(counts) if not goal.met]
    return (
        f"the source's size lies outside our interval in {differences.outside} of "
        f"{differences.comparable} differences of one unit, and our mean has the source's sign in "
        f"{differences.by_means} of {differences.compared}. Of {counts.compared} figures of "
        f"sources, {counts.decided} {_are(counts.decided)} decided: {counts.shown} as stated "
        f"({differences.shown or 'none'} of them a difference), {counts.refuted} refuted. "
        f"{counts.left_out} more {_are(counts.left_out)} shown but not counted, because no "
        f"known-bad variant refutes them. {counts.opposite or 'None'} "
        f"{_are(max(counts.opposite, 1))} opposite to the stated effect. "
        f"Goals missed: {', '.join(missed) or 'none'}"
    )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _kinds(record: Hardware) -> Table:
    """Counts by kind of statement."""
    heads = ["kind", "figures", "source's size outside our interval"]
    heads += ["our mean has the source's sign", "shown", "refuted", "undecided"]
    heads += ["shown, not counted"]
    rows = []
    for kind, words in _KINDS.items():
        counts = record.by_kind[kind]
        signs = f"{counts.by_means} of {counts.compared}"
        sizes = f"{counts.outside} of {counts.comparable}"
        row = [words, counts.compared, *((sizes, signs) if kind == DIFFERENCE else ("-", "-"))]
        row += [counts.shown, counts.refuted, counts.undecided, counts.left_out]
        rows.append([str(cell) for cell in row])
    return Table.of(heads, rows, left=1)


def _counts(record: Hardware) -> Table:
    heads = ["records", "compared", "source's size outside our interval", "decided"]
    heads += ["sign right", "other sign shown"]
    heads += [f"size within a factor of {FACTOR:g}", f"within {100 * CLOSE:.0f} %"]
    heads += ["undecided", "shown, not counted", "as the source by means"]
    rows = [(f"{step.name} ({step.commit})", step.counts) for step in record.steps]
    return Table.of(
        heads,
        [_counts_row(name, counts) for name, counts in (*rows, (_TODAY, record.counts))],
        left=1,
    )


def _counts_row(name: str, counts: Counts) -> list[str]:
    row = [name, str(counts.compared), f"{counts.outside} of {counts.comparable}"]
    row += [str(counts.decided), f"{counts.right} of {counts.decided}", str(counts.opposite)]
    row += [f"{sizes} of {counts.sized}" for sizes in (counts.within_factor, counts.close)]
    return [*row, *map(str, (counts.undecided, counts.left_out, counts.by_means))]


@dataclass(frozen=True)
class _Goal:
    """A goal, how far it is reached, and whether it is met."""

    words: str
    now: str
    met: bool


def _goals(counts: Counts) -> list[_Goal]:
    """The goals; a share of nothing meets none."""
    signs, sizes = counts.right, counts.within_factor
    return [
        _Goal(
            f"at least {100 * SIGNS:.0f} % of the decided have the source's sign",
            f"{signs} of {counts.decided}",
            counts.decided > 0 and signs >= SIGNS * counts.decided,
        ),
        _Goal("none shows the other sign", str(counts.opposite), counts.opposite == 0),
        _Goal(
            f"at least {100 * SIZES:.0f} % of the decided sizes within a factor of {FACTOR:g}",
            f"{sizes} of {counts.sized}",
            counts.sized > 0 and sizes >= SIZES * counts.sized,
        ),
    ]


def _goals_table(counts: Counts) -> Table:
    rows = [(goal.words, goal.now, "met" if goal.met else "missed") for goal in _goals(counts)]
    return Table.of(["goal", "now", ""], rows, left=1)


def _statements(record: Hardware) -> Table:
    heads = ["scenario", "of", "source", "who measured, board", "theirs", "ours", "ratio"]
    heads += ["verdict", "runs"]
    return Table.of(heads, [_row(each) for each in record.statements], left=4)


def _row(each: Quantified) -> list[str]:
    words = {SHOWN: "shown", REFUTED: "**refuted**", UNDECIDED: "undecided"}[each.verdict]
    if each.left_out:
        words += ", not counted"
    if each.opposite:
        words += ", **other sign**"
    return [
        f"[{each.scenario}]({each.page}.md#{_anchor(each.scenario)})",
        f"{each.variant}: `{each.statement}`",
        each.source,
        _who(each.measured),
        _figure(each.theirs, each, of=each.theirs_unit),
        _ours(each),
        "-" if each.ratio is None else f"{each.ratio:.2f}",
        words,
        f"{each.measured.platform}{' (stands in)' if each.measured.stand_in else ''}, "
        f"{each.conditions}, {each.seeds} seeds",
    ]


def _anchor(scenario: str) -> str:
    """Of the scenario's heading on its page."""
    return scenario.replace("/", "")


def _who(measured: Measured) -> str:
    name = f"[{measured.who}]({measured.url})" if measured.url else measured.who
    return f"{name}, {measured.board}"


def _ours(each: Quantified) -> str:
    if each.ours is None:
        return "not kept"
    if each.low is None or each.high is None:
        return _figure(each.ours, each, of=each.unit)
    possible = _possible(each)
    low, high = (_number(cut(end, possible), each, each.unit) for end in (each.low, each.high))
    return f"{_figure(each.ours, each, of=each.unit)} ({low} .. {high})"


def _possible(each: Quantified) -> Range:
    """What ours can be, where the statement has one part."""
    parts = parse(each.statement).parts
    if len(parts) > 1:
        return -math.inf, math.inf
    return range_of_effect(parts[0], each.unit, relative=each.relative)


def _figure(value: float, each: Quantified, *, of: str) -> str:
    return f"{_number(value, each, of)} {of}".rstrip()


def _number(value: float, each: Quantified, unit: str) -> str:
    sign = "+" if each.relative and value else ""
    return f"{value:{sign}.1f}" if unit == PERCENT else f"{value:{sign}.3g}"


def _not_compared(record: Hardware) -> Iterator[str]:
    for each in record.not_compared:
        yield (
            f"* {each.scenario}, {each.variant}: `{each.statement}`. Source: {each.source} "
            f"({each.measured.who}). Why: {each.why}."
        )


def _mutants(record: Hardware) -> str:
    """How many statements fail where they must, and those that do not."""
    if not record.mutants:
        return "None yet: no record has runs of such variants."
    words = [each.verdict for each in record.mutants]
    counted = ", ".join(f"{words.count(word)} {word}" for word in (REFUTED, UNDECIDED, SHOWN))
    survivors = [
        f"* {each.scenario} on {each.platform}, {each.variant}: `{each.statement}` is shown of "
        f"{each.known_bad}, too: it decides nothing there."
        for each in record.mutants
        if each.verdict == SHOWN
    ]
    return "\n".join([f"{len(words)} judged: {counted}.", *(["", *survivors] if survivors else [])])


def _findings(record: Hardware) -> str:
    """How many figures that are not shown are explained by traces."""
    words = [each.finding for each in record.statements if each.verdict != SHOWN]
    explained, elsewhere, none = map(words.count, (FOUND, FOUND_ELSEWHERE, NOT_FOUND))
    return (
        f"Of {len(words)} figures that are not shown, findings from traces of such runs explain "
        f"{explained}. For {elsewhere} there is only a finding on runs under other conditions, "
        f"for {none} there is none"
    )


def _predictions(record: Hardware) -> str:
    if not record.predictions:
        return "None yet: no record has them."
    heads = ["scenario", "platform", "variant", "of mainline's (%)", "statements of the source"]
    rows = [
        (
            *(each.scenario, each.platform, each.variant),
            f"{change_text(each.change)}{f' ({each.label})' if each.change else ''}",
            "; ".join(each.statements) or "-",
        )
        for each in record.predictions
    ]
    return Table.of(heads, rows, left=3).markdown()


DRAWINGS = {NAME: Drawing(Hardware, parts)}
