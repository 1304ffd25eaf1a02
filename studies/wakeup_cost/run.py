# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions per wake-up: the slope between a short and a long ping-pong; the size of each queue.

Two threads wake each other through pipes, without tracing. Boot, start and end cost the same for
both lengths and cancel out in the slope. The slope is the cost of a round trip: two wake-ups with
their reads, writes and switches. Instructions of all CPUs count, with idle loops and ticks, so the
figure is the cost of a wake-up for the whole machine.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from analysis.results.comparisons import Spread
from analysis.window import read_window
from engines.records import COUNTERS, MARKS
from experiments.cell import identity_of, prepare
from experiments.controls import Controls
from experiments.pool import run_all
from experiments.request import Request, resolve
from experiments.runs import Run
from host.proc import need, run
from kernels.queues import series_patches
from kernels.variants import SERIES
from studies.wakeup_cost.plan import FORMS, PLATFORM, ROUND_TRIPS, SEEDS

#: Nothing but the two threads: no others, no stirring, no trace.
CONTROLS = Controls(noise=False, traced=False)


def measure(places: Sequence[tuple[str, str]]) -> list[Spread]:
    """Instructions per wake-up of each (variant, form), over the seeds; executes missing runs.

    :raises EascopeError: when a run fails.
    """
    names = [
        resolve(requested(variant, form, seed, full))
        for variant, form in places
        for seed in range(SEEDS)
        for full in (False, True)
    ]
    identity = identity_of(names[0].engine)
    cells = [prepare(each, identity) for each in names]
    counts = run_all(cells, lambda _, finished: instructions(finished))
    short, long = ROUND_TRIPS
    costs = [
        # Two wake-ups in a round trip.
        (of_long - of_short) / (long - short) / 2
        for of_short, of_long in zip(counts[::2], counts[1::2], strict=True)
    ]
    spreads = (costs[i : i + SEEDS] for i in range(0, len(costs), SEEDS))
    return [Spread(sum(part) / SEEDS, min(part), max(part)) for part in spreads]


def requested(variant: str, form: str, seed: int, full: bool) -> Request:
    """The cell with few (or, ``full``, many) round trips."""
    scenario = str(FORMS[form].scenario)
    return Request(PLATFORM, variant, scenario, seed=seed, full=full, controls=CONTROLS)


def instructions(run: Run) -> int:
    """Instructions that all CPUs execute in the window of a run."""
    window = read_window(run.path / MARKS)
    rows = pl.read_parquet(run.path / COUNTERS).filter(
        (pl.col("t0_ns") >= window.t0_ns) & (pl.col("t1_ns") <= window.t1_ns)
    )
    return int(rows["instructions"].sum())


def lines_changed(queue: str, only: Sequence[int] = ()) -> tuple[int, int]:
    """Lines that the patches of a queue add and remove.

    :param only: numbers of the patches that count; then their documentation does not.
    """
    added = removed = 0
    for number, patch in enumerate(series_patches(SERIES / queue), start=1):
        if only and number not in only:
            continue
        # git counts; it need not be in a repository for that.
        left_out = ["--exclude=Documentation/*"] if only else []
        counted = run([need("git", "git"), "apply", "--numstat", *left_out, patch])
        for line in counted.decode().splitlines():
            more, less, _ = line.split("\t")
            added, removed = added + int(more), removed + int(less)
    return added, removed
