# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of wake-up costs, from made-up figures."""

from __future__ import annotations

from dataclasses import replace

from analysis.results.comparisons import Spread
from analysis.results.origin import RUNS, Origin
from analysis.results.wakeup_cost import Queue, VariantCost, WakeUpCost
from studies.wakeup_cost.page import parts

BASE = VariantCost(
    "mainline",
    {"one CPU": Spread(1000.0, 990.0, 1010.0), "anywhere": Spread(2000.0, 1990.0, 2010.4)},
    {},
)
OTHER = replace(BASE, name="feec-b", change_percent={"one CPU": 0.04, "anywhere": 10.26})
RECORD = WakeUpCost(
    Origin("a test", RUNS),
    "juno-r2",
    (1000, 10_000),
    3,
    {"one CPU": "no placement", "anywhere": "placement"},
    (BASE, OTHER),
    (Queue("base", 10, 2, ""),),
)


def test_figures_stand_by_variant_and_form() -> None:
    shown = parts(RECORD)
    row = "| feec-b | 1000 (990..1010) | +0.0 % | 2000 (1990..2010) | +10.3 % |"
    assert row in shown["instructions"]
    assert "| base | 10 | 2 |  |" in shown["lines"]
    assert shown["answer"] == "feec-b +10.3 % of mainline's instructions"
    assert "* one CPU: no placement." in shown["conditions"]


def test_one_variant_has_nothing_to_differ_from() -> None:
    alone = parts(replace(RECORD, variants=(BASE,)))
    assert alone["answer"] == "mainline alone was measured"
