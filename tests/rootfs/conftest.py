"""Fixtures of the rootfs tests: the built agent under user-mode emulation, LISA's rt-app."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from configs.host.lisa import lisa_binaries
from rootfs.image import guest_agent


@dataclass
class AgentRun:
    """What one script did: exit status, lines on stdout, folder of the files that were sent."""

    status: int
    lines: list[str]
    out: Path

    @property
    def failure(self) -> str:
        """The reason after FAIL; an error when there is not exactly one."""
        (line,) = [line for line in self.lines if line.startswith("FAIL ")]
        return line.removeprefix("FAIL ")


@pytest.fixture(scope="session")
def emulator() -> str:
    """User-mode emulation of arm64 programs."""
    found = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    assert found, "qemu-aarch64 is not installed: run: apt-get install qemu-user-static"
    return found


@pytest.fixture
def agent(emulator: str, tmp_path: Path) -> Callable[[bytes], AgentRun]:
    """Runs a script through the agent as the image has it, beside this machine's own init."""

    def run(script: bytes) -> AgentRun:
        path = tmp_path / "script"
        path.write_bytes(script)
        out = tmp_path / "out"
        out.mkdir(exist_ok=True)
        done = subprocess.run(
            [emulator, guest_agent() / "agent", path],
            env={**os.environ, "EASCOPE_OUT": str(out), "TMPDIR": str(tmp_path)},
            capture_output=True,
            timeout=60,
            check=False,
        )
        return AgentRun(done.returncode, done.stdout.decode().splitlines(), out)

    return run


@pytest.fixture(scope="session")
def rt_app() -> Path:
    """LISA's arm64 rt-app."""
    return lisa_binaries() / "arm64" / "rt-app"
