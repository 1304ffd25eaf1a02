# SPDX-License-Identifier: GPL-2.0-or-later
"""The records of ``power-models/``: errors of models against measurements and other models.

`CalibrationRecord` is ``calibrated/CORE.json``, `ScalingRecord` is ``derived/scaling/CORE.json``
(which the Rust writes), `ExpressionsRecord` is ``expressions/CORE.json`` and `ActivityRecord` is
``activity/PLATFORM.json``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eascope.host.record import REST, Record


@dataclass(frozen=True)
class ErrorPair(Record):
    """Mean absolute and mean error in per cent."""

    mape: float
    mean: float


@dataclass(frozen=True)
class FitErrors(Record):
    """Errors of one fit in per cent.

    :param mape: mean absolute error over all rows.
    :param by_mhz: by frequency.
    :param by_workload: by workload, where workloads were left out.
    :param by_copies: by copies that ran at once, likewise.
    """

    mape: float
    by_mhz: Mapping[str, ErrorPair]
    by_workload: Mapping[str, ErrorPair] = field(default_factory=dict)
    by_copies: Mapping[str, ErrorPair] = field(default_factory=dict)


@dataclass(frozen=True)
class CrossedErrors(Record):
    """Errors of a fit itself, of workloads that it has not seen, and of such OPPs."""

    fit: FitErrors
    leaving_workloads_out: FitErrors
    leaving_opps_out: FitErrors


@dataclass(frozen=True)
class Alternative(Record):
    """Another set of factors that was tried, by the groups that share each; errors as above."""

    factors: Mapping[str, float]
    fit: FitErrors
    leaving_workloads_out: FitErrors
    leaving_opps_out: FitErrors


@dataclass(frozen=True)
class FreeRegression(CrossedErrors):
    """A regression with so many terms of any sign."""

    terms: int


@dataclass(frozen=True)
class Uncalibrated(Record):
    """McPAT as it is; ``mean_error`` in per cent."""

    mape: float
    mean_error: float
    by_mhz: Mapping[str, ErrorPair]


@dataclass(frozen=True)
class CalibrationInputs(Record):
    """What a calibration was fitted to: a data set of so many rows, a mapping, McPAT's figures."""

    data: str
    data_sha256: str
    rows: int
    mapping_sha256: str
    derived_sha256: str


@dataclass(frozen=True)
class CalibrationRecord(Record):
    """``calibrated/CORE.json``: factors by group of events, and their errors."""

    schema: int
    core: str
    inputs: CalibrationInputs
    factors: Mapping[str, float]
    errors: CrossedErrors
    uncalibrated: Uncalibrated
    alternatives: Mapping[str, Alternative]
    free_regression: FreeRegression


@dataclass(frozen=True)
class LawFigure(Record):
    """A power in W by the scaling law."""

    law_w: float


@dataclass(frozen=True)
class LawAgainstDirect(LawFigure):
    """The same by McPAT itself; errors are shares.

    ``laid_out_anew``: where McPAT may lay arrays out for the supply.
    """

    direct_w: float
    error: float
    laid_out_anew_w: float
    error_laid_out_anew: float


@dataclass(frozen=True)
class UnitLaw(Record):
    """A core or an L2 at a supply that McPAT does not take."""

    dynamic: LawFigure
    leakage: LawFigure


@dataclass(frozen=True)
class UnitScaling(Record):
    """A core or an L2 at one supply; changes of area are shares."""

    dynamic: LawAgainstDirect
    leakage: LawAgainstDirect
    area_change: float
    area_change_laid_out_anew: float


@dataclass(frozen=True)
class SupplyScaling(Record):
    """One supply; ``extrapolated``: McPAT does not take it, so nothing is compared."""

    vdd_v: float
    extrapolated: bool
    core: UnitScaling | UnitLaw
    l2: UnitScaling | UnitLaw


@dataclass(frozen=True)
class LegalSupply:
    """A supply that McPAT takes."""

    vdd_v: float
    core: UnitScaling
    l2: UnitScaling

    @property
    def figures(self) -> tuple[LawAgainstDirect, ...]:
        """Dynamic power and leakage of the core, then of the L2."""
        return (self.core.dynamic, self.core.leakage, self.l2.dynamic, self.l2.leakage)


@dataclass(frozen=True)
class ScalingDesign(Record):
    """The design point that the law scales from."""

    vdd_v: float
    others: Mapping[str, Any] = field(default_factory=dict, metadata=REST)


@dataclass(frozen=True)
class ScalingRecord(Record):
    """``derived/scaling/CORE.json``: the scaling law against McPAT at every supply."""

    schema: int
    core: str
    law: str
    design: ScalingDesign
    lowest_legal_vdd_v: float
    voltages: tuple[SupplyScaling, ...]

    @property
    def legal(self) -> list[LegalSupply]:
        """The supplies at which law and McPAT are compared."""
        return [
            LegalSupply(point.vdd_v, point.core, point.l2)
            for point in self.voltages
            if isinstance(point.core, UnitScaling) and isinstance(point.l2, UnitScaling)
        ]


@dataclass(frozen=True)
class KernelExpression(Record):
    """A workload kernel: dynamic pJ of an instruction by rows and by gem5's expression."""

    kernel: str
    instructions: int
    ipc: float
    rows_pj: float
    expression_pj: float


@dataclass(frozen=True)
class ExpressionsRecord(Record):
    """``expressions/CORE.json``: gem5's own power expressions against its rows."""

    schema: int
    core: str
    model: str
    platform: str
    khz: int
    gem5: str
    gem5_sha256: str
    command: str
    kernels: tuple[KernelExpression, ...]


@dataclass(frozen=True)
class EventActivity(Record):
    """Counts of an event per instruction, stated and counted, and its energy in pJ."""

    stated: float
    counted: float
    pj: float


@dataclass(frozen=True)
class ActivityComparison(Record):
    """A cluster's activity, as the fast engine states it and as gem5 counted it.

    :param model: gem5's CPU model.
    :param stated: in words where the stated events come from.
    :param active_s: CPU time in s; ``counted_s`` is the part in which events were counted.
    :param volts: the supply of the energies of events.
    :param energy_counted_j: of the same rows by counted events, ``energy_stated_j`` by stated ones.
    """

    cluster: str
    core: str
    model: str
    stated: str
    instructions_counted: int
    active_s: float
    counted_s: float
    volts: float
    events: Mapping[str, EventActivity]
    energy_counted_j: float
    energy_stated_j: float


@dataclass(frozen=True)
class ActivityCell(Record):
    """The cell that was run on gem5."""

    scenario: str
    variant: str
    mode: str
    seed: int
    simkey: str


@dataclass(frozen=True)
class ActivityRecord(Record):
    """``activity/PLATFORM.json``: stated against counted activity.

    :param kernel: the workload kernel whose events are stated.
    """

    schema: int
    platform: str
    command: str
    cell: ActivityCell
    kernel: str
    clusters: tuple[ActivityComparison, ...]


def ordered_json(record: Record) -> bytes:
    """``record`` as the files of ``power-models/`` have it: keys in the order of its fields."""
    return (json.dumps(record.encode(), indent=1) + "\n").encode()
