# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison at a glance: the answer and its evidence in at most `LINES` lines.

Everything else is in `analysis.compare_text` (``--all``) and in the report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eascope.analysis.answer import answers, entries
from eascope.analysis.compare import Comparison, Line
from eascope.analysis.compare_text import floor_words, head, number, signed, text
from eascope.analysis.statistics import ENOUGH
from eascope.analysis.verdict_text import short
from eascope.analysis.warnings import warnings
from eascope.host.record import Record
from eascope.host.table import Table

#: Lines, however many variants there are, with the two below that say where figures and report are.
LINES = 27
_BELOW = 2
#: Lines of `warnings` that are shown.
NOTED = 3
PERCENTILES = ("p50", "p95", "p99")
#: Tasks whose latencies are shown however many expectations there are.
_FEWEST_TASKS = 2


def glance(comparison: Comparison) -> str:
    """The answer, the head, the leading measures and the expectations as text."""
    return glance_text(glance_of(comparison))


def glance_of(comparison: Comparison) -> Glance:
    """The answer, the head, the leading measures and the expectations as data."""
    leading = _leading(comparison)
    answer, run = _answer(comparison, len(leading)), head(comparison)
    tasks = [row for task in comparison.tasks if (row := _latency(comparison, task))]
    expected = [
        f"claim ({verdict.variant}): {verdict.statement} -- {short(verdict)}"
        for verdict in comparison.verdicts
    ]
    # An empty line stands before and after what was run.
    room = _ROOM - len(answer) - len(run) - 2 - len(leading)
    kept = min(len(expected), max(room - min(len(tasks), _FEWEST_TASKS), 1))
    named = min(len(tasks), max(room - kept, 1))
    left_out = [(len(tasks) - named, "task"), (len(expected) - kept, "claim")]
    return Glance(
        answers=tuple(answer),
        run=tuple(run),
        names=tuple(comparison.names),
        rows=(*leading[:1], *tasks[:named], *leading[1:]),
        expected=tuple(expected[:kept]),
        note=_note(comparison, left_out),
        noise=comparison.noise is not None,
    )


def glance_text(shown: Glance) -> str:
    """What ``eascope compare`` prints of it."""
    above = [*shown.answers, "", *shown.run, ""]
    return "\n".join([*above, *_table(shown, shown.rows), *_below(shown)]) + "\n"


def _table(shown: Glance, rows: Sequence[GlanceRow]) -> list[str]:
    further = shown.names[1:]
    heads = ["", "unit", *shown.names]
    heads += ["diff"] if len(further) == 1 else [f"{name} diff" for name in further]
    heads += ["noise floor"] if shown.noise else []
    return Table.of(heads, [_cells(shown, row) for row in rows], left=2).text().splitlines()


def _cells(shown: Glance, row: GlanceRow) -> list[str]:
    """The texts of a row, with ``/`` between the values of several measures."""
    cells = [row.label, row.unit]
    for name in shown.names:
        means = (measure.means.get(name) for measure in row.measures)
        cells.append("/".join(number(mean, row.digits) for mean in means))
    for name in shown.names[1:]:
        differences = (measure.differences.get(name) for measure in row.measures)
        cells.append(
            "/".join(_difference_text(difference, row.digits) for difference in differences)
        )
    if shown.noise:
        cells.append("/".join(floor_words(measure.floor, row.digits) for measure in row.measures))
    return cells


def _difference_text(difference: GlanceDifference | None, digits: int) -> str:
    if difference is None:
        return "-"
    text = signed(difference.absolute, digits)
    # A difference below the last digit printed is none that a person could read.
    return f"{text}*" if difference.starred and float(text) != 0 else text


def _below(shown: Glance) -> list[str]:
    return [*(["", *shown.expected] if shown.expected else []), shown.note]


#: Lines that may stand above the table and in it: its heads, an empty line before the expectations
#: and the note are not among them.
_ROOM = LINES - _BELOW - 3


def _answer(comparison: Comparison, leading: int) -> list[str]:
    """The answer and lines of `warnings`, as many as there is room for."""
    noted = warnings(comparison)
    # What was run has an empty line before and after it. A task and an expectation are shown in
    # any case, and the first of what is noted.
    free = _ROOM - len(head(comparison)) - 2 - leading - 2
    first = _whole(entries(comparison), free - min(len(noted), 1))
    return [*first, *_first(noted, min(free - len(first), NOTED + 1))]


def _whole(answers: list[list[str]], room: int) -> list[str]:
    """The first of ``answers``, each with what it is made of, and how many more there are.

    One of them in any case. Lines beyond the second stand where there is room for all.
    """
    shown = [answer[:2] for answer in answers]
    kept = max(1, min(len(shown), NOTED))
    while kept > 1 and sum(map(len, shown[:kept])) + (kept < len(shown)) > room:
        kept -= 1
    if kept == len(answers) and sum(map(len, answers)) <= room:
        shown = answers
    lines = [line for answer in shown[:kept] for line in answer]
    more = len(answers) - kept
    return [*lines, f"{more} more variants: see --all"] if more else lines


def _first(lines: list[str], room: int) -> list[str]:
    """The first of the warnings, and how many more there are; one of them in any case."""
    if len(lines) <= min(room, NOTED) or len(lines) < 2:
        return lines
    kept = max(min(room - 1, NOTED), 1)
    return [*lines[:kept], f"{len(lines) - kept} more warnings: see --all"]


def everything(comparison: Comparison) -> str:
    """The answer, then every measure, all values by seed, expectations with their sources."""
    return "\n".join([*answers(comparison), *warnings(comparison), "", text(comparison)])


def _leading(comparison: Comparison) -> list[GlanceRow]:
    """The rows of `leading_lines`."""
    rows = []
    for line in leading_lines(comparison):
        placed = line.row.group == "placement"
        label = line.row.label if placed else f"{line.row.group}, {line.row.label}"
        rows.append(_row(comparison, label, [line]))
    return rows


def leading_lines(comparison: Comparison) -> list[Line]:
    """Energy, missed deadlines, placement, frequency: what every comparison has."""
    clusters = [cluster.name for cluster in comparison.platform.clusters]
    paths: list[tuple[str, ...]] = [comparison.total.row.path]
    if comparison.primary is not comparison.total:
        paths.append(comparison.primary.row.path)
    paths.append(("missed_deadlines",))
    paths += [("work_share", name) for name in clusters[1:]]
    paths += [("migrations",), ("overutilized_share",)]
    paths += [("mean_mhz", name) for name in clusters]
    return [line for path in paths if (line := comparison.line(*path)) is not None]


def _latency(comparison: Comparison, task: str) -> GlanceRow | None:
    """Three percentiles of a task's wake-up latency, in one row; None where it never woke up."""
    lines = [comparison.line("latency_us", task, name) for name in PERCENTILES]
    known = [line for line in lines if line is not None]
    return (
        _row(comparison, f"wake-up latency of {task}, {'/'.join(PERCENTILES)}", known)
        if known
        else None
    )


def _row(comparison: Comparison, label: str, lines: Sequence[Line]) -> GlanceRow:
    """One row of one measure or of several."""
    first = lines[0].row
    counts = first.digits == 0 and len(comparison.seeds) > 1
    return GlanceRow(
        label=label,
        unit=first.unit,
        digits=1 if counts else first.digits,
        measures=tuple(_measure(comparison, line) for line in lines),
    )


def _measure(comparison: Comparison, line: Line) -> GlanceMeasure:
    means = {name: line.mean(name) for name in comparison.names}
    return GlanceMeasure(
        measure=line.row.measure,
        means={name: mean for name, mean in means.items() if mean is not None},
        differences={
            name: GlanceDifference(difference.absolute, comparison.starred(line, name))
            for name, difference in line.differences.items()
        },
        floor=comparison.noise.floor(line.row) if comparison.noise else None,
    )


def _note(comparison: Comparison, left_out: list[tuple[int, str]]) -> str:
    """The meaning of the star, and where the remaining output is."""
    few = len(comparison.seeds) < ENOUGH
    star = "" if few else "*: significant at 95 % after correction for multiple comparisons. "
    words = [f"{count} more {name}{'s' if count > 1 else ''}" for count, name in left_out if count]
    every = " and ".join(["every measure", *words])
    report = "; references are in the report" if len(comparison.names) > 1 else ""
    return f"{star}--all prints {every}{report}."


@dataclass(frozen=True)
class GlanceDifference(Record):
    """A further variant's mean minus the baseline's, in the row's unit.

    :param starred: whether its interval excludes zero, corrected for the number of rows.
    """

    absolute: float
    starred: bool = False


@dataclass(frozen=True)
class GlanceMeasure(Record):
    """One measure, in the row's unit.

    :param measure: its dotted path in ``result.json``.
    :param means: over seeds, by variant; a variant that does not give it is left out.
    :param floor: what a difference must exceed to be more than noise, where that is known.
    """

    measure: str
    means: Mapping[str, float]
    differences: Mapping[str, GlanceDifference] = field(default_factory=dict)
    floor: float | None = None


@dataclass(frozen=True)
class GlanceRow(Record):
    """A row of the table: one measure, or several of the same task."""

    label: str
    unit: str
    digits: int
    measures: tuple[GlanceMeasure, ...]


@dataclass(frozen=True)
class Glance(Record):
    """What answers the question of a comparison.

    :param answers: the answer in sentences, then what a reader must know before any value.
    :param names: variants, the baseline first.
    :param note: what the star means, and what was left out.
    :param noise: whether the noise floor is known.
    """

    answers: tuple[str, ...]
    run: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[GlanceRow, ...]
    expected: tuple[str, ...]
    note: str
    noise: bool = False
