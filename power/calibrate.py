# SPDX-License-Identifier: GPL-2.0-or-later
"""The calibration of a core with counted events: its factors, and every error that is published."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eascope.host.proc import Ending
from eascope.power.counted import CALIBRATED, CountedModel, counted_cores, load_counted
from eascope.power.measurements import Measurements, load_measured
from eascope.power.records import (
    Alternative,
    CalibrationInputs,
    CalibrationRecord,
    CrossedErrors,
    ErrorPair,
    FitErrors,
    FreeRegression,
    Uncalibrated,
    ordered_json,
)


def calibrate(core: str) -> CalibrationRecord:
    """Factors of ``core`` and their errors, as they are committed.

    :raises RequestError: when there is no mapping or no data.
    """
    model = load_counted(core)
    data = load_measured(model)
    fitted = [group.name for group in model.fitted]
    factors = fit(data.matrix(fitted), data.watts)
    every = [group.name for group in model.groups]
    uncalibrated = errors(data.matrix(every).sum(axis=1), data.watts)
    return CalibrationRecord(
        schema=1,
        core=core,
        inputs=CalibrationInputs(
            data=data.file,
            data_sha256=data.sha256,
            rows=len(data.watts),
            mapping_sha256=model.sha256,
            derived_sha256=model.power.sha256,
        ),
        factors={name: _digits(value) for name, value in zip(fitted, factors, strict=True)},
        errors=CrossedErrors(*_crossed(data, data.matrix(fitted), non_negative)),
        uncalibrated=Uncalibrated(
            mape=_digits(uncalibrated.mape),
            mean_error=_digits(uncalibrated.relative.mean() * 100),
            by_mhz=_by(uncalibrated, data.megahertz),
        ),
        alternatives={
            title: Alternative(
                _named(names, data, non_negative),
                *_crossed(data, _columns(data, names), non_negative),
            )
            for title, names in alternatives(model).items()
        },
        free_regression=FreeRegression(
            *_crossed(data, free_terms(data), unbounded), terms=free_terms(data).shape[1]
        ),
    )


def alternatives(model: CountedModel) -> dict[str, list[tuple[str, ...]]]:
    """Other sets of factors that were tried: title -> the groups that share each factor."""
    fitted: list[tuple[str, ...]] = [(group.name,) for group in model.fitted]
    left_out = [group.name for group in model.groups if group.left_out]
    tried = {"each left-out group with a factor of its own": [*fitted, *((n,) for n in left_out)]}
    tried |= {f"{name} with a factor of its own": [*fitted, (name,)] for name in left_out}
    if "integer" in left_out:
        tried["integer within back_end"] = [
            (*group, "integer") if group == ("back_end",) else group for group in fitted
        ]
    if "gate_leakage" in left_out:
        tried["gate_leakage within leakage"] = [
            (*group, "gate_leakage") if group == ("leakage",) else group for group in fitted
        ]
    tried["one factor for all of McPAT"] = [tuple(group.name for group in model.groups)]
    for name in (group.name for group in model.fitted):
        tried[f"without {name}"] = [group for group in fitted if group != (name,)]
    return tried


def free_terms(data: Measurements) -> np.ndarray:
    """Terms of a free regression: every rate and the clock with V^2, and leakage's V, V^3, V T.

    It knows nothing of McPAT and its factors may be negative: what the counters allow at best.
    """
    square = data.volts**2
    terms = [rate * square for rate in data.rates.values()]
    terms += [data.megahertz * square, data.volts, data.volts**3, data.volts * data.celsius]
    return np.column_stack(terms)


def _columns(data: Measurements, names: Sequence[tuple[str, ...]]) -> np.ndarray:
    return np.column_stack([sum(data.raw[name] for name in group) for group in names])


def _named(
    names: Sequence[tuple[str, ...]], data: Measurements, solver: Solver
) -> dict[str, float]:
    factors = fit(_columns(data, names), data.watts, solver)
    return {"+".join(group): _digits(value) for group, value in zip(names, factors, strict=True)}


def _crossed(
    data: Measurements, matrix: np.ndarray, solver: Solver
) -> tuple[FitErrors, FitErrors, FitErrors]:
    """Errors of the fit itself, leaving workloads out, leaving OPPs out."""
    seen = errors(matrix @ fit(matrix, data.watts, solver), data.watts)
    workloads = leaving_out(matrix, data.watts, data.workload, solver)
    opps = leaving_out(matrix, data.watts, data.megahertz, solver)
    return (
        FitErrors(_digits(seen.mape), _by(seen, data.megahertz)),
        FitErrors(
            _digits(workloads.mape),
            by_mhz=_by(workloads, data.megahertz),
            by_workload=_by(workloads, data.workload),
            by_copies=_by(workloads, data.copies),
        ),
        FitErrors(_digits(opps.mape), _by(opps, data.megahertz)),
    )


def _by(errors: Errors, keys: np.ndarray) -> dict[str, ErrorPair]:
    def name(key: float | str) -> str:
        return key if isinstance(key, str) else f"{key:g}"

    return {
        name(key): ErrorPair(_digits(absolute), _digits(mean))
        for key, (absolute, mean) in errors.by(keys).items()
    }


def _digits(value: float) -> float:
    """Four digits: more would differ between machines' linear algebra."""
    return float(f"{value:.3e}")


def write(record: CalibrationRecord, directory: Path = CALIBRATED) -> Path:
    """Write a calibration as it is committed."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{record.core}.json"
    path.write_bytes(ordered_json(record))
    return path


def main() -> int:
    """Fit every core that has counted events, and write its calibration."""
    with Ending() as ending:
        for core in counted_cores():
            print(write(calibrate(core)))
    return ending.code


#: Rounds of reweighting that turn least squares into least absolute relative error.
ROUNDS = 40
#: Relative change of the factors at which the reweighting has settled.
SETTLED = 1e-6
#: Relative errors below this count alike: the weights stay finite.
FLOOR = 1e-3

Solver = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Errors:
    """Relative errors of predictions, one for each row."""

    relative: np.ndarray

    @property
    def mape(self) -> float:
        """Mean absolute percentage error."""
        return float(np.abs(self.relative).mean() * 100)

    def by(self, keys: np.ndarray) -> dict[float | str, tuple[float, float]]:
        """For each value of ``keys``: (mean absolute, mean) percentage error."""
        return {
            key.item(): (
                float(np.abs(self.relative[keys == key]).mean() * 100),
                float(self.relative[keys == key].mean() * 100),
            )
            for key in np.unique(keys)
        }

    def worst(self, keys: np.ndarray) -> tuple[float | str, float]:
        """The value of ``keys`` with the largest mean absolute error, and that error."""
        errors = {key: error for key, (error, _) in self.by(keys).items()}
        key = max(errors, key=lambda name: errors[name])
        return key, errors[key]


def errors(predicted: np.ndarray, measured: np.ndarray) -> Errors:
    """Relative errors of ``predicted``."""
    return Errors(predicted / measured - 1)


def non_negative(matrix: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Least squares with no negative factor (Lawson and Hanson's active sets)."""
    # Few columns and many rows: everything is in the products of the columns.
    products, goal = matrix.T @ matrix, matrix.T @ target
    factors = np.zeros(len(goal))
    free = np.zeros(len(goal), bool)
    gradient = goal
    limit = 1e-10 * np.abs(goal).max()
    while (~free).any() and gradient[~free].max() > limit:
        free[np.argmax(np.where(free, -np.inf, gradient))] = True
        while True:
            trial = np.zeros(len(goal))
            trial[free] = np.linalg.solve(products[np.ix_(free, free)], goal[free])
            below = free & (trial <= 0)
            if not below.any():
                factors = trial
                break
            step = (factors[below] / (factors[below] - trial[below])).min()
            factors = factors + step * (trial - factors)
            free &= factors > 1e-14
        gradient = goal - products @ factors
    return factors


def unbounded(matrix: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Plain least squares."""
    factors: np.ndarray = np.linalg.lstsq(matrix, target, rcond=None)[0]
    return factors


def fit(matrix: np.ndarray, watts: np.ndarray, solver: Solver = non_negative) -> np.ndarray:
    """Factors of the columns with the least mean absolute relative error."""
    relative = matrix / watts[:, None]
    scale = np.abs(relative).max(axis=0)
    scale[scale == 0] = 1
    relative = relative / scale
    factors: np.ndarray = solver(relative, np.ones(len(watts)))
    for _ in range(ROUNDS):
        weight = 1 / np.sqrt(np.maximum(np.abs(relative @ factors - 1), FLOOR))
        before, factors = factors, solver(relative * weight[:, None], weight)
        if np.allclose(before, factors, rtol=SETTLED, atol=0):
            break
    scaled: np.ndarray = factors / scale
    return scaled


def leaving_out(
    matrix: np.ndarray, watts: np.ndarray, keys: np.ndarray, solver: Solver = non_negative
) -> Errors:
    """Errors where each value of ``keys`` is predicted by a fit to all the others."""
    predicted = np.zeros(len(watts))
    for key in np.unique(keys):
        test = keys == key
        predicted[test] = matrix[test] @ fit(matrix[~test], watts[~test], solver)
    return errors(predicted, watts)


if __name__ == "__main__":
    sys.exit(main())
