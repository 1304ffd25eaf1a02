# SPDX-License-Identifier: GPL-2.0-or-later
"""Comparisons whose energies are written down, as at values of a model axis."""

from dataclasses import replace

from eascope.analysis.compare import Comparison, comparison
from eascope.analysis.derive import Derived
from eascope.configs.platform import Platform
from tests.support.stated import stated

SEEDS = 20


def with_energy(run: Derived, factor: float, work: float | None = None) -> Derived:
    total = run.result.energy_j.total * factor
    result = replace(run.result, energy_j=replace(run.result.energy_j, total=total))
    if work is not None:
        result = replace(result, work=work, energy_per_work_j=total / work)
    return replace(run, result=result)


def at(
    platform: Platform, factor: float, seeds: int = SEEDS, work: float | None = None
) -> Comparison:
    """``cas`` with ``factor`` times its energy (0.25 J against mainline's 0.2 J)."""
    return comparison(
        platform,
        {
            "mainline": [
                with_energy(stated("mainline", seed), 1.0, work and 1.0) for seed in range(seeds)
            ],
            "cas": [with_energy(stated("cas", seed), factor, work) for seed in range(seeds)],
        },
    )
