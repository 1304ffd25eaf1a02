# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading a finished run: with its own files, or with the files that a request names today.

A run's key has all inputs of its simulation. Some powers are inputs of the derivation only, and its
key has them: powers of idle states and shared parts, which the kernel is not given, and the events
of derived power. So a run by itself is read with its own files. The run of a request is read with
the files that the request names.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from analysis.derive import Derived, derive
from configs.activity import Activity
from configs.platform import Platform
from experiments.cell import Cell
from experiments.inputs import simulated_with
from experiments.runs import Run
from power.billed import PowerModel
from power.choice import power_model
from power.shared import STATED, with_shared


@dataclass(frozen=True)
class BilledBy:
    """The choice of powers by which energies are computed.

    :param power: see `power.choice`; None: the platform's default.
    :param shared_power: of the shared part, see `power.shared`.
    :param transition_percent: of a busy CPU's power that entries into and exits from idle states
        are billed; None: as the platform says.
    """

    power: str | None = None
    shared_power: str = STATED
    transition_percent: int | None = None

    def model(self, platform: Platform, activity: Activity) -> PowerModel:
        """The power model.

        :raises RequestError: an unknown name, or a model without figures of a core.
        """
        if self.transition_percent is not None:
            share = self.transition_percent / 100
            platform = replace(platform, idle=replace(platform.idle, transition_share=share))
        return with_shared(power_model(self.power, platform, activity), self.shared_power)


def platform_of(run: Run) -> Platform:
    """The platform that ``run`` was simulated with.

    :raises EascopeError: as `experiments.inputs.simulated_with`.
    """
    return simulated_with(run.path)[0]


def derived_by(run: Run, power: str | BilledBy | None = None) -> Derived:
    """Tables and result of ``run`` with energies by the model ``power``; None: the platform's.

    :raises EascopeError: when the run is damaged.
    """
    billed = power if isinstance(power, BilledBy) else BilledBy(power)
    return _derived(run, *simulated_with(run.path), billed)


def derived_for(cell: Cell, run: Run, power: str | BilledBy | None = None) -> Derived:
    """Tables and result of the run of ``cell``, with energies by the powers that ``cell`` names.

    Expectations and names of figures also come from today's files.

    :raises EascopeError: when the run is damaged.
    """
    billed = power if isinstance(power, BilledBy) else BilledBy(power)
    derived = _derived(run, cell.machine.platform, cell.machine.activity, billed)
    now = cell.record
    record = replace(
        derived.cell,
        inputs=now.inputs,
        expect=now.expect,
        set_otherwise=now.set_otherwise,
        source_conditions=now.source_conditions,
        borrowed=now.borrowed,
        assumed=now.assumed,
    )
    return replace(derived, cell=record)


def _derived(run: Run, platform: Platform, activity: Activity, billed: BilledBy) -> Derived:
    return derive(run.path, platform, activity, billed.model(platform, activity))
