# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures of the rootfs tests: the agent compiled for this machine."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from eascope.host.proc import need, run
from eascope.rootfs.headers import INCLUDE
from eascope.rootfs.image import AGENT, FLAGS
from tests.support.agent import AgentRun
from tests.support.waiting import HANG_S


@pytest.fixture(scope="session")
def native_agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The agent's sources compiled for this machine, with the guest's flags."""
    program = tmp_path_factory.mktemp("agent") / "agent"
    names = [source.name for source in sorted(AGENT.glob("*.c"))]
    run([need("gcc", "gcc"), *FLAGS, f"-I{INCLUDE}", "-o", program, *names], cwd=AGENT)
    return program


@pytest.fixture
def agent(native_agent: Path, tmp_path: Path) -> Callable[[bytes], AgentRun]:
    """Runs a script through the agent, under this machine's own init."""

    def start(script: bytes) -> AgentRun:
        path = tmp_path / "script"
        path.write_bytes(script)
        out = tmp_path / "out"
        out.mkdir(exist_ok=True)
        done = subprocess.run(
            [native_agent, path],
            env={**os.environ, "EASCOPE_OUT": str(out), "TMPDIR": str(tmp_path)},
            capture_output=True,
            timeout=HANG_S,
            check=False,
        )
        return AgentRun(done.returncode, done.stdout.decode().splitlines(), out)

    return start
