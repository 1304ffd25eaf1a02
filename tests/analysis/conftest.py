# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures: the platform that synthetic runs are made for, and runs derived from them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.compare import Comparison, comparison
from analysis.derive import Derived, derive
from configs.activity import Activity, load_activity
from configs.platform import Platform
from configs.platform_file import load_platform
from tests.support import synthetic
from tests.support.synthetic import Schedule, playback, write_run

PERIODS = {"decode-0": 33_333, "render-1": 16_667, "audio-2": 16_667}
EXPECT = [
    {
        "variant": "cas",
        "statement": "energy_j.total > energy_j.total[mainline]",
        "source": "a source",
    },
    {"variant": "cas", "statement": "missed_deadlines == 0", "source": "a source"},
]


@pytest.fixture(scope="session")
def platform() -> Platform:
    return load_platform("juno-r2")


@pytest.fixture(scope="session")
def activity(platform: Platform) -> Activity:
    return load_activity(platform)


@pytest.fixture
def derived(
    platform: Platform, activity: Activity, tmp_path: Path
) -> Callable[[Schedule], Derived]:
    """Write a run of a schedule and derive it."""

    def make(schedule: Schedule) -> Derived:
        run = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        write_run(run, platform, schedule, periods=PERIODS)
        return derive(run, platform, activity)

    return make


@pytest.fixture(scope="session")
def compared(
    platform: Platform, activity: Activity, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[int], Comparison]:
    """The video-like runs of ``mainline`` and ``cas`` over some seeds, side by side."""
    known: dict[int, Comparison] = {}

    def make(seeds: int) -> Comparison:
        if seeds not in known:
            root = tmp_path_factory.mktemp(f"seeds{seeds}")
            known[seeds] = comparison(
                platform,
                {
                    variant: [
                        derive(make_run(root, platform, variant, seed), platform, activity)
                        for seed in range(seeds)
                    ]
                    for variant in ("mainline", "cas")
                },
            )
        return known[seeds]

    return make


def make_run(root: Path, platform: Platform, variant: str, seed: int) -> Path:
    """One run of :func:`tests.support.synthetic.playback` below ``root``."""
    run = root / f"{variant}-{seed}"
    expect = [entry for entry in EXPECT if entry["variant"] == variant]
    schedule = playback(variant, seed)
    synthetic.write_run(
        run, platform, schedule, variant=variant, seed=seed, periods=PERIODS, expect=expect
    )
    return run
