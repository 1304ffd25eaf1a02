# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison at a glance as data: `analysis.glance` makes it and prints it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from eascope.host.record import Record


@dataclass(frozen=True)
class GlanceDifference(Record):
    """A further variant's mean minus the baseline's, in the row's unit.

    :param starred: whether its interval excludes zero, corrected for the number of rows.
    """

    absolute: float
    starred: bool = False


@dataclass(frozen=True)
class GlanceMeasure(Record):
    """One measure, in the row's unit.

    :param measure: its dotted path in ``result.json``.
    :param means: over seeds, by variant; a variant that does not give it is left out.
    :param differences: by further variant.
    :param floor: what a difference must exceed to be more than noise, where that is known.
    """

    measure: str
    means: Mapping[str, float]
    differences: Mapping[str, GlanceDifference] = field(default_factory=dict)
    floor: float | None = None


@dataclass(frozen=True)
class GlanceRow(Record):
    """A row of the table: one measure, or several of the same task.

    :param digits: after the point of every number.
    """

    label: str
    unit: str
    digits: int
    measures: tuple[GlanceMeasure, ...]


@dataclass(frozen=True)
class Glance(Record):
    """What answers the question of a comparison.

    :param answers: the answer in sentences, then what a reader must know before any figure.
    :param run: what was run, and how.
    :param names: variants, the baseline first.
    :param expected: what sources expect, with the verdicts.
    :param note: what the star means, and what was left out.
    :param noise: whether the noise floor is known.
    """

    answers: tuple[str, ...]
    run: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[GlanceRow, ...]
    expected: tuple[str, ...]
    note: str
    noise: bool = False
