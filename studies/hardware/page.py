# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of the scoreboard: the parts for its notes."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.claim import PERCENT
from analysis.records.verdict import REFUTED, SHOWN, UNDECIDED
from analysis.results.hardware import CLOSE, FACTOR, Counts, Hardware, Measured, Quantified
from host.table import Table
from studies.drawing import Drawing
from studies.hardware.plan import NAME, SIGNS, SIZES
from studies.pages.page import change_text

_TODAY = "today's records"


def parts(record: Hardware) -> dict[str, str]:
    """Markdown by the names that the notes use."""
    return {
        "answer": answer(record),
        "counts": _counts(record).markdown(),
        "goals": _goals(record.counts).markdown(),
        "statements": _statements(record).markdown(),
        "not-compared": "\n".join(_not_compared(record)) or "None.",
        "not-simulated": "\n".join(
            f"* {each.who} ({each.board}): {each.states}. Missing: {each.missing}."
            for each in record.not_simulated
        ),
        "predictions": _predictions(record),
        "mutants": _mutants(record),
        "origin": record.origin.words,
    }


def answer(record: Hardware) -> str:
    """The counts in a sentence and another one on sizes, which the README quotes."""
    counts = record.counts
    verdicts = [each.verdict for each in record.statements]
    return (
        f"of {counts.compared} figures of sources, {counts.decided} "
        f"{'is' if counts.decided == 1 else 'are'} decided: {verdicts.count(SHOWN)} as stated, "
        f"{verdicts.count(REFUTED)} refuted. {_of_none(counts.opposite)} opposite to the "
        f"stated effect. Of {counts.sized} decided sizes, {_of_none(counts.within_factor).lower()} "
        f"within a factor of {FACTOR:g}"
    )


def _of_none(count: int) -> str:
    """``None is``, ``1 is``, ``3 are``."""
    return f"{count or 'None'} {'is' if count < 2 else 'are'}"


def _counts(record: Hardware) -> Table:
    heads = ["records", "compared", "decided", "sign right", "other sign shown"]
    heads += [f"size within a factor of {FACTOR:g}", f"within {100 * CLOSE:.0f} %"]
    heads += ["undecided", "of these as the source by means"]
    rows = [(f"{step.name} ({step.commit})", step.counts) for step in record.steps]
    return Table.of(
        heads,
        [_counts_row(name, counts) for name, counts in (*rows, (_TODAY, record.counts))],
        left=1,
    )


def _counts_row(name: str, counts: Counts) -> list[str]:
    row = [name, str(counts.compared), str(counts.decided), f"{counts.right} of {counts.decided}"]
    row.append(str(counts.opposite))
    row += [f"{sizes} of {counts.sized}" for sizes in (counts.within_factor, counts.close)]
    return [*row, str(counts.undecided), str(counts.as_source)]


def _goals(counts: Counts) -> Table:
    """The goals and whether they are met; a share of nothing meets no goal."""
    signs, sizes = counts.right, counts.within_factor
    rows = [
        (
            f"at least {100 * SIGNS:.0f} % of the decided have the source's sign",
            f"{signs} of {counts.decided}",
            _met(counts.decided > 0 and signs >= SIGNS * counts.decided),
        ),
        ("none shows the other sign", str(counts.opposite), _met(counts.opposite == 0)),
        (
            f"at least {100 * SIZES:.0f} % of the decided sizes within a factor of {FACTOR:g}",
            f"{sizes} of {counts.sized}",
            _met(counts.sized > 0 and sizes >= SIZES * counts.sized),
        ),
    ]
    return Table.of(["goal", "now", ""], rows, left=1)


def _met(yes: bool) -> str:
    return "met" if yes else "missed"


def _statements(record: Hardware) -> Table:
    heads = ["scenario", "of", "source", "who measured, board", "theirs", "ours", "ratio"]
    heads += ["verdict", "runs"]
    return Table.of(heads, [_row(each) for each in record.statements], left=4)


def _row(each: Quantified) -> list[str]:
    words = {SHOWN: "shown", REFUTED: "**refuted**", UNDECIDED: "undecided"}[each.verdict]
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
    low, high = (_number(end, each, each.unit) for end in (each.low, each.high))
    return f"{_figure(each.ours, each, of=each.unit)} ({low} .. {high})"


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
