# SPDX-License-Identifier: GPL-2.0-or-later
"""Executes the missing runs of noise floors: mainline, and its double with the next seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analysis.compare import Comparison, comparison
from analysis.derive import Derived
from analysis.null import Null
from experiments.cell import Cell, identity_of, prepare
from experiments.finished import derived_for
from experiments.null import VARIANT, null_requests
from experiments.pool import run_all
from experiments.request import Request, resolve
from experiments.runs import Run, existing


def measure(scenarios: Sequence[tuple[str, str]], seeds: int) -> list[Comparison]:
    """Mainline alone on each platform and scenario, with its noise floor.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    cells = _cells(scenarios, seeds)
    flat = {cell.asked: cell for each in cells for cell in each}
    done = dict(zip(flat, run_all(list(flat.values()), _derived), strict=True))
    return [_compared(each, [done[cell.asked] for cell in each]) for each in cells]


def complete(scenarios: Sequence[tuple[str, str]], seeds: int) -> list[tuple[str, str]]:
    """Those of ``scenarios`` whose runs are all there."""
    return [
        names
        for names, cells in zip(scenarios, _cells(scenarios, seeds), strict=True)
        if all(existing(cell.simkey) is not None for cell in cells)
    ]


def _cells(scenarios: Sequence[tuple[str, str]], seeds: int) -> list[list[Cell]]:
    """The cells of each scenario: mainline's, then its double's."""
    resolved = [
        [resolve(each) for each in null_requests(Request(platform, VARIANT, scenario), seeds)]
        for platform, scenario in scenarios
    ]
    identity = identity_of(resolved[0][0].engine)
    return [[prepare(names, identity) for names in each] for each in resolved]


def _compared(cells: Sequence[Cell], made: Sequence[Derived]) -> Comparison:
    half = len(cells) // 2
    alone = comparison(cells[0].names.platform, {VARIANT: made[:half]})
    return replace(alone, null=Null(VARIANT, made[:half], made[half:]))


def _derived(cell: Cell, run: Run) -> Derived:
    return derived_for(cell, run)
