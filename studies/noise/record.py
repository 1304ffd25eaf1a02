# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of noise floors."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.compare import Comparison
from analysis.results.noise import Noise, NoiseFloor
from studies.versions import origin_over_seeds


def record_of(measured: Sequence[Comparison], command: str) -> Noise:
    """The record of comparisons, each with its noise floor (`analysis.null`)."""
    cells = [run.cell for each in measured for runs in each.variants.values() for run in runs]
    return Noise(origin_over_seeds(command, cells), tuple(_floor(each) for each in measured))


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
