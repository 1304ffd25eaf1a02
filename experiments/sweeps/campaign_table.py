# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign's tables: every measure of every cell, or differences along an axis.

The axis may be the platform, a topology, the variant or any other axis. So one table, and one
drawing, has all comparisons of a campaign.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eascope.analysis.difference import Difference, difference
from eascope.analysis.figures import axis as figure
from eascope.analysis.figures import style
from eascope.experiments.sweeps import long_table
from eascope.experiments.sweeps.campaign import Campaign, varied
from eascope.experiments.sweeps.long_table import MeasuredCell, measured
from eascope.experiments.sweeps.point import CONTROL
from eascope.experiments.sweeps.survey import Survey
from eascope.host.cache import sha256_bytes, write_atomic
from eascope.host.errors import RequestError, nearest
from eascope.host.proc import say
from eascope.host.writing import writing_into

#: Columns of differences after those of the axes.
COLUMNS = (
    *("against", "measure", "unit", "baseline", "difference", "percent", "low", "high"),
    *("seeds", "p"),
)
#: A value in a table; None is empty in CSV and null in JSON.
Value = str | int | float | None


@dataclass(frozen=True)
class Table:
    """A table; its first columns are the campaign's axes."""

    heads: Sequence[str]
    rows: Sequence[Sequence[Value]]

    @property
    def lines(self) -> list[str]:
        """The table as CSV, with all digits."""
        texts = []
        for row in (self.heads, *self.rows):
            stream = io.StringIO()
            csv.writer(stream, lineterminator="\n").writerow(row)
            texts.append(stream.getvalue())
        return texts

    @property
    def objects(self) -> list[dict[str, Any]]:
        """Its rows for JSON."""
        return [dict(zip(self.heads, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class AxisDifference:
    """A measure at one value of an axis, less the measure at the axis's first value.

    :param axes: the value of each axis, in words.
    :param against: the first value of the axis, with the measure's mean ``baseline``.
    :param difference: the difference over the seeds that both have.
    """

    axes: tuple[str, ...]
    against: str
    measure: str
    unit: str
    baseline: float
    difference: Difference

    @property
    def row(self) -> list[Value]:
        """A line of the table; empty where there is no interval."""
        diff = self.difference
        numbers = [self.baseline, diff.absolute, diff.percent, diff.low, diff.high]
        words = [*self.axes, self.against, self.measure, self.unit]
        return [*words, *map(_float, numbers), diff.seeds, _float(diff.p)]


def _float(number: float | None) -> float | None:
    return None if number is None else float(number)


def plain(survey: Survey, wanted: Collection[str]) -> Table:
    """The long table.

    :raises RequestError: a measure of ``wanted`` that no cell gives.
    """
    heads = [*_axes(survey), *long_table.COLUMNS]
    return Table(heads, [[*cell.axes, *cell[1:]] for cell in _cells(survey, wanted)])


def against(
    survey: Survey, axis: str, wanted: Collection[str]
) -> tuple[Table, list[AxisDifference]]:
    """The differences along ``axis`` as a table, and themselves.

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
    rows = list(differences(_cells(survey, wanted), place, first))
    if not rows:
        raise RequestError(
            f"--against {axis}: no cell of {first!r} is done for the seeds of another value: "
            "run eascope sweep first"
        )
    return Table([*_axes(survey), *COLUMNS], [row.row for row in rows]), rows


def _axes(survey: Survey) -> list[str]:
    return [axis.name for axis in survey.campaign.axes]


def _cells(survey: Survey, wanted: Collection[str]) -> list[MeasuredCell]:
    cells = list(measured(survey, wanted))
    given = {cell.measure for cell in cells}
    for name in wanted:
        if name not in given:
            near = nearest(name, {cell.measure for cell in measured(survey)})
            raise RequestError(
                f"--measure {name}{near}: expected a measure that the campaign's runs give "
                "(docs/reference/measures.md)"
            )
    return cells


def place_of(campaign: Campaign, axis: str) -> int:
    """The position of ``axis`` among the campaign's.

    :raises RequestError: there is none of this name, or it has one value.
    """
    known = varied(campaign.axes)
    axis = axis if axis in known else axis.removeprefix(CONTROL)
    if axis not in known:
        raise RequestError(
            f"--against {axis}: expected an axis of {campaign.file} with more than one value"
            + (f": {', '.join(known)}" if known else "; it has none")
        )
    return [axis.name for axis in campaign.axes].index(axis)


def other_work(campaign: Campaign, axis: str) -> bool:
    """True if values of ``axis`` may stand for different work in the same microseconds.

    A scenario's microseconds are those of the largest CPU at its top OPP, unless the campaign has a
    reference.
    """
    choices = next(one.choices for one in campaign.axes if one.name == axis)
    changes = any({"platform", "overrides"} & set(choice.sets) for choice in choices)
    return changes and "reference" not in dict(campaign.common.get("controls", {}))


def differences(cells: Sequence[MeasuredCell], place: int, first: str) -> Iterator[AxisDifference]:
    """Every measure at every value of an axis against the first, in the order of ``cells``.

    A measure that one of the two lacks, or has for other seeds, is left out.

    :param place: of the axis; ``first``: its first value.
    """
    values: dict[tuple[tuple[str, ...], str], dict[int, float]] = {}
    units: dict[str, str] = {}
    for cell in cells:
        values.setdefault((cell.axes, cell.measure), {})[cell.seed] = cell.value
        units[cell.measure] = cell.unit
    for (axes, measure), of_cell in values.items():
        if axes[place] == first:
            continue
        base = values.get(((*axes[:place], first, *axes[place + 1 :]), measure), {})
        seeds = sorted(base.keys() & of_cell.keys())
        if seeds:
            of_first = [base[seed] for seed in seeds]
            diff = difference(of_first, [of_cell[seed] for seed in seeds])
            mean = sum(of_first) / len(seeds)
            yield AxisDifference(axes, first, measure, units[measure], mean, diff)


def draw_once(name: Path, table: Table, rows: list[AxisDifference], measure: str) -> bool:
    """Draw the differences as ``NAME.svg`` and ``NAME.pdf``; False: they are there already.

    ``NAME.table`` has the digest of the table that they were drawn from.

    :raises EascopeError: when they cannot be written.
    """
    digest = sha256_bytes("".join(table.lines).encode()).encode() + b"\n"
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
