# SPDX-License-Identifier: GPL-2.0-or-later
"""What a test session says at its end, and what it builds at its beginning."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from eascope.kernels.build import kernel_label
from eascope.kernels.source import Source
from tests.support import artefacts, command, waiting
from tests.support.summary import closing_lines

SESSION = """
import pytest

def test_good():
    pass

@pytest.mark.parametrize("number", [1, 2])
def test_absent(number):
    pytest.skip("no gem5")

@pytest.mark.skip(reason="set EASCOPE_MEASUREMENTS")
def test_without_data():
    pass

@pytest.fixture
def broken():
    raise OSError("no disk")

def test_error(broken):
    pass

def test_bad():
    assert False

@pytest.mark.xfail(reason="the goal is missed", strict=True)
def test_goal():
    assert False
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "workers"])
def test_the_last_line_counts_and_those_before_it_say_why(
    workers: list[str], repo: Path, tmp_path: Path
) -> None:
    """In a session of its own: an error counts as failed, and nothing comes after the totals."""
    (tmp_path / "test_some.py").write_text(SESSION)
    done = waiting.call(
        [
            *(sys.executable, "-m", "pytest", "-p", "tests.support.summary"),
            *("-p", "no:cacheprovider", f"--rootdir={tmp_path}", str(tmp_path), *workers),
        ]
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[-4:] == [
        "1 failed as expected: the goal is missed",
        "2 skipped: no gem5",
        "1 skipped: set EASCOPE_MEASUREMENTS",
        "1 passed, 2 failed, 3 skipped",
    ]


def test_nothing_skipped_is_said_too() -> None:
    assert closing_lines({"passed": [object()] * 3}) == ["3 passed, 0 failed, 0 skipped"]


def item(*marks: pytest.Mark) -> Any:
    """A test with ``marks``."""
    return SimpleNamespace(
        get_closest_marker=lambda name: next((mark for mark in marks if mark.name == name), None),
        iter_markers=lambda name: (mark for mark in marks if mark.name == name),
    )


def test_kernels_are_those_of_the_selected_tests_and_base_comes_first() -> None:
    guest, feec = pytest.mark.guest.mark, pytest.mark.kernels("feec", "sum").mark
    assert artefacts.kernels_of([item()]) == []
    assert artefacts.kernels_of([item(guest)]) == ["base"]
    assert artefacts.kernels_of([item(), item(guest, feec)]) == ["base", "feec", "sum"]
    assert artefacts.kernels_of([item(feec)]) == ["feec", "sum"]


def test_a_command_that_builds_a_kernel_fails_its_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it boots is to be there before: its test says which kernels these are."""
    message = (
        "  kernel feec, Linux 6.12.117 (linux-source-6.12 6.12.117-1) ... (about 5 min 00 s)\n"
    )
    source = Source("6.12.117", "6.12.117-1", "0" * 64)
    assert message.startswith(f"  {kernel_label('feec', source)} ...")
    monkeypatch.setattr(command, "call", lambda *_: SimpleNamespace(stderr=message))
    with pytest.raises(AssertionError, match=re.escape("pytest.mark.kernels('feec')")):
        command.eascope("list")


def test_waiting_ends_when_something_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "HANG_S", 0.0)
    with pytest.raises(AssertionError, match="hangs: the end has not happened"):
        waiting.until(lambda: False, "the end")
