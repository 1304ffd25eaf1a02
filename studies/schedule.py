# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m studies.schedule``: simulate how a large campaign's parts fill many cores.

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

from experiments.sweeps.array_script import MOST_TASKS
from experiments.sweeps.session import part_size

#: Measured: files of a finished `smoke` run, and KiB of them (docs/concepts/scale.md).
FILES, KIB = 27, 444


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


def main(arguments: list[str] | None = None) -> int:
    """Print a table of both ways for each number of cores."""
    parser = argparse.ArgumentParser(prog="python -m studies.schedule", description=__doc__)
    parser.add_argument("--cells", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--cores", default="16,128,1000,4000", metavar="N,N")
    parser.add_argument("--seconds", default="0.6", metavar="S,S", help="of a cell, by scenario")
    parser.add_argument("--spread", type=float, default=0.5, metavar="SHARE")
    parser.add_argument("--start", type=float, default=2.85, metavar="S", help="of a part")
    parser.add_argument("--starts", type=float, default=100.0, metavar="N", help="parts a second")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    options = parser.parse_args(arguments)
    means = [float(word) for word in options.seconds.split(",")]
    print("cores  cells of a part  way        hours  busy   files/s")
    for cores in map(int, options.cores.split(",")):
        size = part_size(options.cells, cores)
        seconds = part_seconds(
            options.cells, size, means, options.spread, options.start, options.seed
        )
        ways = {
            "Snakemake": by_first_free(seconds, cores, options.starts),
            "array": by_array(seconds, cores),
        }
        for way, done in ways.items():
            rate = options.cells * FILES / done.end_s
            words = f"{cores:5}  {size:15}  {way:9}  {done.end_s / 3600:6.2f}"
            print(f"{words}  {100 * done.busy:3.0f} %  {rate:7.0f}")
    print(f"{options.cells * KIB / 1024**2:.0f} GiB in {options.cells * FILES} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
