# SPDX-License-Identifier: GPL-2.0-or-later
"""Surveys of campaigns: what is checked, what the rest costs, and that plan and status agree."""

from dataclasses import replace
from typing import Any

import pytest

from eascope.configs.platform import Platform
from eascope.experiments.cli.plan import plan_lines, plan_object
from eascope.experiments.cli.status import campaign_lines, campaign_object
from eascope.experiments.runs.pool import BESIDE_S, BOOT_S
from eascope.experiments.sweeps.ledger import (
    DONE,
    LedgerFile,
    LedgerLine,
    ledger_folder,
    read_ledger,
)
from eascope.experiments.sweeps.long_table import measured
from eascope.experiments.sweeps.part import MOST_CELLS, run_part
from eascope.experiments.sweeps.resolver import cell_id
from eascope.experiments.sweeps.survey import Survey, cost_of, totals_of
from eascope.host.cache import runs_root
from tests.support.campaigns import StandInRuns, campaign, part_of, surveyed
from tests.support.cells import Artefacts
from tests.support.refusals import refusal

#: Powers that juno-r2 offers.
BILLED_BY = ("published", "derived")


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        (
            {"power": "bad"},
            "power = 'bad': cell juno-r2, smoke, mainline: unknown power model 'bad': allowed: ",
        ),
        (
            {"power": "profile"},
            "power = 'profile': cell juno-r2, smoke, mainline: --power profile: juno-r2 offers mea",
        ),
        ({"shared_power": "of"}, "axes.shared_power = 'of': allowed: one of off, stated, zero"),
        (
            {"transition_percent": 101},
            "axes.transition_percent = 101: allowed: an integer in 0..100",
        ),
    ],
)
def test_a_way_of_billing_that_is_none(
    artefacts: Artefacts, axes: dict[str, Any], message: str
) -> None:
    """Every cell would run, and then fail."""
    wrong = refusal(lambda: surveyed(campaign(**axes), look_up=False))
    assert wrong.startswith(f"test.toml: {message}")


def finish(of: Survey, cells: int, spent: LedgerLine) -> None:
    """Write run folders and ledger lines of the first ``cells`` cells of each point."""
    for number, group in enumerate(of.groups):
        ledger = LedgerFile(ledger_folder(of.campaign.name) / f"{number}.jsonl")
        for seed in of.campaign.seeds[:cells]:
            simkey = f"{number * 1000 + seed:064x}"
            (runs_root() / simkey).mkdir(parents=True)
            ledger.add(replace(spent, cell=cell_id(group.group_id, seed), simkey=simkey))
        ledger.close()


def test_the_cost_of_the_rest_is_the_mean_of_what_is_done(artefacts: Artefacts) -> None:
    """Of processor time: a busy host makes host times longer, and the first cell boots."""
    plan = campaign(seeds=3)
    before = surveyed(plan, look_up=False)
    finish(before, 1, LedgerLine("", DONE, host_s=9.0, cpu_s=1.0, core_s=4.0))
    cost = cost_of(surveyed(plan, look_up=False))
    assert cost.core_s == 4 * 4.0


def test_lines_of_earlier_versions_count_by_their_host_time(artefacts: Artefacts) -> None:
    plan = campaign(seeds=2)
    finish(surveyed(plan, look_up=False), 1, LedgerLine("", DONE, host_s=3.0, cpu_s=1.0))
    assert cost_of(surveyed(plan, look_up=False)).core_s == 2 * 3.0


def test_without_any_run_cells_share_their_boots(artefacts: Artefacts) -> None:
    survey = surveyed(campaign(seeds=2 * MOST_CELLS), look_up=False)
    names = survey.groups[0].resolved
    assert names.engine.name == "qemu"
    seconds = names.scenario.window.simulated_s(False) + 1.0  # with the stirring before it
    rate = names.engine.host_s_per_s(elide=True)
    item = BOOT_S / MOST_CELLS + rate * seconds + BESIDE_S
    assert cost_of(survey).core_s == pytest.approx(4 * MOST_CELLS * item)


def test_plan_and_status_agree(artefacts: Artefacts, juno: Platform) -> None:
    """What is done costs in ``status`` what ``plan`` expects of as many cells more."""
    run_part(part_of(surveyed(campaign(seeds=2))), StandInRuns())
    spent = sum(line.core_s for line in read_ledger("test").values())
    assert spent > 0
    more = surveyed(campaign(seeds=4), look_up=False)
    state, plan = campaign_object(more), plan_object(more, cost_of(more), 2)
    assert state["states"] == plan["states"] == {"done": 4, "failed": 0, "missing": 4}
    assert state["measured"] == 4
    # Sums of floats in another order may be rounded to the next tenth.
    assert state["core_s"] == pytest.approx(spent, abs=0.051)
    assert plan["core_s"] == pytest.approx(spent, abs=0.051)
    assert plan["host_s"] == pytest.approx(spent / 2, abs=0.051)
    assert state["disk_kib"] == plan["disk_kib"] != 0
    output = "\n".join(campaign_lines(more))
    assert "campaign test: 8 cells: 4 done, 0 failed, 4 missing" in output
    for words in ("of one core", "MIPS (median)", "largest process", "MB"):
        assert words in output
    assert "done: 4, failed: 0, to run: 4" in plan_lines(more, cost_of(more), 2)


def test_ways_of_billing_share_their_runs(artefacts: Artefacts, juno: Platform) -> None:
    """Four energies of each run, which is made, counted and expected once."""
    billing = {"name": "billing", "values": {name: {"power": name} for name in BILLED_BY}}
    plan = campaign(axis=[billing], shared_power=["stated", "zero"], transition_percent=[0])
    before = surveyed(plan)
    assert before.cells == 8
    item = cost_of(surveyed(campaign("other"), look_up=False)).core_s
    assert cost_of(before).core_s == pytest.approx(item + 6 * BESIDE_S)
    executed = StandInRuns()
    run_part(part_of(before), executed)
    assert executed.cells == [("mainline", 0), ("cas", 0)]
    after = surveyed(plan, look_up=False)
    assert after.counts["done"] == 8
    assert totals_of(after).measured == 2
    energies = {cell.axes: (cell.run, cell.value) for cell in measured(after, ["energy_j.total"])}
    assert len(energies) == 8
    assert len({run for run, _ in energies.values()}) == 2
    assert len({value for _, value in energies.values()}) == 8


def test_status_names_causes(artefacts: Artefacts, juno: Platform) -> None:
    plan = campaign(seeds=2)
    run_part(part_of(surveyed(plan)), StandInRuns(fails=("cas",)))
    lines = campaign_lines(surveyed(plan, look_up=False))
    assert lines[0] == "campaign test: 4 cells: 2 done, 2 failed, 0 missing"
    assert lines[1] == "  failed, 2 of this cause: cas fails here"
    assert lines[2] == "    the first of them: juno-r2, smoke, cas, seed 0"
