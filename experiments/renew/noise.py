# SPDX-License-Identifier: GPL-2.0-or-later
"""Noise floors: mainline, and its double (an equal kernel) with the next seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eascope.analysis.compare import Comparison
from eascope.analysis.known.noise import Noise, NoiseFloor
from eascope.experiments.renew.origins import origin_of
from eascope.experiments.runs.finished import BilledBy
from eascope.experiments.runs.measure import Group, compare
from eascope.experiments.runs.request import NULL_VARIANT, Request, null_requests, resolve

#: A platform and a scenario.
Pair = tuple[str, str]


def measure(pairs: Sequence[Pair], seeds: int) -> list[Comparison]:
    """Mainline alone on each platform and scenario, with its noise floor; runs what is missing.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    groups = []
    for platform, name in pairs:
        requests = null_requests(Request(platform, NULL_VARIANT, name), seeds)
        null = [resolve(request) for request in requests]
        groups.append(Group(null[:seeds], BilledBy(), null=null))
    return compare(groups)


def record_of(measured: Sequence[Comparison], command: str) -> Noise:
    """The record of comparisons, each with its noise floor (`analysis.null`)."""
    cells = [run.cell for one in measured for runs in one.variants.values() for run in runs]
    return Noise(origin_of(command, cells), tuple(_floor(comparison) for comparison in measured))


def pairs_of(record: Noise) -> list[Pair]:
    """What a record has."""
    return [_pair(cell) for cell in record.cells]


def merged(record: Noise | None, more: Noise) -> Noise:
    """``record`` with the cells of ``more`` in place of its own, or after them.

    Cells of ``record`` keep their origin, each for itself; those of other patches are left out.
    """
    if record is None:
        return more
    cells = {
        _pair(cell): replace(cell, origin=record.origin_of(cell))
        for cell in record.cells
        if record.of_today(cell)
    }
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
