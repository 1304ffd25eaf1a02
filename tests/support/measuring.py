# SPDX-License-Identifier: GPL-2.0-or-later
"""What commands take, and the type of the fixture that keeps figures."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tests.support.repo import REPO

#: `eascope` for ``python -c``.
EASCOPE = "import sys; from eascope.experiments.cli.main import main; sys.exit(main(sys.argv[1:]))"


class Keep(Protocol):
    """Prints the figures of a measurement."""

    def __call__(self, name: str, figures: Mapping[str, float]) -> None: ...


@dataclass(frozen=True)
class Took:
    """Wall seconds of a command, and processor seconds of all its processes."""

    wall_s: float
    processor_s: float


def processor_s() -> float:
    """Processor time of this process's ended children."""
    times = os.times()
    return times.children_user + times.children_system


def took(arguments: Sequence[str], program: str = EASCOPE, runs: Path | None = None) -> Took:
    """Run ``eascope`` with ``arguments``.

    :param program: Python that does so.
    :param runs: its folder of runs.
    :raises AssertionError: when it fails.
    """
    begin = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=REPO,
        env={**os.environ, **({"EASCOPE_RUNS": str(runs)} if runs else {})},
        stdout=subprocess.DEVNULL,
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.monotonic() - begin
    assert process.returncode == 0
    return Took(wall_s, usage.ru_utime + usage.ru_stime)
