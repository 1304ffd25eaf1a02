# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading a finished run: as it was made, or as a request names it today.

A run's key has all that its simulation depends on. Powers that the kernel is not given (of idle
states and shared parts) and the events of derived power are no part of that: they belong to the
derivation, whose key has them. So a run by itself is read by what it was made of. The run of a
request is read by the files that the request names.
"""

from __future__ import annotations

from dataclasses import replace

from analysis.derive import Derived, derive
from configs.activity import Activity
from configs.platform import Platform
from experiments.cell import Cell
from experiments.inputs import simulated_with
from experiments.runs import Run
from power.choice import power_model


def platform_of(run: Run) -> Platform:
    """The platform that ``run`` was simulated with.

    :raises EascopeError: as `experiments.inputs.simulated_with`.
    """
    return simulated_with(run.path)[0]


def derived_by(run: Run, power: str | None = None) -> Derived:
    """Tables and result of ``run`` with energies by the model ``power``; None: the platform's.

    :raises EascopeError: when the run is damaged.
    """
    return _derived(run, *simulated_with(run.path), power)


def derived_for(cell: Cell, run: Run, power: str | None = None) -> Derived:
    """Tables and result of the run of ``cell``, with energies by the powers that ``cell`` names.

    What is expected, and what stands for figures, is said by today's files, too.

    :raises EascopeError: when the run is damaged.
    """
    derived = _derived(run, cell.machine.platform, cell.machine.activity, power)
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


def _derived(run: Run, platform: Platform, activity: Activity, power: str | None) -> Derived:
    return derive(run.path, platform, activity, power_model(power, platform, activity))
