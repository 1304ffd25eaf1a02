# SPDX-License-Identifier: GPL-2.0-or-later
"""Energy of DRAM and memory controller: apart, and only where accesses were simulated."""

import shutil
from pathlib import Path

import polars as pl
import pytest

from eascope.analysis.compare import comparison
from eascope.analysis.compare_text import text as text_of
from eascope.analysis.derive import derive
from eascope.analysis.figures.stack import draw
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.power.derived import DerivedPower
from eascope.power.memory import load_controller
from tests.support.synthetic import make_run, reseal


def with_memory(run: Path, *, misses: bool) -> None:
    """What gem5 adds: a row of the memory and, on detailed cores, misses of the L2."""
    path = run / "counters.parquet"
    table = pl.read_parquet(path).with_columns(pl.lit(0.0).alias("dram_pj"))
    if misses:
        shared = pl.when(pl.col("cpu") == -1).then(1000.0).otherwise(0.0)
        table = table.with_columns(shared.alias("L2.read_misses"))
    row = table.head(1).with_columns(
        pl.lit(-1).cast(table["cluster"].dtype).alias("cluster"),
        pl.lit(-2).cast(table["cpu"].dtype).alias("cpu"),
        pl.lit(2.5e9).alias("dram_pj"),
        *([pl.lit(0.0).alias("L2.read_misses")] if misses else []),
    )
    path.unlink()
    pl.concat([table, row]).write_parquet(path)
    reseal(run)


@pytest.fixture
def run(tmp_path: Path, platform: Platform) -> Path:
    return make_run(tmp_path, platform, "mainline", 0)


def test_memory_stands_apart(platform: Platform, activity: Activity, run: Path) -> None:
    before = derive(run, platform, activity)
    assert before.result.memory_j is None
    with_memory(run, misses=True)
    shutil.rmtree(before.path)
    after = derive(run, platform, activity)
    lines = 1000.0 * after.table("intervals").filter(pl.col("cpu") == -1).height
    controller = load_controller()
    seconds = after.result.window_s
    spent = after.result.memory_j
    assert spent is not None
    assert spent.dram == pytest.approx(2.5e-3)
    always_j = (controller.routine_w + controller.leakage_w) * seconds
    assert spent.controller == pytest.approx(always_j + lines * controller.read_pj * 1e-12)
    assert after.result.energy_j == before.result.energy_j
    text = text_of(comparison(platform, {"mainline": [after]}))
    assert "\nmemory, not in the total\n  memory controller " in text
    assert "\n  DRAM " in text


def test_the_controller_is_in_the_stack_and_dram_apart(
    platform: Platform, activity: Activity, run: Path
) -> None:
    with_memory(run, misses=True)
    model = DerivedPower(platform, activity)
    shown = comparison(platform, {"mainline": [derive(run, platform, activity, model)]})
    stack, _, after_stack = text_of(shown).partition("\nmemory, not in the total\n")
    assert "\n  memory controller, not in the total " in stack
    assert "DRAM" not in stack
    apart, _, _ = after_stack.partition("\nenergy by task\n")
    assert apart.startswith("  DRAM ")
    assert "controller" not in apart
    ticks = [label.get_text() for label in draw(shown).axes[0].get_yticklabels()]
    assert ticks == ["little, mainline", "big, mainline", "memory, mainline"]


def test_no_memory_where_no_access_was_simulated(
    platform: Platform, activity: Activity, run: Path
) -> None:
    with_memory(run, misses=False)
    assert derive(run, platform, activity).result.memory_j is None


def test_the_controller_is_plausible() -> None:
    """A DDR3 channel: some pJ a bit; McPAT takes a tenth of its peak power for granted."""
    controller = load_controller()
    assert 1 < controller.read_pj / 512 < 30
    assert 0 < controller.routine_w + controller.leakage_w < 0.3
