# SPDX-License-Identifier: GPL-2.0-or-later
"""Outcomes of a check whose numbers are written down."""

from dataclasses import replace

from eascope.analysis.compare import comparison
from eascope.analysis.derive import Derived
from eascope.analysis.records.result import Frames, Percentiles
from eascope.analysis.reply import Outcome
from eascope.configs.platform import Platform
from tests.support.stated import stated

ENERGIES = [0.2 + 0.0005 * seed for seed in range(20)]
P99 = 100.0


def run(name: str, seed: int, energy: float, p99: float, late: float) -> Derived:
    """A run; the seed changes each factor by up to a thousandth."""
    base, other = stated("mainline", seed), 1 + (seed * 7 % 5 - 2) / 2000
    total = ENERGIES[seed] * energy * (other if name != "mainline" else 1.0)
    result = replace(
        base.result,
        energy_j=replace(base.result.energy_j, total=total),
        work=2.0,
        energy_per_work_j=total / 2.0,
        latency_us={"decode": Percentiles(9.0, 9.0, 9.0, P99 * p99 * other, 999.0)},
        frames=Frames(drawn=120, late=late + seed % 2, skipped=0),
        missed_deadlines=None,
    )
    cell = replace(base.cell, variant=name, scenario="test/bursts", expect=())
    return replace(base, result=result, cell=cell)


def outcome(
    platform: Platform, energy: float = 1.0, p99: float = 1.0, late: float = 0.0, seeds: int = 20
) -> Outcome:
    """A series with these factors of energy and p99, and with more late frames."""
    mainline = [run("mainline", seed, 1.0, 1.0, 5.0) for seed in range(seeds)]
    mine = [run("mine", seed, energy, p99, 5.0 + late) for seed in range(seeds)]
    return Outcome(comparison(platform, {"mainline": mainline, "mine": mine}))
