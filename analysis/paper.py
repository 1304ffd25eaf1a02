# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison as a table for a paper, a mail or a spreadsheet: a row per measure and variant."""

from __future__ import annotations

from collections.abc import Sequence

from eascope.analysis.answer import answers
from eascope.analysis.compare import Comparison, Line
from eascope.analysis.compare_text import number, signed
from eascope.analysis.glance import leading_lines
from eascope.analysis.ranges import possible_interval
from eascope.host.table import Table

#: Before a difference that is not significant.
UNDECIDED = "~"
NOTE = f"{UNDECIDED}: not significant, or too few seeds to tell."


def paper(comparison: Comparison, form: str, *, whole: bool) -> str:
    """The comparison as ``md``, ``csv`` or ``latex``."""
    lines = comparison.lines if whole else leading_lines(comparison) + latencies(comparison)
    table = paper_table(comparison, lines, mark=form != "csv")
    power = f"Energy: {comparison.power_model.name} power."
    return table.formatted(form, "\n".join(answers(comparison)[:1]), f"{NOTE} {power}")


def latencies(comparison: Comparison) -> list[Line]:
    """The p99 of the wake-up latency of each task."""
    lines = (comparison.line("latency_us", task, "p99") for task in comparison.tasks)
    return [line for line in lines if line is not None]


def paper_table(comparison: Comparison, lines: Sequence[Line], *, mark: bool) -> Table:
    """Means, the difference with its interval, in percent, and the number of seeds.

    :param mark: whether `UNDECIDED` stands before a difference; else a column says it.
    """
    heads = ["measure", "unit", "variant", comparison.baseline, "mean", "diff", "diff %"]
    rows = []
    for line in lines:
        digits = line.row.digits or int(len(comparison.seeds) > 1)
        for name in comparison.names[1:]:
            difference = line.differences.get(name)
            if difference is None:
                continue
            starred = comparison.starred(line, name)
            unsure = mark and not starred and difference.absolute != 0
            percent = None if line.row.unit == "%" else difference.percent
            ends = possible_interval(line.row, difference)
            rows.append(
                [
                    f"{line.row.group}, {line.row.label}",
                    *(line.row.unit, name),
                    *(number(line.mean(each), digits) for each in (comparison.baseline, name)),
                    f"{UNDECIDED if unsure else ''}{signed(difference.absolute, digits)}",
                    "" if percent is None else signed(percent, 1),
                    "" if ends is None else " .. ".join(signed(end, digits) for end in ends),
                    *(() if mark else ("yes" if starred else "no",)),
                    str(len(comparison.seeds)),
                ]
            )
    heads += ["95 % CI of diff", *(() if mark else ("significant",)), "n"]
    return Table.of(heads, rows, left=3)
