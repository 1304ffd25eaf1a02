# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts under two energy models, in one table."""

from dataclasses import replace

import pytest

from eascope.analysis.compare import Comparison, comparison
from eascope.analysis.compare_text import text as text_of
from eascope.analysis.derive import Derived
from eascope.analysis.energy_models import EnergyModels
from eascope.analysis.records.cell import EnergyModelRecord
from eascope.analysis.report import page
from eascope.configs.platform import Platform
from eascope.host.errors import EascopeError
from eascope.power.given import given_model, given_record
from tests.support.stated import stated


def given_wrongly(
    run: Derived, platform: Platform, factor: float = 1.0, misses: int | None = None
) -> Derived:
    """``run`` with a kernel that was given a wrong power of the bigs; energy times ``factor``."""
    energy = replace(run.result.energy_j, total=run.result.energy_j.total * factor)
    result = replace(run.result, energy_j=energy)
    if misses is not None:
        result = replace(result, missed_deadlines=misses)
    record = given_record(platform, given_model("published", ["big=+20%"]))
    model = EnergyModelRecord.decode(record, "cell.json")
    return replace(run, result=result, cell=replace(run.cell, energy_model=model))


@pytest.fixture
def models(platform: Platform) -> EnergyModels:
    names = ("mainline", "cas")
    usual = comparison(platform, {name: [stated(name, 0)] for name in names})
    changed = {
        "mainline": [given_wrongly(stated("mainline", 0), platform, 1.5)],
        "cas": [given_wrongly(stated("cas", 0), platform, misses=0)],
    }
    return EnergyModels(usual, comparison(platform, changed))


def cells(models: EnergyModels, group: str, label: str) -> tuple[str, str]:
    [row_of_label] = [
        row for row in models.rows if row.group == group and row.label.startswith(label)
    ]
    return row_of_label.usual, row_of_label.asked


def test_values_and_verdicts_stand_beside_each_other(models: EnergyModels) -> None:
    assert models.words == ("published", "published, big +20 %")
    assert cells(models, "mainline", "energy") == ("200.00", "300.00")
    assert cells(models, "cas", "work on big") == ("50.0", "50.0")
    assert cells(models, "cas against mainline", "energy") == ("+25.0", "-16.7")
    more = "cas: energy_j.total > energy_j.total[mainline]"
    few = "only 1 of the 20 seeds required"
    assert cells(models, "expectations", more) == (
        f"undecided: 0.25 against 0.2, +25.0 %, {few}",
        f"undecided: 0.25 against 0.3, -16.7 %, {few}",
    )
    missed = "cas: missed_deadlines < 1"
    assert cells(models, "expectations", missed) == (f"undecided: 3, {few}", f"undecided: 0, {few}")


def test_text_is_aligned_and_says_the_models(models: EnergyModels) -> None:
    lines = models.text().splitlines()
    ends = [line for line in lines if line.startswith("  ")]
    assert len({len(line) for line in ends}) == 1
    assert lines[1].split() == ["published", "published,", "big", "+20", "%"]
    assert "kernel's energy model: published, big +20 %" in text_of(models.asked)
    assert "energy model" not in text_of(models.usual)
    record = models.record()
    assert record["asked"] == "published, big +20 %"
    assert record["usual_variants"]["mainline"]["mean"]["energy_j"]["total"] == 0.2


def test_report_has_what_the_kernel_was_told(models: EnergyModels) -> None:
    text = page(models.asked, {}, models)
    assert '<td class="left">big</td><td>1200</td><td>648.0</td><td>540.0</td>' in text
    assert '<td class="left">energy (%)</td><td>+25.0</td><td>-16.7</td>' in text
    assert "<summary>published</summary>" in page(models.usual, {})


def test_runs_under_different_models_are_not_compared(platform: Platform) -> None:
    runs = {"mainline": [stated("mainline", 0)], "cas": [given_wrongly(stated("cas", 0), platform)]}
    with pytest.raises(
        EascopeError, match=r"had the energy model published, big \+20 %, the others?"
    ):
        comparison(platform, runs)


def test_other_seeds_are_no_pair(platform: Platform, models: EnergyModels) -> None:
    other_seed: Comparison = comparison(
        platform, {name: [stated(name, 1)] for name in ("mainline", "cas")}
    )
    with pytest.raises(EascopeError, match="different runs"):
        EnergyModels(other_seed, models.asked)
