# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors of the core that is calibrated with measured power, from the committed calibration."""

from __future__ import annotations

from typing import Protocol

from power.counted import load_counted
from power.records import CalibrationRecord, FitErrors
from studies.power_validation.tables import percent, table

CORE = "cortex-a15"


def models(record: CalibrationRecord) -> list[str]:
    """The model against others of the same data."""
    return table(
        ("model", "fit", "leaving workloads out", "worst OPP of it", "leaving OPPs out"),
        [
            ("six factors", *_summary(record.errors)),
            ("McPAT uncalibrated", percent(record.uncalibrated.mape), "", "", ""),
            (
                f"free regression, {record.free_regression.terms} terms of any sign (the bound)",
                *_summary(record.free_regression),
            ),
            (
                "published 15-term regression, as stated for it: OPPs known, OPPs left out",
                "3.1 %",
                "",
                "",
                "8.9 %",
            ),
        ],
    )


def alternatives(record: CalibrationRecord) -> list[str]:
    """Other sets of factors."""
    return table(
        ("factors", "fit", "leaving workloads out", "worst OPP of it", "leaving OPPs out"),
        [(title, *_summary(tried)) for title, tried in record.alternatives.items()],
    )


class _Crossed(Protocol):
    """A fit and its errors on data that it has not seen."""

    @property
    def fit(self) -> FitErrors: ...
    @property
    def leaving_workloads_out(self) -> FitErrors: ...
    @property
    def leaving_opps_out(self) -> FitErrors: ...


def _summary(errors: _Crossed) -> tuple[str, str, str, str]:
    workloads = errors.leaving_workloads_out
    mhz, worst = max(workloads.by_mhz.items(), key=lambda item: item[1].mape)
    return (
        f"{errors.fit.mape:.2f} %",
        f"{workloads.mape:.2f} %",
        f"{worst.mape:.1f} % at {mhz} MHz",
        f"{errors.leaving_opps_out.mape:.2f} %",
    )


def factors(record: CalibrationRecord) -> list[str]:
    """The factors, and the reason for each."""
    model = load_counted(CORE)
    rows = []
    for group in model.groups:
        factor = record.factors.get(group.name)
        shown = "left out" if factor is None else f"{factor:g}"
        rows.append((group.name, shown, group.reason))
    return table(("group of McPAT's events", "factor", "why"), rows)


def by_opp(record: CalibrationRecord) -> list[str]:
    """Errors by frequency."""
    errors = record.errors
    rows = []
    for mhz, fitted in errors.fit.by_mhz.items():
        rows.append(
            (
                mhz,
                percent(fitted.mape),
                f"{fitted.mean:+.1f} %",
                percent(errors.leaving_workloads_out.by_mhz[mhz].mape),
                percent(errors.leaving_opps_out.by_mhz[mhz].mape),
                percent(record.free_regression.leaving_opps_out.by_mhz[mhz].mape),
                percent(record.uncalibrated.by_mhz[mhz].mape),
            )
        )
    head = ("MHz", "fit", "mean error", "leaving workloads out", "leaving this OPP out")
    return table((*head, "free regression, this OPP out", "uncalibrated"), rows)


def worst_workloads(record: CalibrationRecord, count: int = 6) -> list[str]:
    """The ``count`` workloads that fit worst."""
    by_workload = record.errors.leaving_workloads_out.by_workload
    worst = sorted(by_workload.items(), key=lambda item: -item[1].mape)[:count]
    free = record.free_regression.leaving_workloads_out.by_workload
    return table(
        ("workload", "error, itself left out", "mean error", "free regression"),
        [
            (name, percent(error.mape), f"{error.mean:+.1f} %", percent(free[name].mape))
            for name, error in worst
        ],
    )
