# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads of the phone's benchmarks: the rule's files."""

from pathlib import Path

import pytest

from eascope.configs.platform_file import load_platform
from eascope.experiments.scenario_file import load_scenario
from research.phone_levels import GRID, RAILS, SCENARIO, file_with
from research.plan import ROOT

TEXT = (ROOT / f"experiments/scenarios/{SCENARIO}.toml").read_text()


@pytest.mark.parametrize(
    ("scenario", "pair"), list(zip(RAILS, ((0.6, 10), (0.7, 10)), strict=True))
)
def test_a_pairs_file_has_the_scenarios_tasks(
    scenario: str, pair: tuple[float, int], tmp_path: Path
) -> None:
    (path := tmp_path / "load.toml").write_text(file_with(TEXT, *pair))
    made, own = (load_scenario(name, load_platform("pixel6")) for name in (str(path), scenario))
    assert (made.tasks, made.window) == (own.tasks, own.window)


def test_every_pair_is_whole_cycles_with_1_08_times_the_share(tmp_path: Path) -> None:
    for k, n in GRID:
        (path := tmp_path / f"{round(10 * k)}-{n}.toml").write_text(file_with(TEXT, k, n))
        made = load_scenario(str(path), load_platform("pixel6"))
        heavy, light = next(task for task in made.tasks if task.name == "render").phases
        assert (heavy.loops, light.loops) == (60, 60 * (n - 1))
        work = 60 * (heavy.run_us or 0) + 60 * (n - 1) * (light.run_us or 0)
        share = 50 / 1024 * 16_667 * k * (1 + 0.1 * (n - 1) / n)
        assert work / (60 * n) == pytest.approx(share, rel=0.01)
        assert made.window.warmup_ms == 1000 * n
