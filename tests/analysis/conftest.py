# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures: the platform that synthetic runs are made for, and runs derived from them."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from eascope.analysis.compare import Comparison
from eascope.analysis.derive import Derived, derive
from eascope.configs.activity import Activity, load_activity
from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from tests.support.compared import compared_runs
from tests.support.synthetic import PERIODS, Schedule, write_run


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
def compared(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Comparison]:
    """The video-like runs of ``mainline`` and ``cas`` over some seeds, side by side."""

    @cache
    def make(seeds: int) -> Comparison:
        return compared_runs(tmp_path_factory.mktemp(f"seeds{seeds}"), seeds)

    return make
