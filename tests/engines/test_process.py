# SPDX-License-Identifier: GPL-2.0-or-later
"""What watches a simulator, with processes that are none."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from eascope.engines import process
from eascope.engines.base import EngineFailed
from eascope.engines.process import Simulator, Spent
from tests.support.waiting import HANG_S


class Plain(Simulator):
    """Its lines are simulated ns and instructions."""

    def __init__(self, on_look: Callable[[], None] = lambda: None) -> None:
        super().__init__("a test", Spent())
        self.on_look = on_look

    def line(self, line: bytes) -> bool:
        return self.progress(line.decode())

    def failed(self, reason: str) -> EngineFailed:
        return EngineFailed(reason, [], [])

    def look(self) -> None:
        self.on_look()

    def run(self, script: str, stall_s: float) -> int:
        """Watch a shell that writes into descriptor 3."""

        def start(writer: int) -> subprocess.Popen[bytes]:
            command = ["bash", "-c", f"exec 3>&{writer}; {script}"]
            return subprocess.Popen(command, pass_fds=[writer], start_new_session=True)

        return self.supervise(start, stall_s, None)


def test_time_in_which_nobody_looked_is_no_stall(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As when the caller is stopped and goes on, or a laptop sleeps."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    ahead = [0.0]
    clock = time.monotonic

    class Clock:
        monotonic = staticmethod(lambda: clock() + ahead[0])

    def jump() -> None:
        ahead[0] += 1000
        if ahead[0] == 2000:  # the process goes on when it has been looked at twice
            gate.write_text("go\n")

    monkeypatch.setattr(process, "time", Clock)
    watched = Plain(jump)
    assert watched.run(f"echo 1 1 >&3; read -r _ < {gate}; echo 2 2 >&3; exit 7", stall_s=500) == 7
    assert ahead[0] >= 2000
    assert watched._spent.sim_ns == 2


def test_a_simulator_without_progress_is_ended() -> None:
    with pytest.raises(EngineFailed, match=r"no simulated progress for 0 s .* a test hangs"):
        Plain().run("echo 1 1 >&3; exec sleep infinity", stall_s=0.3)


def test_a_failure_is_seen_after_the_simulator_has_ended(tmp_path: Path) -> None:
    """Somebody else holds the pipe, and what is wrong is seen after the end."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)

    def look() -> None:
        raise EngineFailed("the guest has died", [], [])

    with pytest.raises(EngineFailed, match="the guest has died"):
        Plain(look).run(f"read -r _ < {gate} & exit 0", stall_s=HANG_S)
    gate.write_text("go\n")
