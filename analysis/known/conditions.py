# SPDX-License-Identifier: GPL-2.0-or-later
"""The conditions of runs, for which a recorded number is valid or not."""

from __future__ import annotations

from dataclasses import dataclass, fields

from eascope.analysis.records.cell import NO_NOISE, CellRecord
from eascope.host.record import Record

#: `Conditions.controls` where nothing is set otherwise.
NO_CONTROLS = "as the platform has them"
#: `Conditions.seeds`: all that differs between two runs on a device, or when threads start.
REPLICATES, STARTS = "replicates", "starts alone"


@dataclass(frozen=True)
class Conditions(Record):
    """The conditions of runs, in addition to platform and scenario; all in words."""

    kernel: str
    engine: str
    duration: str
    speeds: str
    power: str
    energy_model: str
    seeds: str
    controls: str

    def against(self, other: Conditions) -> str:
        """The differences: ``speeds board instead of measured``; empty if there are none."""
        return ", ".join(
            f"{field.name.replace('_', ' ')} {own} instead of {theirs}"
            for field in fields(self)
            if (own := getattr(self, field.name)) != (theirs := getattr(other, field.name))
        )


def control_words(non_default: tuple[str, ...], speeds: str) -> str:
    """`Conditions.controls` of a cell's ``set_otherwise``.

    The cell's ``speeds``, and whether seeds draw noise, are separate conditions.
    """
    own = (f"{speeds}-speeds", NO_NOISE)
    words = [word.replace("-", " ") for word in non_default if word not in own]
    return ", ".join(words) or NO_CONTROLS


def conditions_of(cell: CellRecord, power: str) -> Conditions:
    """The conditions of a run."""
    return Conditions(
        kernel=cell.kernel.source_words,
        engine=cell.engine,
        duration=cell.duration,
        speeds=cell.controls.speeds,
        power=power,
        energy_model=cell.energy_model.words,
        seeds=REPLICATES if cell.replicates else STARTS,
        controls=control_words(cell.set_otherwise, cell.controls.speeds),
    )
