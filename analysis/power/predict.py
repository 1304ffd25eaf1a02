"""``eascope power predict``: rows of a data set's form, with the power of the model."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TextIO

from analysis.power.measurements import read_rows
from configs.host.errors import bad_input
from configs.power.counted import load_calibration

COLUMN = "power_w"


def predict(core: str, source: Path, out: TextIO) -> int:
    """Write the rows of the CSV file ``source`` to ``out`` with a column ``power_w``; their number.

    The columns that the core's mapping names must be there (frequency in MHz, supply in V,
    temperature in degrees Celsius, event rates per second and CPU); measured power need not be.

    :raises RequestError: when a column is missing or a figure is no number.
    """
    calibration = load_calibration(core)
    rows = read_rows(source)
    columns = list(rows[0])
    if COLUMN in columns:
        raise bad_input(str(source), "columns", COLUMN, "a file without this column")
    powers = [
        sum(calibration.parts_w(row, source.name, line).values())
        for line, row in enumerate(rows, start=2)
    ]
    writer = csv.DictWriter(out, [*columns, COLUMN], lineterminator="\n")
    writer.writeheader()
    for row, power in zip(rows, powers, strict=True):
        writer.writerow({**row, COLUMN: f"{power:.6f}"})
    return len(rows)
