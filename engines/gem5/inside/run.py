# SPDX-License-Identifier: GPL-2.0-or-later
"""What gem5 runs: ``gem5 -d OUT engines/gem5/inside/run.py OUT/request.json``.

Builds the machine that the request describes, boots or restores it and goes on to the end. Reports
to the engine one line at a time on stdout::

    eascope: progress SIM_NS INSTRUCTIONS
    eascope: part NAME HOST_SECONDS PROCESSOR_SECONDS
    eascope: changes COUNT median_us MICROSECONDS worst_us MICROSECONDS
    eascope: ended CAUSE TEXT

and leaves ``rows.bin`` and ``rows.json`` in OUT when there was a window. A request may say
``join: false`` (a row between any two marks), ``power`` (expressions of
`engines.gem5.expressions`), ``text_at_marks: true`` (gem5's own statistics at each
mark inside the window, cumulative), ``save_at`` (the mark at which a boot saves the machine, in
place of the barrier) and ``samples`` (executed instructions, in ``samples.trace`` and
``samples.json``).
"""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path
from typing import Any

import m5
import m5.event
import m5.stats
from _m5.core import LogLevel, setLogLevel

# Not resolved: in a checkout, the package's rooms are links.
sys.path.insert(0, str(Path(__file__).absolute().parents[4]))

from eascope.engines.gem5.inside import machine
from eascope.engines.gem5.inside.columns import event_columns
from eascope.engines.gem5.inside.probes import Probes, UnknownStatistic, resolve
from eascope.engines.gem5.inside.request import SCHEMA, Gem5Request, MachineSettings, RowsFacts
from eascope.engines.gem5.inside.rows import Recorder, write_rows
from eascope.engines.gem5.inside.session import Session
from eascope.engines.gem5.inside.tracing import InstructionTrace


class Gem5:
    """The running machine: see `engines.gem5.inside.session.RunningMachine`."""

    def __init__(
        self, settings: MachineSettings, clusters: list[Any], system: Any, text_at_marks: bool
    ) -> None:
        self.cpus = [cpu for cluster in clusters for cpu in cluster.cpus]
        self._settings, self._clusters = settings, clusters
        self._trace: InstructionTrace | None = None
        self._probes = Probes(settings, clusters)
        events = event_columns([cluster["model"] for cluster in settings["clusters"]])
        self._recorder = Recorder(self._probes.layouts, events, settings["rows"])
        self._recording = self._asked = False
        self._text_at_marks = text_at_marks
        self._memory_energy = []
        if settings["memory_mode"] == "timing":
            self._memory_energy = [
                resolve(system.memory.dram, f"rank{number}.totalEnergy")
                for number in range(int(system.memory.dram.ranks_per_channel))
            ]
        self._dump, self._reset = m5.stats.dump, m5.stats.reset
        self._change = m5.event.create(self._changed, m5.event.Event.DVFS_Update_Pri)
        self._schedule, self._now = m5.event.mainq.schedule, m5.curTick
        # gem5 looks these up before each change of an OPP, and at its end.
        m5.stats.dump = self._ask
        m5.stats.reset = _nothing

    def _ask(self, roots: Any = None) -> None:
        """An OPP is about to change; gem5 does not say of which cluster.

        Statistics are the same right after it, and then the clock shows which cluster's to read:
        of the events at this tick, those of the CPUs come later.
        """
        if self._recording and not self._asked:
            began = time.thread_time()
            self._asked = True
            self._schedule(self._change, self._now())
            self._asked_s = time.thread_time() - began

    def _changed(self) -> None:
        began = time.thread_time()
        self._asked = False
        self._probes.changed(self._recorder, self._now())
        self.change_s.append(time.thread_time() - began + self._asked_s)

    def _snapshot(self) -> None:
        if self._recording:
            self._probes.snapshot(self._recorder, m5.curTick())

    def simulate(self, ticks: int) -> Any:
        """See `engines.gem5.inside.session.RunningMachine`; so the rest."""
        return m5.simulate(ticks)

    def tick(self) -> int:
        """Simulated time."""
        return int(m5.curTick())

    def instructions(self) -> list[int]:
        """Committed, by CPU; what a reset of statistics does not touch."""
        return [int(cpu.totalInsts()) for cpu in self.cpus]

    def busy_ticks(self) -> list[int]:
        """Neither gated nor off, by CPU."""
        return self._probes.busy_ticks()

    def checkpoint(self, folder: str) -> None:
        """Save."""
        m5.checkpoint(folder)

    def begin_window(self) -> None:
        """The statistics of the window begin: for our rows and for gem5's own text."""
        self._reset()
        self.change_s: list[float] = []
        self._asked_s = 0.0
        self._probes.begin()
        self._recording = True
        self._snapshot()

    def mark(self) -> None:
        """A snapshot, when one is inside the window; gem5's own text when that is asked for."""
        self._snapshot()
        if self._recording and self._text_at_marks:
            self._dump()

    def end_window(self) -> None:
        """The last snapshot, then gem5's own text."""
        self._snapshot()
        self._recording = False
        self._dump()
        self._probes.check()

    def begin_sample(self) -> None:
        """Executed instructions are recorded from here on."""
        if self._trace is None:
            self._trace = InstructionTrace(self._settings, self._clusters)
        self._trace.begin()

    def end_sample(self) -> None:
        """They are no longer recorded."""
        assert self._trace is not None
        self._trace.end()

    def write_samples(self, folder: Path) -> None:
        """Leave the samples in ``folder``, if there are any."""
        if self._trace is not None:
            self._trace.write(folder)

    def write(self, folder: Path, marks: list[tuple[int, int]], join: bool) -> None:
        """Leave the window's rows in ``folder``; nothing when there was no window."""
        if self._recording or not self._recorder.count(0):
            return
        rows, changes = self._recorder.rows(join)
        if self._memory_energy:
            spent = sum(float(statistic.total) for statistic in self._memory_energy)
            rows.append(self._recorder.memory_row(spent))
        facts: RowsFacts = {
            "marks": marks,
            "transitions": {name: (None, count) for name, count in changes.items()},
            "instructions": sum(self.instructions()),
        }
        write_rows(folder, self._recorder.columns, rows, facts)
        spent_us = sorted(1e6 * took for took in self.change_s)
        if spent_us:
            median = spent_us[len(spent_us) // 2]
            say(f"changes {len(spent_us)} median_us {median:.0f} worst_us {spent_us[-1]:.0f}")


def _nothing() -> None:
    """Statistics stay cumulative: rows are differences."""


def say(text: str) -> None:
    """One line for the engine."""
    print(f"eascope: {text}", flush=True)


def main() -> None:
    """Run the request that is named on the command line."""
    request: Gem5Request = json.loads(Path(sys.argv[1]).read_text())
    if request["schema"] != SCHEMA:
        raise SystemExit(f"{sys.argv[1]}: schema = {request['schema']}: allowed: {SCHEMA}")
    root, clusters = machine.build(request)
    m5.instantiate(request["checkpoint_in"])
    try:
        text = request.get("text_at_marks", False)
        running = Gem5(request["machine"], clusters, root.system, text)
    except UnknownStatistic as error:
        say(f"ended fatal {error}")
        return
    # What is read at a change leaves no cycles; to look for some would touch all of gem5's objects.
    gc.disable()
    if request["mode"].startswith("elided"):
        # gem5 would warn of every slice of a loop, that its CPU falls asleep twice in a tick.
        setLogLevel(LogLevel.FATAL)
    session = Session(running, request, say)
    try:
        ended = session.run()
    except UnknownStatistic as error:
        say(f"ended fatal {error}")
        return
    running.write_samples(Path(m5.options.outdir))
    running.write(Path(m5.options.outdir), session.marks, request.get("join", True))
    say(f"ended {ended}")


if __name__ == "__m5_main__":
    main()
