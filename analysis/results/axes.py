# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of verdicts at every value of the model axes: ``results/model-axes.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.results.comparisons import Change
from analysis.results.origin import Origin, ResultRecord
from host.record import Record


@dataclass(frozen=True)
class AxisResult(Record):
    """The results at one value of an axis.

    :param axis: empty for the asked values.
    :param own_runs: runs that nothing else needs.
    :param changes: of the energy from the baseline's, by variant; None where there is none.
    :param verdicts: on the statements, in their order.
    """

    axis: str
    value: str
    source: str
    own_runs: int
    changes: Mapping[str, Change | None]
    verdicts: tuple[str, ...]


@dataclass(frozen=True)
class OverAxes(Record):
    """The joint answer of all values on a variant's energy, or on a statement about it.

    :param statement: empty for the energy.
    :param asked: the answer at the asked values; ``all``: the answer of every value, or
        ``depends``.
    :param words: the same with the values that differ.
    """

    variant: str
    statement: str
    asked: str
    all: str
    words: str


@dataclass(frozen=True)
class ScenarioOverAxes(Record):
    """A scenario on a platform.

    :param origin: of its figures; a record may hold scenarios of several commands.
    :param label: the energy that is compared: ``energy``, or that of a unit of work.
    :param conditions: controls that are set otherwise at every value; empty for the defaults.
    :param power: by which energy is billed where no axis says otherwise.
    :param left_out: axes that have no other value here, and why.
    :param not_asked: axes that the command left out.
    """

    origin: Origin
    platform: str
    scenario: str
    baseline: str
    label: str
    seeds: int
    power: str
    energies: tuple[OverAxes, ...]
    statements: tuple[OverAxes, ...]
    values: tuple[AxisResult, ...]
    left_out: tuple[str, ...]
    conditions: str = ""
    not_asked: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """Its place in the plan."""
        return self.platform, self.scenario, self.conditions


@dataclass(frozen=True)
class ModelAxes(ResultRecord):
    """All scenarios; kernel, HZ and duration are those of every run."""

    engine: str
    duration: str
    kernel: str
    hz: int
    scenarios: tuple[ScenarioOverAxes, ...]
