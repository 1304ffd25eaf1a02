# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the missing cells of pages, seed by seed, and compares them."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.compare import Comparison, comparison
from analysis.derive import Derived
from analysis.pairing import by_variant
from experiments.cell import Cell, identity_of, prepare
from experiments.finished import derived_for
from experiments.pool import run_all
from experiments.request import Request, resolve
from experiments.runs import Run
from power.given import USUAL, given_model
from studies.pages.plan import Page, PageGroup


def requests(page: Page, group: PageGroup, full: bool) -> list[Request]:
    """One request for each variant of a group, with the first seed."""
    return [
        Request(
            platform=page.platform,
            variant=variant,
            scenario=group.scenario,
            full=full,
            controls=group.controls,
            energy_model=given_model(USUAL.source, group.em_errors),
        )
        for variant in group.variants
    ]


def compare(
    pages: Sequence[Page], seeds: int, full: bool
) -> dict[tuple[str, PageGroup], Comparison]:
    """Every group of every page, by page and group; executes missing runs.

    Seeds are the outer loop, so that an interrupted campaign has whole seeds.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    resolved = [
        (page.name, group, resolve(request))
        for page in pages
        for group in page.groups
        for request in requests(page, group, full)
    ]
    identity = identity_of(resolved[0][2].engine)
    wanted = [
        (page, group, prepare(names.with_seed(seed), identity))
        for seed in range(seeds)
        for page, group, names in resolved
    ]
    # Pages share cells; each is run and derived once.
    cells = {cell.asked: cell for _, _, cell in wanted}
    done = dict(zip(cells, run_all(list(cells.values()), _derived), strict=True))
    grouped: dict[tuple[str, PageGroup], list[tuple[str, Derived]]] = {}
    platforms = {}
    for page_name, group, cell in wanted:
        made = (cell.names.request.variant, done[cell.asked])
        grouped.setdefault((page_name, group), []).append(made)
        platforms[page_name, group] = cell.names.platform
    return {key: comparison(platforms[key], by_variant(runs)) for key, runs in grouped.items()}


def _derived(cell: Cell, run: Run) -> Derived:
    return derived_for(cell, run)
