# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns: axes and constraints, from ``experiments/campaigns/*.toml`` or from options.

A campaign has every combination of the values of its axes for which all constraints are true. Its
cells have a fixed order: the seed changes fastest, then variant, scenario, and the other axes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

from eascope.configs.overrides import number_of
from eascope.configs.platform_file import load_platform
from eascope.experiments.sweeps.constraints import AsIs, Constraint
from eascope.experiments.sweeps.point import CONTROL, UNCHANGED, Point
from eascope.host.errors import RequestError

ROOT = Path(__file__).resolve().parent.parent / "campaigns"

#: Cells of one campaign, at most.
MOST_CELLS = 2_000_000


@dataclass(frozen=True)
class Choice:
    """A value of an axis: its name in tables, and the settings, by key of a `Point`."""

    label: str
    sets: Mapping[str, Any]


@dataclass(frozen=True)
class SweptAxis:
    """An axis of a campaign: a name and its values."""

    name: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class Campaign:
    """Axes, constraints and the common settings of all cells.

    :param file: the file's name as a person would type it, for messages.
    :param question: the campaign's question; may be empty, as ``limits`` may.
    :param power: the power that energies are billed by; None: each platform's default.
    """

    name: str
    file: str
    summary: str
    axes: tuple[SweptAxis, ...]
    constraints: tuple[Constraint, ...]
    seeds: tuple[int, ...]
    question: str = ""
    limits: str = ""
    common: Mapping[str, Any] = field(default_factory=dict)
    power: str | None = None

    def points(self) -> Iterator[Point]:
        """Every combination that the constraints keep, in order.

        :raises RequestError: a constraint that cannot be evaluated, with the cell.
        """
        for choices in itertools.product(*(axis.choices for axis in self.axes)):
            labels = {
                axis.name: choice.label for axis, choice in zip(self.axes, choices, strict=True)
            }
            point = Point.of(labels, [self.common, *(choice.sets for choice in choices)])
            if self._keeps(point):
                yield point

    @property
    def combinations(self) -> int:
        """Number of points before constraints."""
        return prod(len(axis.choices) for axis in self.axes)

    def checked_points(self) -> list[Point]:
        """All points.

        :raises RequestError: constraints that remove everything, or too many cells.
        """
        cells = self.combinations * len(self.seeds)
        if cells > MOST_CELLS:
            raise RequestError(f"{self.file}: {cells} cells; one campaign has at most {MOST_CELLS}")
        points = list(self.points())
        if not points:
            texts = "; ".join(constraint.text for constraint in self.constraints)
            raise RequestError(
                f"{self.file}: constraints = {texts!r}: none of the {self.combinations} "
                "combinations meets all of them"
            )
        return points

    def _keeps(self, point: Point) -> bool:
        if not self.constraints:
            return True
        values = point.values()
        try:
            for name, value in values.items():
                if value == UNCHANGED:
                    # A control has the name of the platform's key below [dvfs].
                    key = name.replace(CONTROL, "dvfs.", 1) if name.startswith(CONTROL) else name
                    number = number_of(_platform(point.platform), key)
                    values[name] = value if number is None else AsIs(number)
            return all(constraint.holds(values) for constraint in self.constraints)
        except RequestError as error:
            raise RequestError(f"{self.file}: {error}; cell {point.words}") from error


_platform = cache(load_platform)


def varied(axes: Sequence[SweptAxis]) -> list[str]:
    """Names of the axes that have more than one value."""
    return [axis.name for axis in axes if len(axis.choices) > 1]
