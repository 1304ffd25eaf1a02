# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign's tables as CSV: every measure of every cell, or differences along an axis."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from eascope.analysis.figures import axis as figure
from eascope.analysis.figures import style
from eascope.experiments.sweeps import differences, long_table
from eascope.experiments.sweeps.differences import AxisDifference, other_work, place_of
from eascope.experiments.sweeps.long_table import MeasuredCell, axes_of, measured
from eascope.experiments.sweeps.survey import Survey
from eascope.host.cache import sha256_bytes, write_atomic
from eascope.host.errors import RequestError
from eascope.host.proc import say
from eascope.host.writing import writing_into


def plain(survey: Survey, wanted: Collection[str]) -> list[str]:
    """Lines of the long table.

    :raises RequestError: a measure of ``wanted`` that no cell gives.
    """
    cells = _cells(survey, wanted)
    heads = [*axes_of(survey), *long_table.COLUMNS]
    return _csv([heads, *(cell.cells() for cell in cells)])


def against(
    survey: Survey, axis: str, wanted: Collection[str]
) -> tuple[list[str], list[AxisDifference]]:
    """Lines of the differences along ``axis``, and the differences themselves.

    :raises RequestError: an unknown axis, or a measure that no cell gives.
    """
    campaign = survey.campaign
    place = place_of(campaign, axis)
    if other_work(campaign, axis):
        say(
            f"  values of {axis} may stand for different work in the same microseconds: "
            'reference = "CORE@MHZ" in the campaign, or --reference, counts the same work'
        )
    first = campaign.axes[place].choices[0].label
    rows = list(differences.differences(_cells(survey, wanted), place, first))
    if not rows:
        raise RequestError(
            f"--against {axis}: no cell of {first!r} is done for the seeds of another value: "
            "run eascope sweep first"
        )
    heads = [*axes_of(survey), *differences.COLUMNS]
    return _csv([heads, *(row.cells() for row in rows)]), rows


def _cells(survey: Survey, wanted: Collection[str]) -> list[MeasuredCell]:
    cells = list(measured(survey, wanted))
    given = {cell.measure for cell in cells}
    for name in wanted:
        if name not in given:
            raise RequestError(
                f"--measure {name}: allowed: a measure that the campaign's runs give "
                "(docs/reference/measures.md)"
            )
    return cells


def _csv(lines: Iterable[Sequence[str]]) -> list[str]:
    texts = []
    for line in lines:
        stream = io.StringIO()
        csv.writer(stream, lineterminator="\n").writerow(line)
        texts.append(stream.getvalue())
    return texts


#: Columns of the tables that are numbers, in JSON; an empty one is null.
_WHOLE = ("seed", "seeds")
_NUMBERS = ("value", "baseline", "difference", "percent", "low", "high", "p")


def as_objects(lines: Sequence[str], axes: int) -> list[dict[str, Any]]:
    """A table as objects for JSON, by its heads.

    :param axes: how many columns at the beginning are axes, whose values are texts.
    """
    heads, *rows = csv.reader(lines)
    return [
        {
            head: text if place < axes else _figure(head, text)
            for place, (head, text) in enumerate(zip(heads, row, strict=True))
        }
        for row in rows
    ]


def _figure(head: str, text: str) -> str | int | float | None:
    if head in _WHOLE:
        return int(text)
    if head in _NUMBERS:
        return float(text) if text else None
    return text


def draw_once(name: Path, lines: Sequence[str], rows: list[AxisDifference], measure: str) -> bool:
    """Draw the differences as ``NAME.svg`` and ``NAME.pdf``; False: they are there already.

    ``NAME.table`` has the digest of the table that they were drawn from.

    :raises EascopeError: when they cannot be written.
    """
    digest = sha256_bytes("".join(lines).encode()).encode() + b"\n"
    note = name.with_name(f"{name.name}.table")
    ends = (".svg", ".pdf")
    whole = all(name.with_name(f"{name.name}{end}").is_file() for end in ends)
    if whole and note.is_file() and note.read_bytes() == digest:
        return False
    words = [(_words(row, rows), row.difference) for row in rows]
    with writing_into(name.parent), style.styled():
        note.unlink(missing_ok=True)
        drawing = figure.draw(words, f"against {rows[0].against}", measure)
        style.save(drawing, name.parent, name.name)
        write_atomic(note, digest)
    return True


def _words(row: AxisDifference, rows: Sequence[AxisDifference]) -> str:
    """The values of the axes that differ among ``rows``."""
    differing = [len({row.axes[place] for row in rows}) > 1 for place in range(len(row.axes))]
    kept = [value for value, differs in zip(row.axes, differing, strict=True) if differs]
    return ", ".join(kept) or ", ".join(row.axes[-1:])
