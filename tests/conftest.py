"""Shared fixtures: the artefacts that guest tests boot, and a folder for each test's runs.

Artefacts (kernel, image, engine) come from the content-addressed cache and are built when they are
not there; runs always go to a temporary folder.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from configs.activity import Activity, load_activity
from configs.platform import Platform, load_platform

REPO = Path(__file__).resolve().parent.parent


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
