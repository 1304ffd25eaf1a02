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
from tests.support.synthetic import PERIODS, Schedule, make_run, write_run


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
