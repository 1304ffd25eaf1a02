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
from dataclasses import dataclass
from typing import TypeVar

from analysis.records.cell import CellRecord
from experiments.cell import Cell
from experiments.request import Names
from experiments.runs import Run, all_runs, execute, existing
from experiments.writable import check_runs
from host.errors import EascopeError
from host.proc import duration, say

Result = TypeVar("Result")

#: Host seconds of a boot, before any run has been timed.
BOOT_S = 3.0
#: Seconds between two progress lines where stderr is not a terminal.
QUIET_S = 10.0


#: Cells that are ordered by machine at once: a boot costs about as much as one short run.
BLOCK = 400


class Cancelled(BaseException):
    """Raised inside a worker to end it; not an ``Exception``, so it is never taken as a failure."""


def workers() -> int:
    """Cells at a time: one per host core, at most four (each takes 0.3 GB)."""
    return max(1, min(4, len(os.sched_getaffinity(0))))


@dataclass(frozen=True)
class Work:
    """The properties of a cell that decide its host time.

    :param kind: engine, mode and whether loops are elided: runs of one kind are equally fast.
    :param simulated_s: from the workload's start to its end.
    :param rate: host seconds per simulated second, before any run was timed.
    """

    kind: tuple[str, str, bool]
    simulated_s: float
    rate: float

    @staticmethod
    def of_names(names: Names) -> Work:
        """Of a cell that is not prepared."""
        request, engine = names.request, names.engine
        return Work(
            (request.engine, engine.mode, request.elide),
            names.scenario.window.simulated_s(request.full),
            engine.host_s_per_s(elide=request.elide),
        )


def estimate_s(cells: Sequence[Cell]) -> float:
    """Host seconds for ``cells``, by `seconds_for`."""
    rates = [cell.names.engine.host_s_per_s(elide=cell.record.elide) for cell in cells]
    return seconds_for(
        [
            Work(_kind(cell.record), cell.simulated_s, rate)
            for cell, rate in zip(cells, rates, strict=True)
        ]
    )


def seconds_for(works: Sequence[Work]) -> float:
    """Host seconds for ``works``, from earlier runs of the same kind where there are any."""
    seen = seen_rates()
    spent = [seconds_of(work, seen) for work in works]
    return max([*spent, sum(spent) / workers()])


def seen_rates() -> Mapping[tuple[str, str, bool], float]:
    """Host seconds per simulated one of the last runs, by kind."""
    seen: dict[tuple[str, str, bool], list[float]] = {}
    for run in all_runs()[-50:]:
        try:
            host = run.host
            if run.state == "done" and host.sim_s > 0:
                seen.setdefault(_kind(run.cell), []).append(host.host_s / host.sim_s)
        except EascopeError:  # a damaged run: eascope status says so
            continue
    return {kind: statistics.median(rates) for kind, rates in seen.items()}


def seconds_of(work: Work, seen: Mapping[tuple[str, str, bool], float]) -> float:
    """Host seconds of one cell, by what `seen_rates` gives."""
    if work.kind in seen:
        return seen[work.kind] * (work.simulated_s + 1.0)
    return BOOT_S + work.rate * work.simulated_s


def _kind(cell: CellRecord) -> tuple[str, str, bool]:
    """Engine, mode and whether loops are elided, of ``cell.json``."""
    return cell.engine, cell.mode, cell.elide


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
            spent = now - self.started
            left = self.estimate - spent
            # The share done is a better guess than the estimate, except at the very beginning. An
            # estimate whose time is up was wrong.
            if through > 0 and (through > 0.2 or left < 0):
                left = spent / through - spent
            words = f"about {duration(left)} left" if left >= 0 else "longer than was expected"
            text = f"  {through:.0%} of {self.total} runs, {words}"
            if self.terminal:
                print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
            else:
                say(text)

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


def run_all(cells: Sequence[Cell], after: Callable[[Cell, Run], Result]) -> list[Result]:
    """Execute missing runs of ``cells``; call ``after`` (derivation) for each, in order of cells.

    Runs are simulated side by side; ``after`` is called for one at a time.

    :raises RequestError: a run is missing and cannot be written.
    :raises EascopeError: the first failure; runs that were complete by then stay.
    :raises KeyboardInterrupt: after every engine has ended.
    """
    missing = [cell for cell in cells if existing(cell.simkey) is None]
    expected = estimate_s(missing)
    if missing:
        check_runs()
        say(f"  {len(missing)} of {len(cells)} runs to do, about {duration(expected)}")
    progress = Progress(max(1, len(missing)), expected)
    stop = threading.Event()
    # polars 2.1 can stop for ever when two threads join tables at once on a busy host.
    one_at_a_time = threading.Lock()

    def simulate(cell: Cell) -> Result:
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
                f"{cell.names.request.words}: {duration(run.host.host_s)}, "
                f"{run.host.mips:.{0 if run.host.mips >= 10 else 1}f} MIPS",
            )
        with one_at_a_time:
            return after(cell, run)

    with ThreadPoolExecutor(workers()) as executor:
        submitted = {i: executor.submit(simulate, cells[i]) for i in by_machine(cells)}
        futures = [submitted[i] for i in range(len(cells))]
        _end_all(futures, stop)
    # Runs that were under way when another failed have ended by now, and stay.
    for future in futures:
        if not future.cancelled() and (error := future.exception()) is not None:
            raise error
    return [future.result() for future in futures]


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
    """Wait until all of ``futures`` have ended, or one has failed.

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
        if future.exception() is not None:
            return
