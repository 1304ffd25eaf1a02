# SPDX-License-Identifier: GPL-2.0-or-later
"""How the checks of ``tests.support.reliability`` count and choose."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from tests.support.reliability import checks
from tests.support.reliability.__main__ import PAGE, needed_kib
from tests.support.reliability.campaign import Process
from tests.support.reliability.checks import Kill, Kills


def test_kills_are_counted_by_the_quarter_of_their_roles_time() -> None:
    first = [Kill("engine", 0.0), Kill("engine", 0.24), Kill("sweep", 0.5)]
    done = Kills({"engine": 8.0, "sweep": 20.0}, [first, [Kill("runner", 0.99)], []])
    done.per_campaign.append([Kill("runner", 1.2)])
    assert done.quarters() == [2, 0, 1, 2]


def test_what_runs_need_has_whole_pages_of_finished_runs_alone(tmp_path: Path) -> None:
    run = tmp_path / ("a" * 64)
    (run / ".derived").mkdir(parents=True)
    (run / "done").write_bytes(b"x" * (PAGE + 1))
    (run / ".derived" / "table").write_bytes(b"x")
    (tmp_path / "other").write_bytes(b"x" * 10 * PAGE)
    assert needed_kib(tmp_path) == 3 * PAGE // 1024


@pytest.mark.parametrize(("seconds", "kills"), [("60", 1), ("0.3", 0)])
def test_a_kill_comes_after_its_roles_first_process(
    seconds: str, kills: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A role that has ended by the drawn time is not killed, however early it was there."""
    process = subprocess.Popen(["sleep", seconds], stdout=subprocess.PIPE, text=True)
    monkeypatch.setattr(checks, "start", lambda runs: process)
    monkeypatch.setattr(checks, "processes_of", lambda pid: [Process(pid, "runner")])
    monkeypatch.setattr(random.Random, "uniform", lambda self, low, high: 0.6)
    killed = checks._one_kill(tmp_path, random.Random(1), {"runner": 1.2})
    assert process.returncode == (-9 if kills else 0)
    assert (killed is not None) == bool(kills)
    if killed:
        assert killed.share >= 0.5
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
