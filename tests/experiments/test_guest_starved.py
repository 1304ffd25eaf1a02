# SPDX-License-Identifier: GPL-2.0-or-later
"""What a starved task and a scenario that does not get on look like, with the real rt-app."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import eascope

pytestmark = pytest.mark.guest

HEAD = 'summary = "s"\nsource = "s"\nloads = "s"\n'
#: A fair task of 16 ms on a CPU that a real-time task takes for 700 of 800 ms.
STARVED = f"""{HEAD}
[[task]]
name = "fair"
cpus = "big:0"
[[task.phase]]
run_us = 3000
period_us = 16000
[[task]]
name = "hog"
policy = "fifo"
cpus = "big:0"
[[task.phase]]
run_us = 700000
sleep_us = 100000
[window]
warmup_ms = 300
short_ms = 1000
full_ms = 1000
"""
#: The second task wakes the first three times, and ends.
WAITS = f"""{HEAD}
[[task]]
name = "waits"
repeat = "forever"
[[task.phase]]
loops = 1
wait = "wakes"
run_us = 1000
[[task]]
name = "wakes"
[[task.phase]]
loops = 3
run_us = 1000
sleep_us = 2000
[[task]]
name = "other"
[[task.phase]]
run_us = 100
period_us = 10000
[window]
warmup_ms = 300
short_ms = 500
full_ms = 1000
"""


def command(path: Path, text: str) -> list[str]:
    path.write_text(text)
    return ["run", "--platform", "juno-r2", "--variant", "mainline", "--scenario", str(path)]


def test_a_starved_task_misses_all_of_its_deadlines(tmp_path: Path) -> None:
    """It needs 3 of 16 ms and gets 100 of 800, so it falls ever further behind."""
    asked = command(tmp_path / "starved.toml", STARVED)
    done = eascope(*asked, "--json")
    assert done.returncode == 0, done.stderr
    deadlines = json.loads(done.stdout)["deadlines"]["fair"]
    assert deadlines["jobs"] in (62, 63)
    assert deadlines["missed"] == deadlines["jobs"]
    assert deadlines["late"] + deadlines["unfinished"] == deadlines["missed"]
    assert deadlines["unfinished"] > deadlines["late"] > 0
    again = eascope(*asked)
    first, second = again.stdout.splitlines()[:2]
    assert f"{deadlines['jobs']} of {deadlines['jobs']} deadlines missed" in first
    assert second.startswith(f"fair missed {deadlines['jobs']} of {deadlines['jobs']} deadlines")


def test_a_scenario_that_does_not_get_on_fails(tmp_path: Path) -> None:
    done = eascope(*command(tmp_path / "waits.toml", WAITS))
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("eascope: error"))
    assert "waits waited through the whole window for another task" in line
