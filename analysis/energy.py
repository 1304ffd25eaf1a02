# SPDX-License-Identifier: GPL-2.0-or-later
"""Energy of each part of the machine in each interval, in whole femtojoules.

1 uW for 1 ns is 1 fJ, so energies from published powers are exact integers and parts add up to the
total exactly. For people and JSON, joules are multiples of 2^-40 J (0.9 pJ), apportioned so that
sums of floats are exact as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np
import polars as pl

from eascope.analysis.tables.idle import ChipTimes
from eascope.configs.billing import CHIP
from eascope.configs.platform import Platform
from eascope.engines.records import NO_CLUSTER
from eascope.power.model import SHARED_PART, PowerModel, interval_of

FJ_PER_J = 10**15
#: Joules are multiples of 1/QUANTA: sums up to 8192 J are exact in a float.
QUANTA = 2**40

Key = TypeVar("Key")


def energy(
    intervals: pl.DataFrame,
    platform: Platform,
    model: PowerModel,
    chip: ChipTimes | None = None,
    keys: Sequence[object] = (None,),
) -> pl.DataFrame:
    """``energy``: one row per interval, component and part.

    :param intervals: as `analysis.tables.beside.cut` leaves them, where any power depends on other
        clusters; then an interval may have several rows here, too.
    :param chip: of the chip's shared part, whose row has cluster `NO_CLUSTER`.
    :param keys: those of the column ``beside``.

    Columns: cluster, cluster_name, cpu, t0_ns, t1_ns, component, part (the component's own name
    where the model knows no parts), energy_fj (exact), joules.
    """
    schema = {
        "cluster": pl.Int32,
        "cluster_name": pl.String,
        "cpu": pl.Int32,
        "t0_ns": pl.Int64,
        "t1_ns": pl.Int64,
        "component": pl.String,
        "part": pl.String,
        "energy_fj": pl.Int64,
    }
    columns: dict[str, list[object]] = {name: [] for name in schema}
    for row in intervals.iter_rows(named=True):
        cluster = platform.clusters[row["cluster"]]
        interval = interval_of(row)
        if row.get("beside"):
            interval = replace(interval, beside=keys[row["beside"]])
        for (component, part), spent in model.interval_fj(cluster, interval).items():
            for name in ("cluster", "cpu", "t0_ns", "t1_ns"):
                columns[name].append(row[name])
            columns["cluster_name"].append(cluster.name)
            columns["component"].append(component)
            columns["part"].append(part)
            columns["energy_fj"].append(spent)
    if chip is not None:
        for (component, part), spent in model.chip_fj(chip.on_ns, chip.off_ns).items():
            values = (NO_CLUSTER, CHIP, SHARED_PART, chip.t0_ns, chip.t1_ns, component, part, spent)
            for name, value in zip(columns, values, strict=True):
                columns[name].append(value)
    table = pl.DataFrame(columns, schema=schema)
    return table.with_columns((pl.col("energy_fj") / FJ_PER_J).alias("joules"))


class Covered(NamedTuple):
    """Who ran in an interval of a CPU.

    :param pids: the threads, and for each of ``ns`` how long it ran there.
    :param whole_ns: the interval's active time, or that of its threads where that is longer.
    """

    cpu: int
    t0_ns: int
    pids: list[int]
    ns: list[int]
    whole_ns: int


def covered(intervals: pl.DataFrame, slices: pl.DataFrame) -> list[Covered]:
    """Who ran in each interval of each CPU, which no power model changes."""
    rows = intervals.filter(pl.col("cpu") != SHARED_PART)
    return [
        Covered(cpu, t0_ns, pids, ns, max(sum(ns), active_ns))
        for (cpu,), part in rows.group_by("cpu", maintain_order=True)
        for t0_ns, active_ns, (pids, ns) in zip(
            part["t0_ns"].to_list(),
            part["active_ns"].to_list(),
            _overlaps(part, slices.filter(pl.col("cpu") == cpu)),
            strict=True,
        )
    ]


def active_shares(ran: Sequence[Covered], spent: pl.DataFrame) -> pl.DataFrame:
    """The active energy of every interval, shared among the threads that ran in it.

    A thread gets the part of the interval's active time that its slices cover; what no slice
    covers (interrupts, the idle loop's own work) has a null pid. Exact: each interval's parts add
    up to its active energy.

    Columns: cpu, pid, energy_fj.
    """
    rows = spent.filter(pl.col("component") == "active").select("cpu", "t0_ns", "energy_fj")
    active: dict[tuple[int, int], int] = {}
    for cpu, t0_ns, spent_fj in rows.iter_rows():
        active[cpu, t0_ns] = active.get((cpu, t0_ns), 0) + spent_fj
    shares: dict[tuple[int, int | None], int] = {}
    for cpu, t0_ns, pids, overlaps, whole in ran:
        rest = active[cpu, t0_ns]
        row_fj = rest
        for pid, overlap in zip(pids, overlaps, strict=True):
            piece = row_fj * overlap // whole if whole else 0
            shares[cpu, pid] = shares.get((cpu, pid), 0) + piece
            rest -= piece
        shares[cpu, None] = shares.get((cpu, None), 0) + rest
    table = pl.DataFrame(
        [(cpu, pid, energy_fj) for (cpu, pid), energy_fj in shares.items()],
        schema={"cpu": pl.Int32, "pid": pl.Int64, "energy_fj": pl.Int64},
        orient="row",
    )
    return table.sort("cpu", "pid", nulls_last=True)


def _overlaps(part: pl.DataFrame, ran: pl.DataFrame) -> list[tuple[list[int], list[int]]]:
    """For each interval of one CPU: pids, and the ns that each covers."""
    begin = part["t0_ns"].to_numpy()
    end = part["t1_ns"].to_numpy()
    s0 = ran["t0_ns"].to_numpy()
    s1 = ran["t1_ns"].to_numpy()
    first = np.searchsorted(end, s0, side="right")
    last = np.searchsorted(begin, s1, side="left")  # exclusive
    counts = np.maximum(last - first, 0)
    which = np.repeat(np.arange(len(s0)), counts)
    before = np.repeat(np.cumsum(counts) - counts, counts)
    number = np.arange(counts.sum()) - before + np.repeat(first, counts)
    both_ns = np.minimum(s1[which], end[number]) - np.maximum(s0[which], begin[number])
    pieces = (
        pl.DataFrame(
            {"number": number, "pid": ran["pid"].to_numpy()[which], "ns": both_ns},
            schema={"number": pl.Int64, "pid": pl.Int64, "ns": pl.Int64},
        )
        .filter(pl.col("ns") > 0)
        .group_by("number", "pid")
        .agg(pl.col("ns").sum())
        .sort("number", "pid")
    )
    grouped: dict[int, tuple[list[int], list[int]]] = {}
    for row, pid, ns in pieces.iter_rows():
        pids, times = grouped.setdefault(row, ([], []))
        pids.append(pid)
        times.append(ns)
    return [grouped.get(row, ([], [])) for row in range(part.height)]


def joules(parts: Sequence[tuple[Key, int]]) -> dict[Key, float]:
    """Energies in fJ as joules whose float sums are exact: largest-remainder apportionment.

    The sum of the result is the sum of ``parts`` rounded to the quantum; no part moves by more
    than one quantum (2^-40 J).
    """
    total = sum(spent for _, spent in parts)
    scaled = [(key, *divmod(spent * QUANTA, FJ_PER_J)) for key, spent in parts]
    missing = (total * QUANTA + FJ_PER_J // 2) // FJ_PER_J - sum(whole for _, whole, _ in scaled)
    order = sorted(range(len(scaled)), key=lambda index: (-scaled[index][2], index))
    extra = set(order[:missing])
    return {
        key: (whole + (index in extra)) / QUANTA for index, (key, whole, _) in enumerate(scaled)
    }
