# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of noise floors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from analysis.compare import Comparison
from analysis.results.noise import Noise, NoiseFloor
from studies.patches import older
from studies.versions import origin_over_seeds


def record_of(measured: Sequence[Comparison], command: str) -> Noise:
    """The record of comparisons, each with its noise floor (`analysis.null`)."""
    cells = [run.cell for each in measured for runs in each.variants.values() for run in runs]
    return Noise(origin_over_seeds(command, cells), tuple(_floor(each) for each in measured))


def lacking(record: Noise, pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those platforms and scenarios whose floor the record lacks, or has of older patches."""
    fresh = {_pair(cell) for cell in record.cells if not older(record.origin_of(cell).patches)}
    return [pair for pair in pairs if pair not in fresh]


def merged(record: Noise, more: Noise, order: Sequence[tuple[str, str]]) -> Noise:
    """``record`` with the cells of ``more`` added or in place of its own, in this order.

    Cells of ``record`` keep their origin, each for itself.
    """
    cells = {_pair(cell): replace(cell, origin=record.origin_of(cell)) for cell in record.cells}
    cells |= {_pair(cell): cell for cell in more.cells}
    places = {pair: number for number, pair in enumerate(order)}
    every = sorted(cells, key=lambda pair: places.get(pair, len(places)))
    return replace(more, cells=tuple(cells[pair] for pair in every))


def _pair(cell: NoiseFloor) -> tuple[str, str]:
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
