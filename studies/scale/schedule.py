# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m studies.scale.schedule``: simulate how a large campaign's parts fill many cores.

A part boots its machine once and runs its cells one after another. Scenarios last differently long,
and a part has cells of one scenario. Two ways to give parts to cores are compared: Snakemake gives
the next part to the core that is free first, and starts so many a second at most; a task of a Slurm
array has its parts from the start. Nothing is run.
"""

from __future__ import annotations

import argparse
import heapq
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from analysis.results.measured import FigureRecord
from analysis.results.origin import RESULTS
from experiments.sweeps.array_script import MOST_TASKS
from experiments.sweeps.session import part_size
from studies.scale.plan import NAME


@dataclass(frozen=True)
class CellCost:
    """What cells of `smoke` cost, by ``results/scale.json``.

    :param each_s: processor seconds of a cell after the first of its part.
    :param start_s: processor seconds of a part besides its cells: Python and the boot.
    :param files: of a finished run, and KiB of them.
    """

    each_s: float
    start_s: float
    files: int
    kib: int


def cost_of(record: FigureRecord) -> CellCost:
    """From a part of one cell, a part of many, and a finished run."""
    single, many = record.figure("part", "shared_s"), record.figure("boot", "shared_s")
    each = (many - single) / (record.figure("boot", "cells") - record.figure("part", "cells"))
    files, kib = (round(record.figure("run", figure)) for figure in ("files", "kib"))
    return CellCost(each, single - each, files, kib)


#: What is simulated unless options say otherwise.
CELLS = 1_000_000
CORES = (16, 128, 1000, 4000)
SPREAD = 0.5
#: Parts that Snakemake starts in a second.
STARTS = 100.0


@dataclass(frozen=True)
class Scheduled:
    """A simulated campaign.

    :param end_s: when its last part ends.
    :param busy: share of the cores' time in which they run a part.
    """

    end_s: float
    busy: float


def part_seconds(
    cells: int, size: int, means: Sequence[float], spread: float, start_s: float, seed: int
) -> list[float]:
    """How long each part runs, in the order of a campaign: scenario after scenario.

    :param means: seconds of a cell of each scenario; each has the same share of the cells.
    :param spread: standard deviation of a cell's seconds, as a share of the mean.
    :param start_s: seconds of a part before its first cell: Python and the boot.
    """
    draws = random.Random(seed)
    parts = -(-cells // size)
    seconds = []
    for number in range(parts):
        count = cells * (number + 1) // parts - cells * number // parts
        mean = means[number * len(means) // parts]
        # A sum of many cells is near a normal distribution; no cell takes no time.
        drawn = draws.gauss(mean * count, mean * spread * count**0.5)
        seconds.append(start_s + max(drawn, 0.1 * mean * count))
    return seconds


def by_first_free(seconds: Sequence[float], cores: int, starts_per_s: float) -> Scheduled:
    """Each part goes to the core that is free first; at most ``starts_per_s`` begin in a second."""
    free = [0.0] * cores
    for number, length in enumerate(seconds):
        heapq.heapreplace(free, max(free[0], number / starts_per_s) + length)
    end = max(free)
    return Scheduled(end, sum(seconds) / (end * cores))


def by_array(seconds: Sequence[float], cores: int, most_tasks: int = MOST_TASKS) -> Scheduled:
    """Task t has the parts t, t + tasks, ...; a task begins when a core is free."""
    tasks = min(len(seconds), most_tasks)
    return by_first_free([sum(seconds[task::tasks]) for task in range(tasks)], cores, float("inf"))


@dataclass(frozen=True)
class Filled:
    """A campaign on some cores: parts that go to the first free core, and those of an array."""

    cores: int
    size: int
    ways: dict[str, Scheduled]


def filled(
    cells: int, cores: int, means: Sequence[float], spread: float, start_s: float, **more: float
) -> Filled:
    """Simulate both ways.

    :param more: ``starts``, parts that begin in a second at most, and ``seed``.
    """
    size = part_size(cells, cores)
    seconds = part_seconds(cells, size, means, spread, start_s, int(more.get("seed", 1)))
    ways = {
        "Snakemake": by_first_free(seconds, cores, more.get("starts", STARTS)),
        "array": by_array(seconds, cores),
    }
    return Filled(cores, size, ways)


def main(arguments: list[str] | None = None) -> int:
    """Print a table of both ways for each number of cores."""
    cost = cost_of(FigureRecord.read(RESULTS / f"{NAME}.json"))
    parser = argparse.ArgumentParser(prog="python -m studies.scale.schedule", description=__doc__)
    parser.add_argument("--cells", type=int, default=CELLS, metavar="N")
    parser.add_argument("--cores", default=",".join(map(str, CORES)), metavar="N,N")
    parser.add_argument(
        "--seconds", default=str(cost.each_s), metavar="S,S", help="of a cell, by scenario"
    )
    parser.add_argument("--spread", type=float, default=SPREAD, metavar="SHARE")
    parser.add_argument("--start", type=float, default=cost.start_s, metavar="S", help="of a part")
    parser.add_argument("--starts", type=float, default=STARTS, metavar="N", help="parts a second")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    options = parser.parse_args(arguments)
    means = [float(word) for word in options.seconds.split(",")]
    print("cores  cells of a part  way        hours  busy   files/s")
    for cores in map(int, options.cores.split(",")):
        more = {"starts": options.starts, "seed": options.seed}
        done = filled(options.cells, cores, means, options.spread, options.start, **more)
        for way, scheduled in done.ways.items():
            rate = options.cells * cost.files / scheduled.end_s
            words = f"{cores:5}  {done.size:15}  {way:9}  {scheduled.end_s / 3600:6.2f}"
            print(f"{words}  {100 * scheduled.busy:3.0f} %  {rate:7.0f}")
    gib, files = options.cells * cost.kib / 1024**2, options.cells * cost.files
    print(f"{gib:.0f} GiB in {files} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
