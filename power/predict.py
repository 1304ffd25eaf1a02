# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope power predict``: rows in the form of a data set, with the model's power."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from eascope.host.errors import bad_input
from eascope.host.table import Table
from eascope.power.counted import load_calibration
from eascope.power.measurements import read_rows

COLUMN = "power_w"


def predicted(core: str, source: Path) -> list[dict[str, Any]]:
    """The rows of the CSV file ``source``, their text as it is, with the model's ``power_w`` in W.

    The columns that the core's mapping names must be there (frequency in MHz, supply in V,
    temperature in degrees Celsius, event rates per second and CPU); measured power need not be.

    :raises RequestError: when a column is missing or a figure is no number.
    """
    calibration = load_calibration(core)
    rows = read_rows(source)
    if COLUMN in rows[0]:
        raise bad_input(str(source), "columns", COLUMN, "a file without this column")
    predictions = []
    for line, row in enumerate(rows, start=2):
        if None in row:
            raise bad_input(str(source), f"line {line}", row[None], "as many fields as the header")  # type: ignore[index]
        watts = sum(calibration.parts_w(row, str(source), line).values())
        predictions.append({**row, COLUMN: round(watts, 6)})
    return predictions


def write_csv(rows: Sequence[dict[str, Any]], out: TextIO) -> None:
    """Write ``rows`` of `predicted` as CSV, power with six decimals."""
    printed = [{**row, COLUMN: f"{row[COLUMN]:.6f}"} for row in rows]
    out.write(Table.of(list(rows[0]), [[row[name] for name in rows[0]] for row in printed]).csv())
