# SPDX-License-Identifier: GPL-2.0-or-later
"""What captions say of the fast engine's error: only what was measured for such a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.engine import error_words
from analysis.results.error import agreements, error_of
from engines.gem5.engine import GEM5
from engines.qemu.engine import QEMU
from tests.support.agreement import MEASURED
from tests.support.records import cell_record

FAST = QEMU.make("").traits


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    MEASURED.write(tmp_path / "engine-agreement.json")
    return tmp_path


def test_a_platform_file_of_ones_own_has_no_error_of_ours() -> None:
    """It may have the name of one that was compared with gem5."""
    own = cell_record(scenario="smoke", own_platform=True)
    assert error_words(own, "published") == (
        "no error against gem5 was measured on juno-r2, a platform file of one's own"
    )
    assert error_words(replace(own, own_platform=False), "published").startswith("energy within")
    reference = replace(own, engine_traits=GEM5.make("elided").traits)
    assert error_words(reference, "published").startswith("the reference engine")


def test_the_cells_of_the_scenario_count_and_gem5s_cpus_are_named(folder: Path) -> None:
    assert error_of("juno-r2", "smoke", folder=folder, traits=FAST) == (
        "energy within 3.0 % of gem5's atomic CPUs, 1 cell, means over 10 seeds"
    )
    assert error_of("juno-r2", "eas/game", folder=folder, traits=FAST) == (
        "energy within 1.3 % of gem5's atomic CPUs, 2 cells, means over 10 seeds"
    )


def test_other_scenarios_are_said_to_be_others(folder: Path) -> None:
    assert error_of("juno-r2", "ui/jank", folder=folder, traits=FAST) == (
        "energy within 3.0 % of gem5's atomic CPUs on other scenarios, 3 cells, means over 10 seeds"
    )


def test_detailed_cpus_count_where_they_are_all_there_is(tmp_path: Path) -> None:
    cells = tuple(
        replace(cell, against={"elided-detailed": cell.against["elided-detailed"]})
        for cell in MEASURED.cells
    )
    record = replace(MEASURED, cells=cells, speeds="measured")
    record.write(tmp_path / "engine-agreement-measured.json")
    assert error_of("juno-r2", "smoke", speeds="measured", folder=tmp_path, traits=FAST) == (
        "energy within 20.0 % of gem5's detailed CPUs, 1 cell, one seed of gem5"
    )


@pytest.mark.parametrize(
    ("platform", "speeds", "power", "words"),
    [
        ("pixel6", "board", "published", "on pixel6 at the board's speeds with published power"),
        ("juno-r2", "measured", "published", "at measured speeds with published power"),
        ("juno-r2", "board", "derived", "at the board's speeds with derived power"),
    ],
)
def test_another_platform_speed_or_power_has_no_figure(
    folder: Path, platform: str, speeds: str, power: str, words: str
) -> None:
    sentence = error_of(platform, "smoke", speeds=speeds, power=power, folder=folder, traits=FAST)
    assert sentence.startswith("no error against gem5 was measured on ")
    assert sentence.endswith(words)
    assert "%" not in sentence


def test_gem5_names_its_cpus_in_every_mode(folder: Path) -> None:
    assert {
        mode: error_of("pixel6", "smoke", traits=GEM5.make(mode).traits, folder=folder)
        for mode in GEM5.modes
    } == {
        "elided": "the reference engine, on atomic CPUs",
        "elided-detailed": "the reference engine, on detailed CPUs",
        "timing": "the reference engine, on timing CPUs",
        "detailed": "the reference engine, on detailed CPUs",
    }


def test_nothing_measured_is_said(tmp_path: Path) -> None:
    assert error_of("juno-r2", "smoke", folder=tmp_path, traits=FAST).startswith("no error")


def test_the_committed_records_are_read() -> None:
    assert {(record.platform, record.speeds, len(record.cells)) for record in agreements()} == {
        ("juno-r2", "board", 8),
        ("juno-r2", "measured", 8),
    }
