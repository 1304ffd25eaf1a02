# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared fixtures: the artefacts that guest tests boot, and a folder for each test's runs.

Artefacts (kernel, image, engine) come from the content-addressed cache and are built when they are
not there; runs always go to a temporary folder.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from configs.activity import Activity, load_activity
from configs.platform import Platform
from configs.platform_file import load_platform
from engines.gem5.provider import find_gem5, version
from host.errors import EascopeError

pytest_plugins = ("tests.support.platforms",)

REPO = Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs gem5 where there is none that will do, and say why."""
    wanting = [item for item in items if item.get_closest_marker("gem5")]
    if not wanting:
        return
    try:
        version(find_gem5())
    except EascopeError as error:
        for item in wanting:
            item.add_marker(pytest.mark.skip(reason=str(error)))


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Count tests skipped for want of gem5 by themselves: pytest's last line then says it."""
    if report.skipped and "gem5" in report.keywords and not hasattr(report, "wasxfail"):
        return "gem5 tests skipped", "s", "SKIPPED"
    return None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Why gem5's tests were skipped, in one line."""
    skipped = terminalreporter.stats.get("gem5 tests skipped")
    if skipped:
        reason = skipped[0].longrepr[2]
        terminalreporter.write_line(f"gem5: {len(skipped)} tests {reason[0].lower()}{reason[1:]}")


@pytest.fixture(scope="session")
def repo() -> Path:
    """The root of the checkout."""
    return REPO


@pytest.fixture(autouse=True)
def _runs_in_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EASCOPE_RUNS", str(tmp_path / "runs"))


@pytest.fixture(scope="session")
def juno() -> Platform:
    """The platform that most tests use."""
    return load_platform("juno-r2")


@pytest.fixture(scope="session")
def juno_activity(juno: Platform) -> Activity:
    """Its activity record."""
    return load_activity(juno)
