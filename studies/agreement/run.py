# SPDX-License-Identifier: GPL-2.0-or-later
"""Executes the missing runs of the engines' comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engines.base import Identity
from experiments.cell import Cell, identity_of, prepare
from experiments.pool import run_all
from experiments.request import resolve
from experiments.runs import existing
from studies.agreement.plan import FAST, VARIANTS, Key, requests
from studies.costed import Cells, CostedRun, derive_costed


def run(
    scenarios: Sequence[str],
    seeds: Mapping[str, int],
    *,
    speeds: str = "board",
    present: bool = False,
) -> Cells:
    """Execute the missing runs of the set.

    :param present: run nothing, and leave out missing runs.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    identities: dict[str, Identity] = {}
    cells: dict[Key, Cell] = {}
    for key, request in requests(scenarios, seeds, speeds):
        names = resolve(request)
        if key[2] not in identities:
            identities[key[2]] = identity_of(names.engine)
        cell = prepare(names, identities[key[2]])
        if not present or existing(cell.simkey):
            cells[key] = cell

    done = run_all(list(cells.values()), derive_costed)
    costed: dict[tuple[str, str], dict[str, dict[int, CostedRun]]] = {
        (scenario, variant): {} for scenario in scenarios for variant in VARIANTS
    }
    for (scenario, variant, column, seed), ran in zip(cells, done, strict=True):
        costed[scenario, variant].setdefault(column, {})[seed] = ran
    return costed


def comparable(cells: Cells) -> Cells:
    """Cells that were run on the fast engine and on gem5."""
    return {
        cell: columns for cell, columns in cells.items() if FAST in columns and len(columns) > 1
    }
