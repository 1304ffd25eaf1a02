# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions per wake-up: the slope between ping-pongs of N and 10 N, and the size of each queue.

Two threads wake each other through pipes, without tracing. What a boot, a start and an end cost
is the same for both lengths and falls out of the slope; what is left is a round trip: two wake-ups
with the reads, writes and switches that belong to them. Instructions of all CPUs count, idle loops
and ticks included, so the figure says what a wake-up costs the machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl

from analysis.results.comparisons import Spread
from analysis.results.origin import RUNS, Origin
from analysis.results.wakeup_cost import Queue, VariantCost, WakeUpCost
from engines.records import COUNTERS, MARKS, START, STOP, read_marks
from experiments.cell import digests_of, machine_of
from experiments.pool import workers
from experiments.program import Program
from experiments.replicate import start_offset_us
from experiments.request import Names, Request, resolve
from host.cache import artefact
from host.proc import need, run, say
from kernels.build import kernel
from kernels.queues import is_ported, series_patches
from kernels.releases import DEFAULT
from kernels.variants import SERIES, load_kernels, load_variants, state_expectations
from studies.versions import versions

PLATFORM = "juno-r2"
COUNT = 1_000
TIMES = 10
SEEDS = 3
VARIANTS = ("mainline", "feec-b", "feec-c", "uclamp-sum", "uclamp-sum-fixed")
#: Where the threads may run, and what that leaves of a wake-up.
FORMS = {
    "one big CPU": ("big:0", "no placement (a task with one CPU is never placed), no idling"),
    "anywhere": (None, "placement over both domains"),
}
#: Lines added and removed, as the sources state them for theirs.
STATED = {"sum": "304, 701 (RFC v2)"}
WARM_UP_MS = 300


NAME = "wakeup-cost"


def measured(command: str, only: Sequence[str] | None = None) -> WakeUpCost:
    """The record, after measuring what is missing; ``only`` these of `VARIANTS`."""
    known = load_variants()
    there = [name for name in VARIANTS if name in known and name in (only or VARIANTS)]
    boots = len(there) * len(FORMS) * SEEDS * 2
    say(f"  wake-up cost: {boots} short boots, 3 s each where they were not done before")
    places = [(variant, form) for variant in there for form in FORMS]
    upstream = {
        str(kernel(name).provenance["upstream"])  # one after the other, before boots run at once
        for name in dict.fromkeys(known[variant].kernel for variant in there)
    }
    with ThreadPoolExecutor(workers()) as pool:
        costs = pool.map(lambda place: measure(place[0], FORMS[place[1]][0]), places)
        slopes = dict(zip(places, costs, strict=True))
    identity = resolve(Request(PLATFORM, there[0], "smoke")).engine.identity()
    return WakeUpCost(
        origin=Origin(
            command, RUNS, versions((name, identity.engine, identity.version) for name in upstream)
        ),
        platform=PLATFORM,
        round_trips=(COUNT, COUNT * TIMES),
        seeds=SEEDS,
        forms={form: meaning for form, (_, meaning) in FORMS.items()},
        variants=tuple(_variant(there[0], variant, slopes) for variant in there),
        queues=tuple(_queues()),
    )


def _variant(base: str, variant: str, slopes: Mapping[tuple[str, str], Spread]) -> VariantCost:
    changes = {
        form: 100 * (slopes[variant, form].mean / slopes[base, form].mean - 1) for form in FORMS
    }
    return VariantCost(
        variant,
        {form: slopes[variant, form] for form in FORMS},
        {} if variant == base else changes,
    )


def _queues() -> Iterator[Queue]:
    for name in dict.fromkeys(queue for spec in load_kernels().values() for queue in spec.series):
        if not is_ported(SERIES / name, DEFAULT):
            continue
        added, removed = lines_changed(name)
        yield Queue(name, added, removed, STATED.get(name, ""))


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
    proofs = [" ".join(line) for line in state_expectations(names.variant, names.platform)]
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
