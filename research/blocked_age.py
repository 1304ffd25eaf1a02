# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m research.blocked_age``: how old EAS finds the blocked load of idle CPUs.

At each decision EAS reads the utilization of all CPUs. That of an idle CPU was last updated some
time ago, and has decayed since, which EAS does not see. The command runs the variants that
`blocked-tick` compares, seed 0, with the events of load tracking, and writes
``blocked-tick/ages.json``. An update within a ms of the last one may be no event.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from eascope.analysis.energies import COMPUTE_EVENT, computed_decisions
from eascope.analysis.measures.kernel import counted
from eascope.analysis.records.cell import CellRecord
from eascope.analysis.trace import Trace, read_trace
from eascope.analysis.window import Window, read_window
from eascope.engines.records import MARKS, STATE, TRACE
from eascope.experiments.controls import Controls
from eascope.experiments.renew.origins import origin_of
from eascope.experiments.runs.cell import Cell
from eascope.experiments.runs.measure import measured
from eascope.experiments.runs.request import Request, resolve
from eascope.experiments.runs.store import Run
from research.plan import STUDIES
from research.run import study_command, table

STUDY = STUDIES / "blocked-tick"
PLATFORM, SCENARIO = "pixel6", "boards/periodic-24"
VARIANTS = ("mainline", "blocked-tick", "teo-utilized", "teo-utilized-blocked-tick")
UPDATED, STOPPED = "lisa__sched_pelt_cfs", "tick_stop"
EVENTS = tuple(sorted((f"eascope:{COMPUTE_EVENT}", f"lisa:{UPDATED}", f"timer:{STOPPED}")))
COLUMNS = (
    *("variant", "decisions", "age_ms", "age_ms_p90", "age_ms_max", "decayed"),
    *("ticking_percent", "idle_ticks_per_s"),
)
#: In which utilization halves.
HALF_MS = 32.0
_ROOT = re.compile(r"cpu=(\d+) path=/ .*\butil=(\d+)")
_SWITCH = re.compile(r"next_pid=(\d+)")


@dataclass(frozen=True)
class Read:
    """EAS reads the utilization of an idle CPU.

    :param age_ms: since the CPU's last update.
    """

    cpu: int
    age_ms: float
    util: int

    @property
    def decayed(self) -> float:
        """By how much the utilization would be less, had it been updated now."""
        return self.util * (1.0 - math.exp2(-self.age_ms / HALF_MS))


def reads(trace: Trace, window: Window) -> tuple[int, list[Read]]:
    """How many decisions there are in the window, and what each reads of idle CPUs."""
    times = [d.t_ns for d in computed_decisions(trace) if _in(window, d.t_ns)]
    pending = iter([*times, sys.maxsize])
    due = next(pending)
    idle: set[int] = set()
    last: dict[int, tuple[int, int]] = {}
    found: list[Read] = []
    for t_ns, cpu, event, detail in _of(trace, UPDATED, "sched_switch", COMPUTE_EVENT):
        while due <= t_ns:
            found += [
                Read(other, (due - last[other][0]) / 1e6, last[other][1])
                for other in sorted(idle & last.keys())
            ]
            due = next(pending)
        if event == UPDATED:
            if at := _ROOT.match(detail):
                last[int(at[1])] = t_ns, int(at[2])
        elif event == "sched_switch" and (next_pid := _SWITCH.search(detail)):
            (idle.add if next_pid[1] == "0" else idle.discard)(cpu)
    return len(times), found


def ticking(trace: Trace, window: Window) -> float:
    """The share of the idle time of all CPUs in which the tick goes on; 0 to 1."""
    since: dict[int, int] = {}
    stopped: dict[int, int] = {}
    on = whole = 0
    for t_ns, cpu, event, detail in _of(trace, "sched_switch", STOPPED):
        if event == STOPPED:
            if "success=1" in detail:
                stopped.setdefault(cpu, t_ns)
            continue
        if (begin := since.pop(cpu, None)) is not None and _in(window, begin):
            whole += t_ns - begin
            on += stopped.get(cpu, t_ns) - begin
        stopped.pop(cpu, None)
        if (next_pid := _SWITCH.search(detail)) and next_pid[1] == "0":
            since[cpu] = t_ns
    return on / whole if whole else 0.0


def _of(trace: Trace, *names: str) -> Iterator[tuple[int, int, str, str]]:
    events = trace.events.filter(pl.col("event").is_in(names))
    yield from events.select("t_ns", "cpu", "event", "detail").iter_rows()


def _in(window: Window, t_ns: int) -> bool:
    return window.t0_ns <= t_ns + window.offset_ns < window.t1_ns


def row_of(variant: str, run: Path) -> list[Any]:
    """The row of a run; no ticks of idle CPUs where the kernel does not count them."""
    trace, window = read_trace(run / TRACE), read_window(run / MARKS)
    decisions, found = reads(trace, window)
    ages = np.array([read.age_ms for read in found])
    ticks = counted((run / STATE).read_text(encoding="utf-8")).get("tick_idle")
    return [
        variant,
        decisions,
        float(ages.mean()),
        float(np.percentile(ages, 90)),
        float(ages.max()),
        float(np.mean([read.decayed for read in found])),
        100 * ticking(trace, window),
        None if ticks is None else ticks / window.seconds,
    ]


def record_of(command: str) -> dict[str, Any]:
    """The record of every variant's run; executes missing runs."""
    controls = Controls(events=EVENTS)
    asked = [
        Request(PLATFORM, variant, SCENARIO, controls=controls, source_conditions=True)
        for variant in VARIANTS
    ]

    def read(cell: Cell, run: Run) -> tuple[CellRecord, list[Any]]:
        return cell.record, row_of(cell.record.variant, run.path)

    done = measured([resolve(request) for request in asked], read)
    origin = origin_of(command, [cell for cell, _ in done])
    return {"origins": [origin.encode()], "ages": table(COLUMNS, [row for _, row in done])}


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute the missing runs and write the record."""
    return study_command("blocked_age", record_of, arguments, STUDY / "ages.json")


if __name__ == "__main__":
    sys.exit(main())
