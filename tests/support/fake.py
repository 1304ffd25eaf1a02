# SPDX-License-Identifier: GPL-2.0-or-later
"""An engine that simulates nothing, so that run directories are tested without a guest.

Run as a program it executes one cell and hangs in it, to be killed:
``python -m tests.support.fake KEY``.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from eascope.configs.activity import load_activity
from eascope.configs.platform_file import load_platform
from eascope.configs.resolved import machine_json
from eascope.engines.base import EngineFailed, EngineRun
from eascope.engines.records import TRACE
from eascope.experiments.runs.cell import Cell
from eascope.experiments.runs.inputs import MACHINE
from eascope.experiments.runs.store import RAW, execute
from eascope.experiments.scenario.model import WindowLengths
from tests.support.records import cell_record

KEY = "ab" * 32


class FakeEngine:
    """Writes what an engine writes; ``behave`` is called between the first file and the rest."""

    name = "fake"
    shares_boots = False

    def __init__(self, behave: Callable[[Callable[[float], None] | None], None]) -> None:
        self.behave = behave
        self.calls = 0

    def host_s_per_s(self, *, elide: bool) -> float:
        """As :meth:`engines.base.Engine.host_s_per_s`."""
        return 1000.0

    def run(
        self, machine: Any, out: Path, on_progress: Callable[[float], None] | None = None
    ) -> EngineRun:
        """As :meth:`engines.base.Engine.run`."""
        self.calls += 1
        (out / RAW[0]).write_text("half\n")
        self.behave(on_progress)
        for name in (*RAW, TRACE):
            (out / name).write_text(f"{name} of {machine}\n")
        return EngineRun(host_s=1.5, mips=100.0, sim_s=0.5)


def well(on_progress: Callable[[float], None] | None) -> None:
    """Report some progress and end well."""
    for step in range(3):
        if on_progress is not None:
            on_progress(step / 10)


def badly(on_progress: Callable[[float], None] | None) -> None:
    """Die as an engine dies whose guest panics."""
    raise EngineFailed("guest panic: Oops", console_tail=["last words"], log_tail=["qemu: bye"])


def forever(on_progress: Callable[[float], None] | None) -> None:
    """Hang until killed."""
    print("hanging", flush=True)
    while True:
        time.sleep(0.05)
        if on_progress is not None:
            on_progress(0.1)


def inputs() -> dict[str, bytes]:
    """The machine that the fake engine's runs are read by."""
    platform = load_platform("juno-r2")
    return {MACHINE: machine_json(platform, load_activity(platform))}


def cell(behave: Callable[[Callable[[float], None] | None], None] = well, key: str = KEY) -> Cell:
    """A cell of the fake engine with the names that status and show print."""
    record = cell_record(simkey=key, scenario="smoke", engine="fake")
    request = SimpleNamespace(words=f"cell {key[:4]}", full=False)
    scenario = SimpleNamespace(window=WindowLengths(warmup_ms=100, short_ms=400, full_ms=400))
    names = SimpleNamespace(engine=FakeEngine(behave), request=request, scenario=scenario)
    return Cell(names, key, key, record, inputs)  # type: ignore[arg-type]


if __name__ == "__main__":
    run = execute(cell({"well": well, "forever": forever}[sys.argv[1]]))
    print(json.dumps({"path": str(run.path), "fresh": run.fresh}))
