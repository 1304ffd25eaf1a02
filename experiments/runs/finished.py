# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading a finished run: with its own files, or with the files that a request names today.

A run's key has all inputs of its simulation, and no more: requests that differ in names, in billed
powers, in the unit of work or in what is expected share a run. The record in its folder is that of
the first request. So the run of a request is read with the request's own record and files, and the
derivation's key covers them. A run by itself is read with its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from eascope.analysis.derive import Derived, derive
from eascope.analysis.records.cell import CellRecord
from eascope.configs.activity import Activity
from eascope.configs.knobs import BILLINGS, BillingKnobs
from eascope.configs.platform import Platform
from eascope.experiments.runs.inputs import simulated_with
from eascope.host.errors import RequestError
from eascope.host.strict import shown_path
from eascope.power.choice import power_model, power_of
from eascope.power.model import PowerModel
from eascope.power.shared import with_shared

if TYPE_CHECKING:
    from eascope.experiments.runs.cell import Cell
    from eascope.experiments.runs.request import Resolved
    from eascope.experiments.runs.store import Run


@dataclass(frozen=True)
class BilledBy(BillingKnobs):
    """The choice of powers by which energies are computed."""

    def __post_init__(self) -> None:
        """Refuse a name that is no choice.

        :raises RequestError: naming the nearest.
        """
        for name, value in vars(self).items():
            BILLINGS[name].check(value)

    def model(self, platform: Platform, activity: Activity) -> PowerModel:
        """The power model.

        :raises RequestError: an unknown name, or a model without figures of a core.
        """
        if self.transition_percent is not None:
            share = self.transition_percent / 100
            platform = replace(platform, idle=replace(platform.idle, transition_share=share))
        return with_shared(power_model(self.power, platform, activity), self.shared_power)

    def check(self, resolved: Resolved) -> None:
        """Refuse what runs of ``resolved`` cannot be billed by, before anything is run.

        :raises RequestError: as `model`, with the platform's file where that is at fault.
        """
        power_of(resolved.platform, self.power)
        try:
            self.model(resolved.platform, resolved.activity)
        except RequestError as error:
            raise RequestError(f"{shown_path(resolved.platform.path)}: {error}") from error


def platform_of(run: Run) -> Platform:
    """The platform that ``run`` was simulated with.

    :raises EascopeError: as `experiments.runs.inputs.simulated_with`.
    """
    return simulated_with(run.path)[0]


def derived_with_platform(run: Run, billed: BilledBy) -> tuple[Derived, Platform]:
    """As `derived_by`, with the platform that ``run`` was simulated with.

    :raises EascopeError: when the run is damaged.
    """
    platform, activity = simulated_with(run.path)
    return _derived(run, platform, activity, billed), platform


def derived_by(run: Run, power: str | BilledBy | None = None) -> Derived:
    """Tables and result of ``run`` with energies by the model ``power``; None: the platform's.

    :raises EascopeError: when the run is damaged.
    """
    billed = power if isinstance(power, BilledBy) else BilledBy(power)
    return _derived(run, *simulated_with(run.path), billed)


def derived_for(cell: Cell, run: Run, power: str | BilledBy | None = None) -> Derived:
    """Tables and result of the run of ``cell``, by the record and the powers of ``cell``.

    :raises EascopeError: when the run is damaged.
    """
    return derived_as(cell.record, cell.resolved, run, power)


def derived_as(
    record: CellRecord, resolved: Resolved, run: Run, power: str | BilledBy | None = None
) -> Derived:
    """As `derived_for`, of a cell that is not prepared.

    :param record: the cell's.
    """
    billed = power if isinstance(power, BilledBy) else BilledBy(power)
    return _derived(run, resolved.platform, resolved.activity, billed, record)


def _derived(
    run: Run,
    platform: Platform,
    activity: Activity,
    billed: BilledBy,
    asked: CellRecord | None = None,
) -> Derived:
    return derive(run.path, platform, activity, billed.model(platform, activity), asked)
