"""Runs what pages are made of: the missing cells, seed by seed, and puts them side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analysis.compare import Comparison, comparison
from analysis.derive import Derived, derive
from experiments.cell import Cell, Request, find, prepare
from experiments.pool import run_all
from experiments.results.pages import Group, Page
from experiments.runs import Run


def requests(page: Page, group: Group, seed: int, full: bool) -> list[Request]:
    """One request for each variant of a group."""
    return [
        Request(
            page.platform, variant, group.scenario, seed=seed, full=full, controls=group.controls
        )
        for variant in group.variants
    ]


def compare(pages: Sequence[Page], seeds: int, full: bool) -> dict[tuple[str, Group], Comparison]:
    """Every group of every page, by page and group; runs what is missing.

    Seeds are the outer loop, so that an interrupted campaign has whole seeds.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    wanted: list[tuple[str, Group, Cell]] = []
    for seed in range(seeds):
        for page in pages:
            for group in page.groups:
                found = (prepare(find(one)) for one in requests(page, group, seed, full))
                wanted += ((page.name, group, cell) for cell in found)
    # Pages share cells; each is run and derived once.
    cells = {cell.simkey: cell for _, _, cell in wanted}
    done = dict(zip(cells, run_all(list(cells.values()), _derived), strict=True))
    sides: dict[tuple[str, Group], dict[str, list[Derived]]] = {}
    platforms = {}
    for name, group, cell in wanted:
        derived = replace(done[cell.simkey], cell=cell.record)
        by_variant = sides.setdefault((name, group), {})
        by_variant.setdefault(cell.names.request.variant, []).append(derived)
        platforms[name, group] = cell.names.platform
    return {key: comparison(platforms[key], found) for key, found in sides.items()}


def _derived(cell: Cell, run: Run) -> Derived:
    return derive(run.path, cell.names.platform, cell.names.activity)
