# SPDX-License-Identifier: GPL-2.0-or-later
"""The guard of `tests/conftest.py`: a test that leaves the environment changed fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.environment import changed_variables
from tests.support.repo import REPO

#: Four tests: one that leaves a variable, one that removes one, one that has it patched, one after.
TESTS = """
import os

def test_sets():
    os.environ["EASCOPE_LEFT"] = "1"

def test_removes():
    del os.environ["EASCOPE_CACHE"]

def test_patches(monkeypatch):
    monkeypatch.setenv("EASCOPE_CACHE", "elsewhere")
    monkeypatch.delenv("HOME")

def test_sees_what_was_there():
    assert "EASCOPE_LEFT" not in os.environ
    assert os.environ["EASCOPE_CACHE"] == "here"
"""


def test_a_test_that_leaves_a_variable_fails_and_the_next_one_does_not(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.conftest",
         "--rootdir", tmp_path, "-c", os.devnull, tmp_path / "test_it.py"],
        env={**os.environ, "EASCOPE_CACHE": "here", "PYTHONPATH": str(REPO)},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "4 passed, 2 errors" in done.stdout, done.stdout + done.stderr
    assert "the test left os.environ changed: EASCOPE_LEFT" in done.stdout
    assert "the test left os.environ changed: EASCOPE_CACHE" in done.stdout


@pytest.mark.parametrize(
    ("after", "names"),
    [
        ({"A": "1"}, []),
        ({"A": "2"}, ["A"]),
        ({}, ["A"]),
        ({"A": "1", "C": "", "B": ""}, ["B", "C"]),
        ({"A": "1", "PYTEST_CURRENT_TEST": "x"}, []),
    ],
)
def test_changed_variables(after: dict[str, str], names: list[str]) -> None:
    assert changed_variables({"A": "1"}, after) == names
