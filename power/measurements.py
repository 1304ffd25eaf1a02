# SPDX-License-Identifier: GPL-2.0-or-later
"""Measurements for the calibration of models; they are not in the repository.

``EASCOPE_MEASUREMENTS`` names a folder of data sets. Results name the digest of the file that they
used.
"""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eascope.host.errors import RequestError, bad_input
from eascope.power.counted import CountedModel, load_calibration

VARIABLE = "EASCOPE_MEASUREMENTS"
#: The column that a prediction adds.
COLUMN = "power_w"
CSV = "expected a CSV file with a header"


@dataclass(frozen=True)
class Measurements:
    """Rows of a data set: measured watts, and the model's uncalibrated watts by group."""

    file: str
    sha256: str
    workload: np.ndarray
    megahertz: np.ndarray
    volts: np.ndarray
    celsius: np.ndarray
    copies: np.ndarray
    watts: np.ndarray
    raw: Mapping[str, np.ndarray]
    rates: Mapping[str, np.ndarray]

    def matrix(self, groups: Sequence[str]) -> np.ndarray:
        """Uncalibrated watts, a column for each of ``groups``."""
        return np.column_stack([self.raw[group] for group in groups])


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file with a header.

    :raises RequestError: when it cannot be read or has no rows.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise RequestError(f"{path}: {error.strerror}; {CSV}") from error
    except UnicodeDecodeError as error:
        raise RequestError(f"{path}: byte {error.start} is not UTF-8; {CSV}") from error
    if not rows:
        raise RequestError(f"{path}: no rows; {CSV}")
    return rows


def load_measured(model: CountedModel) -> Measurements:
    """The data set that ``model`` is calibrated with.

    :raises RequestError: when `VARIABLE` names no folder that has it.
    """
    folder = os.environ.get(VARIABLE, "")
    path = Path(folder, model.data)
    if not folder or not path.is_file():
        raise RequestError(f"{VARIABLE}: no {model.data}: set it to the folder of measurements")
    rows = read_rows(path)
    groups: dict[str, list[float]] = {group.name: [] for group in model.groups}
    for line, row in enumerate(rows, start=2):
        for name, watts in model.row(row, model.data, line).items():
            groups[name].append(watts)

    def column(key: str) -> np.ndarray:
        return np.array([float(row[model.columns[key]]) for row in rows])

    return Measurements(
        file=model.data,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        workload=np.array([row[model.columns["workload"]] for row in rows]),
        megahertz=column("megahertz"),
        volts=column("volts"),
        celsius=column("celsius"),
        copies=np.array([row[model.columns["mask"]].count(":") + 1 for row in rows]),
        watts=column("watts"),
        raw={name: np.array(values) for name, values in groups.items()},
        rates={
            name: model.cpus * np.array([float(row[rate.column]) for row in rows])
            for name, rate in model.rates.items()
            if rate.less is None
        },
    )


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
