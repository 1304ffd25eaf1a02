# SPDX-License-Identifier: GPL-2.0-or-later
"""Noise floors: mainline, and its double (an equal kernel) with the next seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eascope.analysis.compare import Comparison, comparison
from eascope.analysis.derive import Derived
from eascope.analysis.known.noise import Noise, NoiseFloor
from eascope.analysis.known.origin import older
from eascope.analysis.null import Null
from eascope.experiments.cell import Cell, identity_of, prepare
from eascope.experiments.finished import derived_for
from eascope.experiments.pool import run_all
from eascope.experiments.renew.origins import origin_of
from eascope.experiments.request import NULL_VARIANT, Request, null_requests, resolve

#: A platform and a scenario.
Pair = tuple[str, str]


def measure(pairs: Sequence[Pair], seeds: int) -> list[Comparison]:
    """Mainline alone on each platform and scenario, with its noise floor; runs what is missing.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    resolved = [
        [resolve(each) for each in null_requests(Request(platform, NULL_VARIANT, name), seeds)]
        for platform, name in pairs
    ]
    identity = identity_of(resolved[0][0].engine)
    cells = [[prepare(names, identity) for names in group] for group in resolved]
    flat = {cell.asked: cell for group in cells for cell in group}
    done = dict(zip(flat, run_all(list(flat.values()), derived_for), strict=True))
    return [_compared(group, [done[cell.asked] for cell in group]) for group in cells]


def _compared(cells: Sequence[Cell], derived: Sequence[Derived]) -> Comparison:
    half = len(cells) // 2
    alone = comparison(cells[0].names.platform, {NULL_VARIANT: derived[:half]})
    return replace(alone, null=Null(NULL_VARIANT, derived[:half], derived[half:]))


def record_of(measured: Sequence[Comparison], command: str) -> Noise:
    """The record of comparisons, each with its noise floor (`analysis.null`)."""
    cells = [run.cell for one in measured for runs in one.variants.values() for run in runs]
    return Noise(origin_of(command, cells), tuple(_floor(comparison) for comparison in measured))


def pairs_of(record: Noise, *, stale: bool = False) -> list[Pair]:
    """What a record has; only what was measured with older patches than today's if ``stale``."""
    return [
        _pair(cell) for cell in record.cells if not stale or older(record.origin_of(cell).patches)
    ]


def merged(record: Noise, more: Noise) -> Noise:
    """``record`` with the cells of ``more`` in place of its own, or after them.

    Cells of ``record`` keep their origin, each for itself.
    """
    cells = {_pair(cell): replace(cell, origin=record.origin_of(cell)) for cell in record.cells}
    cells |= {_pair(cell): cell for cell in more.cells}
    return replace(more, cells=tuple(cells.values()))


def _pair(cell: NoiseFloor) -> Pair:
    return cell.platform, cell.scenario


def _floor(compared: Comparison) -> NoiseFloor:
    null = compared.null
    if null is None:
        raise ValueError("a comparison without its noise floor")
    floors: dict[str, float] = {}
    percents: dict[str, float] = {}
    for line in compared.lines:
        floor, mean = null.floor(line.row), line.mean(null.variant)
        if floor is None:
            continue
        floors[line.row.measure] = floor / line.row.scale
        if mean:
            percents[line.row.measure] = 100 * floor / abs(mean)
    return NoiseFloor(
        platform=compared.cell.platform,
        scenario=compared.cell.scenario,
        variant=null.variant,
        conditions=vars(compared.conditions),
        seeds=len(null.again),
        floors=floors,
        percents=percents,
    )
