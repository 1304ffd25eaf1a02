# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading a finished run by what it was made of: its platform, its result by a power model."""

from __future__ import annotations

from analysis.derive import Derived, derive
from configs.platform import Platform
from experiments.inputs import machine_of
from experiments.runs import Run
from power.choice import power_model


def platform_of(run: Run) -> Platform:
    """The platform that ``run`` was simulated with.

    :raises EascopeError: as `experiments.inputs.machine_of`.
    """
    return machine_of(run.path, run.cell)[0]


def derived_by(run: Run, power: str) -> Derived:
    """Tables and result of ``run`` with energies by the model ``power`` (see `power.choice`).

    :raises EascopeError: when the run is damaged, or what it was made of is not known any more.
    """
    platform, activity = machine_of(run.path, run.cell)
    return derive(run.path, platform, activity, power_model(power, platform, activity))
