# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs are paired by the seed and the replicate that they record."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eascope.analysis.compare import comparison
from eascope.analysis.derive import Derived
from eascope.analysis.pairing import by_variant, paired
from eascope.configs.platform import Platform
from eascope.host.errors import EascopeError
from tests.support.stated import stated


def runs(name: str, *seeds: int) -> list[Derived]:
    """Made-up runs of a variant, in this order."""
    return [stated(name, seed) for seed in seeds]


def test_the_order_of_runs_says_nothing(platform: Platform) -> None:
    made = paired({"mainline": runs("mainline", 0, 1, 2), "cas": runs("cas", 2, 0, 1)})
    assert [[run.cell.seed for run in each] for each in made.values()] == [[0, 1, 2]] * 2
    mixed = [*runs("mainline", 1), *runs("cas", 0, 1), *runs("mainline", 0)]
    in_order = comparison(platform, {"mainline": runs("mainline", 0, 1), "cas": runs("cas", 0, 1)})
    grouped = comparison(platform, by_variant((run.cell.variant, run) for run in mixed))
    assert grouped.seeds == [0, 1]
    assert grouped.names == ["mainline", "cas"]
    assert grouped.results == in_order.results


def test_a_run_without_a_partner_is_named(platform: Platform) -> None:
    unequal = {"mainline": runs("mainline", 0, 1, 2), "cas": runs("cas", 0, 3)}
    with pytest.raises(EascopeError, match=r"^mainline has no run of seed 3, but cas has"):
        comparison(platform, unequal)
    missing = {"mainline": runs("mainline", 0, 1, 2), "cas": runs("cas", 1)}
    with pytest.raises(EascopeError, match=r"^cas has no run of seed 0, 2, but mainline has"):
        comparison(platform, missing)


def test_a_seed_that_occurs_twice_is_refused() -> None:
    with pytest.raises(EascopeError, match="cas has seed 1 twice"):
        paired({"mainline": runs("mainline", 0, 1), "cas": runs("cas", 1, 0, 1)})


def test_a_seed_that_drew_something_else_is_refused() -> None:
    (run,) = runs("cas", 0)
    drew = replace(run.cell.replicate, idle_us=run.cell.replicate.idle_us + 1)
    other = replace(run, cell=replace(run.cell, replicate=drew))
    with pytest.raises(EascopeError, match="seed 0 drew another replicate"):
        paired({"mainline": runs("mainline", 0), "cas": [other]})
