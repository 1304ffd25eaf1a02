# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison at a glance: what answers the question, in at most `LINES` lines.

Everything else is in `analysis.compare_text` (``--all``) and in the report.
"""

from __future__ import annotations

from analysis.answer import answers
from analysis.attention import attention
from analysis.compare import Comparison, Line
from analysis.compare_text import head, null_words, number, signed, text
from analysis.records.verdict import Verdict
from analysis.statistics import ENOUGH
from analysis.verdict_text import short
from host.table import Table

#: Lines, however many variants there are, with the two below that say where figures and report are.
LINES = 25
_BELOW = 2
#: Lines of `attention` that are shown.
NOTED = 3
PERCENTILES = ("p50", "p95", "p99")
#: Tasks whose latencies are shown however many expectations there are.
_FEWEST_TASKS = 2


def glance(comparison: Comparison) -> str:
    """The answer, what was run, the leading measures, the expectations."""
    leading = _leading(comparison)
    above = _above(comparison, len(leading))
    tasks = [row for task in comparison.tasks if (row := _latency(comparison, task))]
    expected = [_expectation(verdict) for verdict in comparison.verdicts]
    room = _ROOM - len(above) - len(leading)
    kept = min(len(expected), max(room - min(len(tasks), _FEWEST_TASKS), 1))
    named = min(len(tasks), max(room - kept, 1))
    heads = ["", "unit", *comparison.names]
    heads += [_head(comparison, name) for name in comparison.names[1:]]
    heads += ["noise floor"] if comparison.noise else []
    table = Table.of(heads, [*leading[:1], *tasks[:named], *leading[1:]], left=2)
    left_out = [(len(tasks) - named, "task"), (len(expected) - kept, "expectation")]
    below = [*(["", *expected[:kept]] if expected else []), _note(comparison, left_out)]
    return "\n".join([*above, *table.text().splitlines(), *below]) + "\n"


#: Lines that may stand above the table and in it: its heads, an empty line before the expectations
#: and the note are not among them.
_ROOM = LINES - _BELOW - 3


def _above(comparison: Comparison, leading: int) -> list[str]:
    """The answer and lines of `attention`, as many as there is room for, and what was run.

    :param leading: rows that the table has anyway.
    """
    noted, last = attention(comparison), ["", *head(comparison), ""]
    # A task and an expectation are shown in any case, and the first of what is noted.
    free = _ROOM - len(last) - leading - 2
    first = _first(answers(comparison), free - min(len(noted), 1), "variants")
    return [*first, *_first(noted, min(free - len(first), NOTED + 1), "such lines"), *last]


def _first(lines: list[str], room: int, words: str) -> list[str]:
    """The first of ``lines``, and how many more there are; one of them in any case."""
    if len(lines) <= min(room, NOTED) or len(lines) < 2:
        return lines
    kept = max(min(room - 1, NOTED), 1)
    return [*lines[:kept], f"and {len(lines) - kept} more {words}: --all"]


def everything(comparison: Comparison) -> str:
    """The answer, then every measure, all values by seed, expectations with their sources."""
    return "\n".join([*answers(comparison), *attention(comparison), "", text(comparison)])


def _head(comparison: Comparison, name: str) -> str:
    return "diff" if len(comparison.names) == 2 else f"{name} diff"


def _leading(comparison: Comparison) -> list[list[str]]:
    """Energy, missed deadlines, placement, frequency: the rows that every comparison has."""
    clusters = [cluster.name for cluster in comparison.platform.clusters]
    paths: list[tuple[str, ...]] = [comparison.total.row.path]
    if comparison.primary is not comparison.total:
        paths.append(comparison.primary.row.path)
    paths.append(("missed_deadlines",))
    paths += [("work_share", name) for name in clusters[1:]]
    paths += [("migrations",), ("overutilized_share",)]
    paths += [("mean_mhz", name) for name in clusters]
    rows = []
    for path in paths:
        line = comparison.line(*path)
        if line is not None:
            label = f"{line.row.group}, {line.row.label}"
            rows.append(_row(comparison, label, [line]))
    return rows


def _latency(comparison: Comparison, task: str) -> list[str] | None:
    """Three percentiles of a task's wake-up latency, in one row; None where it never woke up."""
    lines = [comparison.line("latency_us", task, name) for name in PERCENTILES]
    known = [line for line in lines if line is not None]
    return _row(comparison, f"latency of {task}, {'/'.join(PERCENTILES)}", known) if known else None


def _row(comparison: Comparison, label: str, lines: list[Line]) -> list[str]:
    """One row of one measure or of several, with ``/`` between their values."""
    counts = lines[0].row.digits == 0 and len(comparison.seeds) > 1
    digits = 1 if counts else lines[0].row.digits
    cells = [label, lines[0].row.unit]
    cells += [
        "/".join(number(line.mean(name), digits) for line in lines) for name in comparison.names
    ]
    for name in comparison.names[1:]:
        cells.append("/".join(_difference(comparison, line, name, digits) for line in lines))
    if null := comparison.noise:
        cells.append("/".join(null_words(null, line.row, digits) for line in lines))
    return cells


def _difference(comparison: Comparison, line: Line, name: str, digits: int) -> str:
    difference = line.differences.get(name)
    if difference is None:
        return "-"
    text = signed(difference.absolute, digits)
    # A difference below the last digit printed is none that a person could read.
    return f"{text}*" if comparison.starred(line, name) and float(text) != 0 else text


def _expectation(verdict: Verdict) -> str:
    return f"expected of {verdict.variant}: {verdict.statement}: {short(verdict)}"


def _note(comparison: Comparison, left_out: list[tuple[int, str]]) -> str:
    """What the star means, what was left out, and where it is."""
    star = "*: excludes zero, corrected for all rows. " if len(comparison.seeds) >= ENOUGH else ""
    words = [f"{count} {name}{'s' if count > 1 else ''}" for count, name in left_out if count > 0]
    missing = f"Not shown: {', '.join(words)}. " if words else ""
    report = "; sources and findings are in the report" if len(comparison.names) > 1 else ""
    return f"{star}{missing}--all prints every measure{report}."
