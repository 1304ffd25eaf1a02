# SPDX-License-Identifier: GPL-2.0-or-later
"""What CI runs: the newcomer's two commands, with nothing there, and nothing left afterwards."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.processes import has_ended
from tests.support.waiting import HANG_S, until

#: Stands for make: notes what it was asked and finds, then ends as it is asked.
MAKE = """#!/bin/sh
mkdir -p "$EASCOPE_CACHE" "$EASCOPE_RUNS"
echo "$1 $EASCOPE_CACHE $(ls -A "$EASCOPE_CACHE" "$EASCOPE_RUNS" | grep -c '^kept') \\
${CCACHE_DIR-none}" >> "$NOTES"
touch "$EASCOPE_CACHE/kept" && chmod a-w "$EASCOPE_CACHE"
case $1 in "$FAILS") exit 3 ;; "$HANGS") echo $$ > "$NOTES.pid"; exec sleep infinity ;; esac
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Where .ci/run finds another make, and a folder for what it makes."""
    program = tmp_path / "bin" / "make"
    program.parent.mkdir()
    program.write_text(MAKE)
    program.chmod(0o755)
    (tmp_path / "scratch").mkdir()
    return {
        **os.environ,
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "TMPDIR": str(tmp_path / "scratch"),
        "NOTES": str(tmp_path / "notes"),
        "CCACHE_DIR": "of another run",
        "FAILS": "",
        "HANGS": "",
    }


def start(repo: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen([repo / ".ci" / "run"], env=environment, stderr=subprocess.DEVNULL)


def notes(tmp_path: Path) -> list[list[str]]:
    return [line.split() for line in (tmp_path / "notes").read_text().splitlines()]


def test_demo_then_test_in_a_cache_of_its_own(
    repo: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    """Both in the same one, which begins empty and is removed."""
    assert start(repo, environment).wait(HANG_S) == 0
    demo, test = notes(tmp_path)
    assert (demo[0], demo[2]) == ("demo", "0")
    assert (test[0], test[2]) == ("test", "1")
    assert demo[1] == test[1]
    assert demo[1].startswith(environment["TMPDIR"])
    assert demo[3] == test[3] == "none"
    assert list((tmp_path / "scratch").iterdir()) == []


def test_the_first_failure_is_its_own(
    repo: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    assert start(repo, environment | {"FAILS": "demo"}).wait(HANG_S) == 3
    assert [line[0] for line in notes(tmp_path)] == ["demo"]
    assert list((tmp_path / "scratch").iterdir()) == []


def test_an_ended_ci_run_ends_its_children(
    repo: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    ci = start(repo, environment | {"HANGS": "test"})
    noted = tmp_path / "notes.pid"
    until(lambda: noted.is_file() and noted.read_text().endswith("\n"), "make test")
    ci.send_signal(signal.SIGTERM)
    assert ci.wait(HANG_S) == 143
    assert has_ended(int(noted.read_text()))
    assert list((tmp_path / "scratch").iterdir()) == []
