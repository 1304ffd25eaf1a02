# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5's files: what the guest sent in pieces, rows as parquet, marks, its own statistics."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars as pl

from eascope.engines.files import write_counters
from eascope.engines.gem5.inside.request import ROWS_BIN, ROWS_JSON, SCHEMA
from eascope.engines.records import COUNTERS, MARKS, Mark, write_marks
from eascope.host.errors import EascopeError
from eascope.host.record import Record

#: What the agent calls a piece of a file.
_PIECE = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)@(\d+)")
STATISTICS = "stats.txt"
#: Columns that are whole numbers: ns, kHz, uV, counts.
_INTEGERS = (
    *("t0_ns", "t1_ns", "khz", "uv", "cycles", "instructions"),
    *("on_ns", "gated_ns", "off_ns"),
)


@dataclass(frozen=True)
class Rows(Record):
    """``rows.json``, as `engines.gem5.inside.request.RowsRecord` has it.

    :param marks: number of each mark, and ns since power-on.
    :param transitions: OPP requests (gem5 counts none) and completed changes by cluster.
    """

    schema_read: ClassVar[int] = SCHEMA

    schema: int
    columns: tuple[str, ...]
    rows: int
    marks: tuple[tuple[int, int], ...]
    transitions: Mapping[str, tuple[int | None, int]]
    instructions: int


def join_pieces(folder: Path, out: Path) -> list[str]:
    """Put the guest's files together from the pieces in ``folder``; their names.

    :raises EascopeError: when a piece is missing between two others, or lies over another.
    """
    pieces: dict[str, list[tuple[int, Path]]] = {}
    for path in folder.iterdir():
        if match := _PIECE.fullmatch(path.name):
            pieces.setdefault(match[1], []).append((int(match[2]), path))
    for name, parts in sorted(pieces.items()):
        end = 0
        with (out / name).open("wb") as stream:
            for offset, path in sorted(parts):
                if offset < end:
                    raise EascopeError(f"the guest's {name}: two pieces at {offset}")
                stream.seek(offset)
                stream.write(path.read_bytes())
                end = stream.tell()
    return sorted(pieces)


def read_rows(folder: Path) -> tuple[pl.DataFrame, Rows]:
    """The window's rows as run.py left them, and what it says about them.

    All columns are numbers with fractions: gem5's times are in ps.

    :raises EascopeError: when there was no window, or the files do not fit each other.
    """
    for name in (ROWS_JSON, ROWS_BIN):
        if not (folder / name).is_file():
            raise EascopeError(f"gem5 left no {name}: no window")
    record = Rows.read(folder / ROWS_JSON)
    columns = record.columns
    data: array[float] = array("d")
    try:
        data.frombytes((folder / ROWS_BIN).read_bytes())
    except ValueError as error:
        raise EascopeError(f"{ROWS_BIN}: not readable: {error}") from error
    if len(data) != record.rows * len(columns):
        raise EascopeError(
            f"{ROWS_BIN}: {len(data)} numbers: allowed: {record.rows} rows of {len(columns)} "
            "columns"
        )
    return (
        pl.DataFrame({name: data[place :: len(columns)] for place, name in enumerate(columns)}),
        record,
    )


def whole_numbers(table: pl.DataFrame) -> pl.DataFrame:
    """Rows as ``counters.parquet`` has them: counts are whole, and times are whole ns.

    Times are cut, as those of the marks are, so windows and rows meet exactly.
    """
    return table.with_columns(
        pl.col(name).floor().cast(pl.Int64)
        if name.endswith("_ns")
        else pl.col(name).round().cast(pl.Int64)
        for name in _INTEGERS
        if name in table.columns
    ).with_columns(pl.col("cluster", "cpu").cast(pl.Int32))


def save_counters(folder: Path, out: Path) -> Rows:
    """``counters.parquet`` from the rows in ``folder``; what run.py says about them."""
    table, record = read_rows(folder)
    rows = whole_numbers(table).sort("cluster", "t0_ns", "cpu")
    write_counters(rows, out / COUNTERS)
    return record


def save_marks(folder: Path, out: Path, record: Rows) -> None:
    """``marks.json``: when each mark was set, by gem5's clock and by the guest's."""
    marks = []
    for ident, at_ns in record.marks:
        written = folder / f"mark-{ident}"
        if not written.is_file():
            raise EascopeError(f"the guest set mark {ident} without a time")
        marks.append(Mark(ident, at_ns, int(written.read_text())))
    write_marks(marks, out / MARKS)


def save_statistics(folder: Path, out: Path) -> None:
    """gem5's own text of the window, without what depends on the host."""
    path = folder / STATISTICS
    if not path.is_file():
        return
    with path.open(errors="replace") as lines, (out / STATISTICS).open("w") as kept:
        kept.writelines(line for line in lines if not line.startswith("host"))
