# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions per wake-up: the slope between ping-pongs of N and 10 N, and the size of each queue.

Two threads wake each other through pipes, without tracing. What a boot, a start and an end cost
is the same for both lengths and falls out of the slope; what is left is a round trip: two wake-ups
with the reads, writes and switches that belong to them. Instructions of all CPUs count, idle loops
and ticks included, so the figure says what a wake-up costs the machine.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from analysis.results.comparisons import Spread
from engines.records import COUNTERS, MARKS, START, STOP, read_marks
from experiments.cell import digests_of, machine_of, proofs_of
from experiments.program import Program
from experiments.replicate import start_offset_us
from experiments.request import Names, Request, resolve
from host.cache import artefact
from host.proc import need, run
from kernels.queues import series_patches
from kernels.variants import SERIES
from studies.wakeup_cost.plan import COUNT, PLATFORM, SEEDS, TIMES, WARM_UP_MS


def measure(variant: str, cpus: str | None) -> Spread:
    """Instructions per wake-up of one variant in one form."""
    names = resolve(Request(PLATFORM, variant, "smoke"))
    allowed = None if cpus is None else names.platform.resolve(cpus)
    costs = []
    for seed in range(SEEDS):
        short, long = (
            instructions(names, Program("pipe", "ping-pong", allowed, count, count), seed)
            for count in (COUNT, COUNT * TIMES)
        )
        # Two wake-ups in a round trip.
        costs.append((long - short) / (COUNT * (TIMES - 1)) / 2)
    return Spread(sum(costs) / len(costs), min(costs), max(costs))


def instructions(names: Names, program: Program, seed: int) -> int:
    """Instructions that all CPUs execute in the window of a boot with ``program``; cached."""
    proofs = [" ".join(line) for line in proofs_of(names)]
    switches = names.variant.switches
    lines = ["eascope-script 1", *(f"write {path} {value}" for path, value in switches)]
    lines += [*proofs, "barrier", f"sleep-ms {WARM_UP_MS}", "start"]
    lines += [f"spawn pipe {program.command(False, start_offset_us(seed, 'pipe'))}", "wait pipe"]
    lines += ["stop", *proofs, "exit", ""]
    machine = machine_of(names, "\n".join(lines).encode())

    def boot(folder: Path) -> None:
        names.engine.run(machine, folder)

    key = digests_of(names.engine, machine, names.engine.identity())
    folder = artefact("wakeup-cost", key, boot, label=f"{program.count(False)} round trips")
    return _within(folder)


def _within(folder: Path) -> int:
    marks = {mark.id: mark.t_ns for mark in read_marks(folder / MARKS)}
    rows = pl.read_parquet(folder / COUNTERS).filter(
        (pl.col("t0_ns") >= marks[START]) & (pl.col("t1_ns") <= marks[STOP])
    )
    return int(rows["instructions"].sum())


def lines_changed(queue: str) -> tuple[int, int]:
    """Lines that the patches of a queue add and remove."""
    added = removed = 0
    for patch in series_patches(SERIES / queue):
        # git counts; it need not be in a repository for that.
        for line in run([need("git", "git"), "apply", "--numstat", patch]).decode().splitlines():
            more, less, _ = line.split("\t")
            added, removed = added + int(more), removed + int(less)
    return added, removed
