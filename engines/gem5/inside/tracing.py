# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5's trace of executed instructions, on and off. Only gem5 can import this.

A line has the tick at which an instruction was fetched (O3) or executed (Minor), its CPU and its
address, which tells user space from the kernel. A gem5 that was built without tracing prints none.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import m5
import m5.debug
import m5.trace

from eascope.engines.gem5.inside.probes import resolve
from eascope.engines.gem5.inside.request import (
    SAMPLES_JSON,
    SAMPLES_TRACE,
    SCHEMA,
    MachineSettings,
    SamplesRecord,
)
from eascope.engines.gem5.inside.sampling import steady

#: All instructions, and of those that consist of several operations the whole.
FLAGS = ("ExecEnable", "ExecMacro", "ExecUser", "ExecKernel")
TICKS_PER_S = 10**12


class InstructionTrace:
    """Records the instructions of all CPUs in the samples of a run."""

    def __init__(self, settings: MachineSettings, clusters: list[Any]) -> None:
        self._clocks = [
            (resolve(cluster.clk_domain, "clock"), stated["clocks_hz"])
            for stated, cluster in zip(settings["clusters"], clusters, strict=True)
        ]
        self._cpus = {
            cpu.path(): number
            for stated, cluster in zip(settings["clusters"], clusters, strict=True)
            for number, cpu in zip(stated["cpus"], cluster.cpus, strict=True)
        }
        self._samples: list[tuple[int, int, list[int]]] = []
        m5.trace.output(SAMPLES_TRACE)

    def begin(self) -> None:
        """A sample begins."""
        self._began = (m5.curTick(), self._hertz())
        for name in FLAGS:
            m5.debug.flags[name].enable()

    def end(self) -> None:
        """It ends; a clock that has changed in it counts as 0 Hz."""
        for name in FLAGS:
            m5.debug.flags[name].disable()
        begin, before = self._began
        self._samples.append((begin, m5.curTick(), steady(before, self._hertz())))

    def write(self, folder: Path) -> None:
        """Leave what is needed to read the trace in ``folder``."""
        record: SamplesRecord = {"schema": SCHEMA, "cpus": self._cpus, "samples": self._samples}
        (folder / SAMPLES_JSON).write_text(json.dumps(record) + "\n")

    def _hertz(self) -> list[int]:
        """The clock of each cluster, as its OPP has it."""
        return [
            min(clocks, key=lambda hertz: abs(TICKS_PER_S / hertz - clock.value))
            for clock, clocks in self._clocks
        ]
