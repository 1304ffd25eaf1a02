# SPDX-License-Identifier: GPL-2.0-or-later
"""Decisions of EAS: each with its candidate CPUs and the kernel's estimate of their energies.

They come from one of two events, which runs with ``--decisions`` record. The kernel `feec` records
each decision with all that it compared (``eascope:sched_feec_decision``). Any other kernel records
each energy that it computes (``eascope:sched_compute_energy``), and `analysis.energies` puts
decisions together from these. Energies are the kernel's estimates in its own unit (the energy
model's cost times utilization). They are comparable within a decision and on one platform, and are
not joules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from eascope.analysis.derive import Derived
from eascope.analysis.energies import COMPUTE_EVENT, ComputedDecision, computed_decisions
from eascope.analysis.records.cell import CellRecord
from eascope.analysis.tables.tasks import OTHER, thread_names, with_task
from eascope.analysis.trace import DECISION_EVENT, TraceError, read_trace
from eascope.analysis.window import read_window
from eascope.engines.records import MARKS, TRACE
from eascope.host.table import Column, Table

#: Why EAS is asked, by the event's number.
PATHS = ("wake", "push", "tick")
#: The mode of placement that looks at the distance to the next OPP before the number of tasks.
HEADROOM_MODE = 2
#: Mainline's placement.
MAINLINE_MODE = 0
#: Decisions that a report lists one by one.
LISTED = 40


@dataclass(frozen=True)
class Candidate:
    """A compared CPU.

    :param fits: as the kernel's ``util_fits_cpu()``: 1, or -1 when only a boost cannot be met; None
        where the kernel does not say it.
    :param tasks: other runnable tasks on the CPU; None where the mode does not count them.
    :param energy: the energy that the task adds there, in the energy model's unit.
    :param cost: of a unit of utilization there; None where the mode does not compare it.
    """

    cpu: int
    fits: int | None
    tasks: int | None
    energy: int
    cost: int | None = None

    @property
    def words(self) -> str:
        """In words: ``3: 6092, 1 task``."""
        more = [] if self.tasks is None else [f"{self.tasks} task{'' if self.tasks == 1 else 's'}"]
        more += ["boost not met"] if self.fits is not None and self.fits < 0 else []
        return f"{self.cpu}: {', '.join([str(self.energy), *more])}"


def candidates(text: str) -> list[Candidate]:
    """The event's text, ``cpu:fits:cost:nr:energy`` for each candidate, ``-`` for unknown.

    :raises ValueError: when it is not of that form.
    """
    parsed = []
    for fields in text.split():
        cpu, fits, cost, tasks, energy = fields.split(":")
        known = (_number(fits), _number(tasks), int(energy), _number(cost))
        parsed.append(Candidate(int(cpu), *known))
    return parsed


def _number(text: str) -> int | None:
    return None if text == "-" else int(text)


def reason(mode: int | None, prev_cpu: int, dst_cpu: int, compared: Sequence[Candidate]) -> str:
    """The first criterion by which ``dst_cpu`` differs from the other candidates.

    The order is that of all modes: what fits, then energy (by which a domain's CPUs differ as their
    costs do), then, where the mode looks at them, headroom and the number of tasks, then where the
    task was. Only by a margin does mainline's placement keep a task where it takes more energy.
    Where the kernel does not say what fits, more energy than another's is ``not energy``.

    :param mode: of the event; None: the kernel has one mode.
    """
    if dst_cpu < 0:
        return "no answer"
    chosen = [other for other in compared if other.cpu == dst_cpu]
    others = [other for other in compared if other.cpu != dst_cpu]
    if not chosen:
        return "not compared"
    (best,) = chosen[:1]
    if not others:
        return "only candidate"
    if any((other.fits or 0) > (best.fits or 0) for other in others):
        return "other"
    others = [other for other in others if other.fits == best.fits]
    if not others:
        return "fits better"
    least = min(other.energy for other in others)
    if best.energy != least:
        kept = mode == MAINLINE_MODE and dst_cpu == prev_cpu and best.fits == 1
        by_fit = "other" if best.fits else "not energy"
        dearer = "saves too little" if kept else by_fit
        return "least energy" if best.energy < least else dearer
    equal = [other for other in others if other.energy == least]
    if best.tasks is not None:
        fewest = min(other.tasks or 0 for other in equal)
        if best.tasks > fewest:
            return "headroom" if mode == HEADROOM_MODE else "other"
        equal = [other for other in equal if (other.tasks or 0) == best.tasks]
        if not equal:
            return "fewest tasks"
    if dst_cpu == prev_cpu:
        return "stays among equals"
    return "other" if any(other.cpu == prev_cpu for other in equal) else "one of equals"


def decisions(run: Derived) -> pl.DataFrame:
    """The decisions of the run's window, in the order of time.

    Columns: ``t_ns`` (since the window's start), ``task`` (null for other threads), ``thread``,
    ``pid``, ``path``, ``mode`` (null where the kernel has one), ``prev_cpu``, ``dst_cpu`` (-1: no
    answer), ``reason``, ``candidates`` (``cpu:fits:cost:nr:energy`` of each, ``-`` for unknown).

    :raises TraceError: when a list of candidates is not understood.
    """
    window = read_window(run.run / MARKS)
    trace = read_trace(run.run / TRACE)
    own = kernels_own(run.cell)
    table = trace.table(DECISION_EVENT) if own else _computed(computed_decisions(trace))
    table = table.with_columns((pl.col("t_ns") + window.offset_ns - window.t0_ns).alias("t_ns"))
    table = table.filter(pl.col("t_ns").is_between(0, window.ns, closed="left"))
    reasons, paths = [], []
    for row in table.select("mode", "prev_cpu", "dst_cpu", "candidates", "path").iter_rows():
        try:
            reasons.append(reason(row[0], row[1], row[2], candidates(row[3])))
            paths.append(PATHS[row[4]])
        except (ValueError, IndexError) as error:
            raise TraceError(f"{run.run}: a decision cannot be parsed: {row}: {error}") from error
    named = table.rename({"comm": "thread"}).with_columns(
        pl.Series("reason", reasons, dtype=pl.String), pl.Series("path", paths, dtype=pl.String)
    )
    return with_task(named, thread_names(run.cell.tasks)).select(
        *("t_ns", "task", "thread", "pid", "path", "mode"),
        *("prev_cpu", "dst_cpu", "reason", "candidates"),
    )


def _computed(shown: Sequence[ComputedDecision]) -> pl.DataFrame:
    """Decisions that energies show, as the event `DECISION_EVENT` would have them."""
    columns: dict[str, list[object]] = {
        "t_ns": [decision.t_ns for decision in shown],
        "comm": [decision.thread for decision in shown],
        "pid": [decision.pid for decision in shown],
        "prev_cpu": [decision.prev_cpu for decision in shown],
        "dst_cpu": [decision.dst_cpu for decision in shown],
        "mode": [None for _ in shown],
        "path": [0 if decision.woken else 1 for decision in shown],
        "candidates": [
            " ".join(f"{cpu}:-:-:-:{energy}" for cpu, energy in decision.energies.items())
            for decision in shown
        ],
    }
    texts = ("comm", "candidates")
    types = {name: pl.String if name in texts else pl.Int64 for name in columns}
    return pl.DataFrame(columns, schema=types)


def _recorded(cell: CellRecord, event: str) -> bool:
    return any(known.endswith(f":{event}") for known in cell.controls.trace_events)


def kernels_own(cell: CellRecord) -> bool:
    """True if the kernel itself says in a run of ``cell`` what it compared."""
    return _recorded(cell, DECISION_EVENT)


def recorded(cell: CellRecord) -> bool:
    """True if a run of ``cell`` has recorded decisions, or the energies that show them."""
    return kernels_own(cell) or _recorded(cell, COMPUTE_EVENT)


def summary(tables: Mapping[str, pl.DataFrame]) -> Table:
    """By variant and task: the numbers of calls of EAS and of moves, and the criteria."""
    rows = []
    for variant, table in tables.items():
        tasks = table.with_columns(pl.col("task").fill_null(OTHER))
        for (task,), own in tasks.group_by(["task"], maintain_order=True):
            moved = own.filter((pl.col("dst_cpu") >= 0) & (pl.col("dst_cpu") != pl.col("prev_cpu")))
            why = own.group_by("reason").len().sort("len", "reason", descending=[True, False])
            shares = [f"{name} {count / own.height:.0%}" for name, count in why.iter_rows()]
            rows.append([variant, str(task), str(own.height), str(moved.height), ", ".join(shares)])
    # Other threads last, whichever was first.
    rows.sort(key=lambda row: (list(tables).index(row[0]), row[1] == OTHER))
    columns = (
        *(Column("variant", "left"), Column("task", "left")),
        *(Column("decisions"), Column("moved")),
        Column("why the CPU was chosen", "left"),
    )
    return Table(columns, tuple(rows))


def listing(tables: Mapping[str, pl.DataFrame]) -> Table:
    """The first `LISTED` decisions of each variant about the scenario's tasks.

    A candidate is ``cpu: estimated energy, runnable tasks``; the chosen one comes first.
    """
    rows = []
    for variant, table in tables.items():
        own = table.filter(pl.col("task").is_not_null()).head(LISTED)
        for row in own.iter_rows(named=True):
            compared = sorted(
                candidates(row["candidates"]), key=lambda candidate: candidate.cpu != row["dst_cpu"]
            )
            to = "-" if row["dst_cpu"] < 0 else str(row["dst_cpu"])
            rows.append(
                [
                    *(variant, f"{row['t_ns'] / 1e6:.3f}", row["thread"], row["path"]),
                    *(str(row["prev_cpu"]), to, row["reason"]),
                    "; ".join(candidate.words for candidate in compared) or "-",
                ]
            )
    columns = (
        *(Column("variant", "left"), Column("time", unit="ms")),
        *(Column("thread", "left"), Column("path", "left"), Column("from"), Column("to")),
        *(Column("why", "left"), Column("candidates", "left")),
    )
    return Table(columns, tuple(rows))


def of_first_runs(variants: Mapping[str, Sequence[Derived]]) -> dict[str, pl.DataFrame]:
    """`decisions` of the first run of each variant, where it recorded them."""
    return {name: decisions(runs[0]) for name, runs in variants.items() if recorded(runs[0].cell)}


def text(tables: Mapping[str, pl.DataFrame]) -> str:
    """`summary` as aligned lines for a terminal; empty when nothing was recorded."""
    if not tables:
        return ""
    silent = [f"{name}: EAS compared no CPUs\n" for name in tables if tables[name].is_empty()]
    some = summary(tables)
    return "".join(
        ["decisions of EAS, first seed\n", f"{some.text()}\n" if some.rows else "", *silent]
    )
