# SPDX-License-Identifier: GPL-2.0-or-later
"""Executes the missing runs of a scenario at every value of the model axes."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.compare import comparison
from analysis.pairing import by_variant
from analysis.robust import Robust
from experiments.axes import cases_of
from experiments.cell import identity_of, prepare
from experiments.finished import BilledBy
from experiments.request import Request, resolve
from experiments.robust import prepared, robust_of, run_with
from power.choice import power_of
from studies.axes.plan import Varied


def vary(varied: Varied, axes: Sequence[str], seeds: int) -> Robust:
    """The comparison of ``varied`` at every value of ``axes``; executes missing runs.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    names = [
        resolve(
            Request(
                platform=varied.platform,
                variant=variant,
                scenario=varied.scenario,
                controls=varied.controls,
            )
        )
        for variant in varied.variants
    ]
    billing = BilledBy(power_of(names[0].platform))
    cases = cases_of(names, billing, axes, named=False)
    identity = identity_of(names[0].engine)
    cells = [prepare(each.with_seed(seed), identity) for each in names for seed in range(seeds)]
    others = prepared(cases, seeds, identity)
    runs = run_with(cells, cells, others, billing)
    made = [(cell.record.variant, runs[cell.asked][billing]) for cell in cells]
    compared = comparison(names[0].platform, by_variant(made))
    return robust_of(compared, cells, others, runs, cases.left_out)
