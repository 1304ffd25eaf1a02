# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of a comparison of the fast engine with gem5: ``data/engine-agreement*.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eascope.analysis.known.conditions import Conditions
from eascope.analysis.known.origin import KnownRecord
from eascope.host.record import Record


@dataclass(frozen=True)
class AgreementColumn(Record):
    """An engine in one mode.

    :param mode: gem5's mode; empty on the fast engine.
    :param cpus: gem5's CPU model by cluster; empty on the fast engine.
    :param cpu_words: these CPUs in words (`engines.records.Traits`).
    """

    name: str
    engine: str
    mode: str
    cpus: Mapping[str, str]
    cpu_words: str


@dataclass(frozen=True)
class Sample(Record):
    """One engine's runs of a cell.

    :param least: energy of the lowest seed in per cent of their mean, less 100.
    :param most: the same of the highest; both None where there is one seed.
    :param cpu_s_per_s: processor seconds per simulated second; on gem5 of the window alone.
    """

    seeds: tuple[int, ...]
    least: float | None
    most: float | None
    cpu_s_per_s: float


@dataclass(frozen=True)
class Answer(Record):
    """The answers of both engines to one expectation of a scenario.

    :param met: in how many seeds of the fast engine it is met, and of gem5.
    :param seeds: how many of them answer at all.
    :param alike: whether the answers by the means are the same.
    """

    statement: str
    met: tuple[int, int]
    seeds: tuple[int, int]
    alike: bool


@dataclass(frozen=True)
class Against(Record):
    """The fast engine against one column of gem5 in one cell, by the means over seeds.

    :param energy_percent: how much more energy the fast engine has, in per cent of gem5's.
    :param low: lower end of the 95 % interval; None with too few seeds.
    :param residency_points: largest difference of an OPP's share of the window, in points.
    """

    energy_percent: float
    low: float | None
    high: float | None
    residency_points: float
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class AgreementCell(Record):
    """One scenario and variant on all engines.

    :param against: by gem5's column.
    :param wake_up_us: medians of wake-up latency by task and column.
    """

    scenario: str
    variant: str
    samples: Mapping[str, Sample]
    against: Mapping[str, Against]
    wake_up_us: Mapping[str, Mapping[str, float]]
    #: Processor time of gem5's columns as so many times the fast engine's.
    times: Mapping[str, float]


@dataclass(frozen=True)
class WakeUps(Record):
    """The fast engine's medians of wake-ups as a ratio to one gem5 column's.

    :param mean: geometric mean of the ratios.
    :param close: how many of ``tasks`` differ by a fifth or less.
    """

    mean: float
    tasks: int
    close: int


@dataclass(frozen=True)
class Agreement(KnownRecord):
    """The whole comparison.

    :param speeds: of core types, ``board`` or ``measured``.
    :param conditions: of the fast engine's runs; None where they are not known.
    :param billing: digest of that power model (`power.model.PowerModel.digest`): with another one
        the energies would be others. Empty where it is not known.
    """

    platform: str
    speeds: str
    power: str
    duration: str
    columns: tuple[AgreementColumn, ...]
    cells: tuple[AgreementCell, ...]
    wake_ups: Mapping[str, WakeUps]
    conditions: Conditions | None = None
    billing: str = ""
