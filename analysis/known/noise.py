# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of noise floors: ``data/noise.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eascope.analysis.known.origin import DATA, KnownRecord, Origin, older
from eascope.host.record import Record

FILE = DATA / "noise.json"


@dataclass(frozen=True)
class NoiseFloor(Record):
    """A variant against itself on a scenario and platform, under one set of conditions.

    :param conditions: `analysis.known.conditions.Conditions`, by name.
    :param seeds: of each side.
    :param floors: the size that a difference must exceed to mean anything, by `MeasureRow.measure`
        and in its `raw_unit`.
    :param percents: the same in percent of the variant's mean, where that is not zero.
    :param origin: if it is not that of the record.
    """

    platform: str
    scenario: str
    variant: str
    conditions: Mapping[str, str]
    seeds: int
    floors: Mapping[str, float]
    percents: Mapping[str, float]
    origin: Origin | None = None


@dataclass(frozen=True)
class Noise(KnownRecord):
    """Every scenario and platform; the record's origin is that of the cells measured last."""

    cells: tuple[NoiseFloor, ...]

    def origin_of(self, cell: NoiseFloor) -> Origin:
        """The cell's own origin, or the record's."""
        return cell.origin or self.origin

    def of_today(self, cell: NoiseFloor) -> bool:
        """Whether it was measured with the patches of today."""
        patches = self.origin_of(cell).patches
        return bool(patches) and not older(patches)


def recorded(
    platform: str, scenario: str, conditions: Mapping[str, str], file: Path = FILE
) -> NoiseFloor | None:
    """The noise floor of runs under these conditions, if one was measured with today's patches."""
    noise = _read(file)
    for cell in noise.cells if noise else ():
        if (cell.platform, cell.scenario, cell.conditions) == (platform, scenario, conditions):
            return cell if noise and noise.of_today(cell) else None
    return None


@cache
def _read(file: Path) -> Noise | None:
    return Noise.read(file) if file.is_file() else None
