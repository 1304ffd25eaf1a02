# SPDX-License-Identifier: GPL-2.0-or-later
"""Fitting factors by relative error, and the errors of a fit on data that it has not seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

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
