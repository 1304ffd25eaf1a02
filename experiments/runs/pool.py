# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the missing cells of a request, a few at a time, with progress and an estimate.

Each cell is one engine process that keeps one host core busy, so threads are enough here. An
interrupt reaches the workers through the progress callback: it raises, the engine ends its
process, and the cell leaves nothing.
"""

from __future__ import annotations

import os
import queue
import statistics
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from eascope.analysis.records.cell import CellRecord
from eascope.experiments.runs.cell import Cell
from eascope.experiments.runs.request import Resolved
from eascope.experiments.runs.store import Run, all_runs, execute, existing
from eascope.experiments.runs.writable import check_runs
from eascope.experiments.scenario.others import STIR_MS
from eascope.host.errors import Again, EascopeError
from eascope.host.proc import duration, say

Result = TypeVar("Result")

#: Host seconds of a boot, before any run has been timed.
BOOT_S = 3.0
#: Processor seconds of a cell besides its simulation: preparation, tables, some of Python's start.
BESIDE_S = 0.3
#: The last runs, whose times count.
LAST_RUNS = 50
#: Seconds between two progress lines where stderr is not a terminal.
QUIET_S = 10.0


#: Cells that are ordered by machine at once: a boot costs about as much as one short run.
BLOCK = 400


class Cancelled(BaseException):
    """Raised inside a worker to end it; not an ``Exception``, so it is never taken as a failure."""


def workers() -> int:
    """Cells at a time: one per host core, at most four (each takes 0.3 GB)."""
    return max(1, min(4, len(os.sched_getaffinity(0))))


#: Engine, mode and whether loops are elided: runs of one kind are equally fast.
RunKind: TypeAlias = tuple[str, str, bool]


@dataclass(frozen=True)
class Work:
    """The properties of a cell that decide its host time.

    :param scenario: its name, and whether it runs for its full duration.
    :param simulated_s: from the workload's start to its end.
    :param rate: host seconds per simulated second, before any run was timed.
    :param boots: boots that it pays for; less than one where cells share a boot.
    """

    kind: RunKind
    scenario: tuple[str, bool]
    simulated_s: float
    rate: float
    boots: float = 1.0

    @staticmethod
    def of_names(resolved: Resolved, sharing: int = 1) -> Work:
        """Of a cell that is not prepared.

        :param sharing: cells that go on from one boot, if the engine can do that.
        """
        request, engine = resolved.request, resolved.engine
        stir_ms = STIR_MS if request.controls.noise else 0
        return Work(
            (request.engine, engine.mode, request.elide),
            (resolved.scenario.name, request.full),
            resolved.scenario.window.simulated_s(request.full) + stir_ms / 1000,
            engine.host_s_per_s(elide=request.elide),
            1 / sharing if engine.shares_boots else 1.0,
        )

    @staticmethod
    def of_cell(cell: Cell) -> Work:
        """Of a prepared cell, which knows what its seed has drawn."""
        record = cell.record
        return Work(
            _kind(record),
            (record.scenario, record.duration == "full"),
            cell.simulated_s,
            cell.resolved.engine.host_s_per_s(elide=record.elide),
        )


@dataclass(frozen=True)
class SeenTimes:
    """Mean processor seconds of the last runs.

    :param runs: of a run of one kind and scenario.
    :param rates: per simulated second of the workload, by kind.
    """

    runs: Mapping[tuple[RunKind, tuple[str, bool]], float]
    rates: Mapping[RunKind, float]


def estimate_s(cells: Sequence[Cell]) -> float:
    """Host seconds for ``cells``, by `seconds_for`."""
    return seconds_for([Work.of_cell(cell) for cell in cells])


def seconds_for(works: Sequence[Work]) -> float:
    """Host seconds for ``works``, from earlier runs of the same kind where there are any."""
    seen = seen_times()
    spent = [seconds_of(work, seen) for work in works]
    return max([*spent, sum(spent) / workers()])


def seen_times() -> SeenTimes:
    """The times of the last runs: of the processor, because a busy host makes others longer."""
    runs: dict[tuple[RunKind, tuple[str, bool]], list[float]] = {}
    rates: dict[RunKind, list[float]] = {}
    for run in all_runs()[-LAST_RUNS:]:
        try:
            spent, cell = run.host.cpu_s or run.host.host_s, run.cell
            if run.state != "done":
                continue
        except EascopeError:  # a damaged run: eascope status says so
            continue
        runs.setdefault((_kind(cell), (cell.scenario, cell.duration == "full")), []).append(spent)
        if (workload_s := _workload_s(cell)) > 0:
            rates.setdefault(_kind(cell), []).append(spent / workload_s)
    return SeenTimes(
        {key: statistics.mean(values) for key, values in runs.items()},
        {kind: statistics.mean(values) for kind, values in rates.items()},
    )


def seconds_of(work: Work, seen: SeenTimes) -> float:
    """Host seconds of one cell: by runs of its scenario, else by runs of its kind."""
    if (known := seen.runs.get((work.kind, work.scenario))) is not None:
        return known + BESIDE_S
    if work.kind in seen.rates:
        return seen.rates[work.kind] * work.simulated_s + BESIDE_S
    return BOOT_S * work.boots + work.rate * work.simulated_s + BESIDE_S


def _workload_s(cell: CellRecord) -> float:
    """As `Cell.simulated_s`; 0 where the run's own end was the window's."""
    window = cell.window
    if window.window_ms is None:
        return 0.0
    return (window.warmup_ms + window.window_ms + cell.replicate.stir_ms) / 1000


def _kind(cell: CellRecord) -> tuple[str, str, bool]:
    """Engine, mode and whether loops are elided, of ``cell.json``."""
    return cell.engine, cell.mode, cell.elide


def time_left(through: float, spent_s: float, expected_s: float) -> str:
    """How long the rest takes, in words.

    The share done is a better guess than the estimate, except at the very beginning. An estimate
    whose time is up was wrong.
    """
    left = expected_s - spent_s
    if through > 0 and (through > 0.2 or left < 0):
        left = spent_s / through - spent_s
    return f"about {duration(left)} left" if left >= 0 else "longer than was expected"


def show_line(text: str, *, terminal: bool, end: str = "") -> None:
    """Print a line of progress on stderr, over the last one on a terminal."""
    if terminal:
        print(f"\r\x1b[K{text}", end=end, file=sys.stderr, flush=True)
    else:
        say(text)


class Progress:
    """Progress on stderr: on a terminal one line that is rewritten, else one per cell and 10 s."""

    def __init__(self, total: int, estimate: float) -> None:
        self.total = total
        self.estimate = estimate
        self.done = 0
        self.shares: dict[str, float] = {}
        self.started = time.monotonic()
        self.shown = self.started
        self.lock = threading.Lock()
        self.terminal = sys.stderr.isatty()

    def update(self, key: str, share: float) -> None:
        """Cell ``key`` is ``share`` (0..1) through its simulated time."""
        with self.lock:
            self.shares[key] = min(share, 1.0)
            now = time.monotonic()
            if now - self.shown < (0.2 if self.terminal else QUIET_S):
                return
            self.shown = now
            through = sum(self.shares.values()) / self.total
            words = time_left(through, now - self.started, self.estimate)
            show_line(f"  {through:.0%} of {self.total} runs, {words}", terminal=self.terminal)

    def finished(self, key: str, text: str) -> None:
        """Cell ``key`` has ended."""
        with self.lock:
            self.done += 1
            self.shares[key] = 1.0
            clear = "\r\x1b[K" if self.terminal else ""
            say(f"{clear}  [{self.done}/{self.total}] {text}")


def by_machine(cells: Sequence[Cell], block: int = BLOCK) -> list[int]:
    """The cells' numbers, with those of one machine in a row, because they share its boot.

    Each ``block`` of cells comes before the next one, so an interrupted request has whole seeds.
    """
    groups: dict[tuple[int, *tuple[str, ...]], list[int]] = {}
    for i, cell in enumerate(cells):
        digests = cell.record.digests
        machine = tuple(digests[name] for name in sorted(digests) if name != "script")
        groups.setdefault((i // block, *machine), []).append(i)
    return [i for group in groups.values() for i in group]


def run_all(
    cells: Sequence[Cell], after: Callable[[Cell, Run], Result], *, at_once: bool = False
) -> list[Result]:
    """Execute missing runs of ``cells``; call ``after`` (derivation) for each, in order of cells.

    Runs are simulated side by side. Cells of one simkey share a run.

    :param at_once: whether ``after`` may be called for several runs at once, which it may not
        where it joins tables: polars 2.1 can stop for ever when two threads do that.
    :raises RequestError: a run is missing and cannot be written.
    :raises EascopeError: the first failure; runs that were complete by then stay.
    :raises Again: after all of them, if `execute` raised it and nothing else failed.
    :raises KeyboardInterrupt: after every engine has ended.
    """
    sharing: dict[str, list[Cell]] = {}
    for cell in cells:
        sharing.setdefault(cell.simkey, []).append(cell)
    simulated = [sharers[0] for sharers in sharing.values()]
    missing = [cell for cell in simulated if existing(cell.simkey) is None]
    expected = estimate_s(missing)
    if missing:
        check_runs()
        say(f"  {len(missing)} of {len(simulated)} runs missing, about {duration(expected)}")
    progress = Progress(max(1, len(missing)), expected)
    stop = threading.Event()
    turn = nullcontext() if at_once else threading.Lock()

    def simulate(cell: Cell) -> list[Result]:
        def advance(simulated_s: float) -> None:
            if stop.is_set():
                raise Cancelled
            progress.update(cell.simkey, simulated_s / (cell.simulated_s + 1.0))

        if stop.is_set():
            raise Cancelled
        run = execute(cell, advance)
        if run.fresh:
            progress.finished(
                cell.simkey,
                f"{cell.resolved.request.words}: {duration(run.host.host_s)}, "
                f"{run.host.mips:.{0 if run.host.mips >= 10 else 1}f} MIPS",
            )
        with turn:
            return [after(sharer, run) for sharer in sharing[cell.simkey]]

    with ThreadPoolExecutor(workers()) as executor:
        submitted = {i: executor.submit(simulate, simulated[i]) for i in by_machine(simulated)}
        futures = [submitted[i] for i in range(len(simulated))]
        _end_all(futures, stop)
    # Runs that were under way when another failed have ended by now, and stay.
    errors = [
        error for future in futures if not future.cancelled() and (error := future.exception())
    ]
    if errors:
        raise min(errors, key=lambda error: isinstance(error, Again))
    results = {cell.simkey: iter(f.result()) for cell, f in zip(simulated, futures, strict=True)}
    return [next(results[cell.simkey]) for cell in cells]


def _end_all(futures: Sequence[Future[Result]], stop: threading.Event) -> None:
    """Wait for all of ``futures``; where one fails set ``stop`` and cancel what is left."""
    try:
        until_first_failure(futures)
    except BaseException:
        stop.set()
        raise
    finally:
        for future in futures:
            future.cancel()


def until_first_failure(futures: Sequence[Future[Result]]) -> None:
    """Wait until all of ``futures`` have ended, or one has failed for good.

    The cost is one step per future. `concurrent.futures.wait` looks at all of them whenever it is
    called, which for thousands takes as much processor time as the runs.
    """
    ended: queue.SimpleQueue[Future[Result]] = queue.SimpleQueue()
    for future in futures:
        future.add_done_callback(ended.put)
    left = len(futures)
    while left:
        # In short steps, because Python sees an interrupt only between waits.
        try:
            future = ended.get(timeout=0.2)
        except queue.Empty:
            continue
        left -= 1
        if not isinstance(future.exception(), Again | None):
            return
