# SPDX-License-Identifier: GPL-2.0-or-later
"""The noise floor: a variant against its double (an equal kernel), with other seeds.

It is measured with a comparison (`Null`), or was measured before (`RecordedNull`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eascope.analysis.derive import Derived
from eascope.analysis.difference import Difference, difference
from eascope.analysis.known.noise import NoiseFloor
from eascope.analysis.rows import MeasureRow


@dataclass(frozen=True)
class Null:
    """Runs of a variant, and of its kernel with another comment, with other seeds."""

    variant: str
    runs: Sequence[Derived]
    again: Sequence[Derived]

    @property
    def seeds_words(self) -> str:
        """With how many seeds it was measured."""
        return f"{len(self.again)} other seeds" if len(self.again) > 1 else "another seed"

    def difference(self, row: MeasureRow) -> Difference | None:
        """The difference of a measure between equal kernels; None if it is not measured."""
        first, second = (
            [number for run in runs if (number := row.value(run.result)) is not None]
            for runs in (self.runs, self.again)
        )
        return difference(first, second, aligned=False) if first and second else None

    def floor(self, row: MeasureRow) -> float | None:
        """The size that a difference of a measure must exceed to mean anything, in the row's unit.

        The far end of the interval; without an interval the difference itself.
        """
        diff = self.difference(row)
        if diff is None:
            return None
        if diff.low is None or diff.high is None:
            return abs(diff.absolute)
        return max(abs(diff.low), abs(diff.high))


@dataclass(frozen=True)
class RecordedNull:
    """A noise floor that was measured before, of the same scenario, platform and conditions."""

    recorded: NoiseFloor

    @property
    def variant(self) -> str:
        """Whose noise floor it is."""
        return self.recorded.variant

    @property
    def seeds_words(self) -> str:
        """With how many seeds it was measured."""
        return f"recorded in noise.json, {self.recorded.seeds} other seeds"

    def floor(self, row: MeasureRow) -> float | None:
        """As `Null.floor`."""
        floor = self.recorded.floors.get(row.measure)
        return None if floor is None else floor * row.scale

    def percent(self, row: MeasureRow) -> float | None:
        """The same in percent of the variant's mean."""
        return self.recorded.percents.get(row.measure)
