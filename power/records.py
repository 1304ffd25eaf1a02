# SPDX-License-Identifier: GPL-2.0-or-later
"""The records of ``power-models/``: errors of models against measurements and other models.

`CalibrationRecord` is ``calibrated/CORE.json``, `ExpressionsRecord` is ``expressions/CORE.json``
and `ActivityRecord` is ``activity/PLATFORM.json``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from eascope.host.record import Record


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
