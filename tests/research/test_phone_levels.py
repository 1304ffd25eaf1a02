# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads of the phone's benchmarks: the rule's files."""

import pytest

from eascope.configs.platform_file import load_platform
from eascope.experiments.scenario_file import load_scenario
from research.phone_levels import GRID, RAILS, file_with
from research.plan import ROOT


@pytest.mark.parametrize(
    ("scenario", "pair"), list(zip(RAILS, ((0.6, 10), (0.7, 10)), strict=True))
)
def test_a_pairs_file_is_the_scenarios_and_keeps_the_mean(
    scenario: str, pair: tuple[float, int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The committed one for its own pair; all for whole cycles, with 1.08 times the share."""
    text = (ROOT / f"experiments/scenarios/{scenario}.toml").read_text()
    assert file_with(text, *pair) == text
    for k, n in GRID:
        path = tmp_path_factory.mktemp("load") / "load.toml"
        path.write_text(file_with(text, k, n))
        made = load_scenario(str(path), load_platform("pixel6"))
        heavy, light = next(task for task in made.tasks if task.name == "render").phases
        assert (heavy.loops, light.loops) == (60, 60 * (n - 1))
        work = 60 * (heavy.run_us or 0) + 60 * (n - 1) * (light.run_us or 0)
        share = 50 / 1024 * 16_667 * k * (1 + 0.1 * (n - 1) / n)
        assert work / (60 * n) == pytest.approx(share, rel=0.01)
        assert made.window.warmup_ms == 1000 * n
