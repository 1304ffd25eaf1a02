# SPDX-License-Identifier: GPL-2.0-or-later
"""Which running CPU of another cluster decides about a cluster's power, at each instant.

Some powers depend on the machine's state, not on the CPU's alone: littles that share a rail with
others draw more while a running CPU of another cluster keeps that rail's supply up. So the rows of
such clusters are cut where another CPU begins to decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from eascope.analysis.tables.counters import SPENT, idle_columns
from eascope.analysis.tables.split import AWAKE, ENTERING, LEAVING, Stretch, asleep
from eascope.configs.platform import Cluster, Platform
from eascope.power.model import SHARED_PART, PowerModel

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Deciding:
    """Who decides: ``keys[number]`` from each of ``since`` on, in ns; key 0 is nobody."""

    keys: tuple[object, ...]
    since: Numbers
    number: Numbers


def deciding(
    rows: pl.DataFrame,
    stretches: Mapping[int, Sequence[Stretch]],
    platform: Platform,
    model: PowerModel,
) -> Deciding:
    """The running CPU with the highest vote (`power.model.PowerModel.vote`), at each instant."""
    begin = int(rows["t0_ns"].min())  # type: ignore[arg-type]
    voters = [cluster for cluster in platform.clusters if not model.depends(cluster)]
    runs = {cluster.index: _running(cluster, stretches, model) for cluster in voters}
    clocks = {cluster.index: _clock(cluster, rows) for cluster in voters}
    edges = [np.array([begin], dtype=np.int64)]
    edges += [part for spans in runs.values() for part in spans]
    edges += [since for since, _ in clocks.values()]
    since = np.unique(np.concatenate(edges))
    since = since[since >= begin]
    keys: list[object] = [None]
    number = np.zeros(len(since), dtype=np.int64)
    best = np.full(len(since), -1, dtype=np.int64)
    for cluster in voters:
        starts, ends = runs[cluster.index]
        running = np.searchsorted(np.sort(starts), since, side="right") > np.searchsorted(
            np.sort(ends), since, side="right"
        )
        changes, khz = clocks[cluster.index]
        at = khz[np.maximum(np.searchsorted(changes, since, side="right") - 1, 0)]
        for clock in np.unique(at):
            vote = model.vote(cluster, int(clock))
            if vote is None:
                continue
            rank, key = vote
            wins = running & (at == clock) & (rank > best)
            if key not in keys:
                keys.append(key)
            number[wins], best[wins] = keys.index(key), rank
    kept = np.concatenate(([True], number[1:] != number[:-1]))
    return Deciding(tuple(keys), since[kept], number[kept])


def cut(
    rows: pl.DataFrame,
    stretches: Mapping[int, Sequence[Stretch]],
    platform: Platform,
    model: PowerModel,
) -> tuple[pl.DataFrame, tuple[object, ...]]:
    """``rows`` of ``intervals`` with ``beside``, the number of a key, and all keys.

    A row of a cluster that depends on others becomes one row per key, with the same ``t0_ns`` and
    ``t1_ns``. Their times sum to the row's: those of the engine, in the proportions of the trace.
    """
    if not any(model.depends(cluster) for cluster in platform.clusters):
        return rows, (None,)
    plain = rows.with_columns(pl.lit(0, pl.Int64).alias("beside"))
    who = deciding(rows, stretches, platform, model)
    parts = []
    for (index, cpu), part in plain.group_by("cluster", "cpu", maintain_order=True):
        cluster = platform.clusters[int(index)]
        parts.append(
            _cut(part, int(cpu), cluster, stretches, who) if model.depends(cluster) else part
        )
    return pl.concat(parts), who.keys


def _running(
    cluster: Cluster, stretches: Mapping[int, Sequence[Stretch]], model: PowerModel
) -> tuple[Numbers, Numbers]:
    """Begins and ends of all times in which a CPU of ``cluster`` counts as running."""
    early, before = model.early_ns(cluster)
    spans = [
        (
            max(s.t0_ns - before, s.t1_ns - early - before) if s.state == LEAVING else s.t0_ns,
            s.t1_ns,
        )
        for cpu in cluster.cpus
        for s in stretches[cpu]
        if s.state == AWAKE or (s.state == LEAVING and early)
    ]
    both = np.array(spans, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _clock(cluster: Cluster, rows: pl.DataFrame) -> tuple[Numbers, Numbers]:
    own = rows.filter((pl.col("cluster") == cluster.index) & (pl.col("cpu") == SHARED_PART))
    return own["t0_ns"].to_numpy(), own["khz"].to_numpy()


def _cut(
    part: pl.DataFrame,
    cpu: int,
    cluster: Cluster,
    stretches: Mapping[int, Sequence[Stretch]],
    who: Deciding,
) -> pl.DataFrame:
    """The rows of one CPU, or of a shared part, by key."""
    idle = idle_columns(part)
    names = [*SPENT, *idle]
    states = {AWAKE: 0, ENTERING: 1, LEAVING: 2}
    states |= {number: len(SPENT) + number for number in range(len(idle))}
    if cpu == SHARED_PART:
        deepest = states.get(cluster.cluster_sleep or 0, 0)
        spans = [(t0, t1, deepest) for t0, t1 in asleep(cluster, stretches)]
    else:
        spans = [(s.t0_ns, s.t1_ns, states[s.state]) for s in stretches[cpu]]
    times = np.array(spans, dtype=np.int64).reshape(-1, 3)
    begin, end = part["t0_ns"].to_numpy(), part["t1_ns"].to_numpy()
    edges = np.unique(np.concatenate((begin, end, times[:, 0], times[:, 1], who.since)))
    edges = edges[(edges >= begin[0]) & (edges <= end[-1])]
    left = edges[:-1]
    row = np.searchsorted(begin, left, side="right") - 1
    key = who.number[np.maximum(np.searchsorted(who.since, left, side="right") - 1, 0)]
    state = np.zeros(len(left), dtype=np.int64)  # where no stretch is: awake, or on
    if len(times):
        last = np.maximum(np.searchsorted(times[:, 0], left, side="right") - 1, 0)
        covered = (times[last, 0] <= left) & (left < times[last, 1])
        state = np.where(covered, times[last, 2], 0)
    keys = len(who.keys)
    traced = np.zeros((part.height, keys, len(names)), dtype=np.int64)
    np.add.at(traced, (row, key, state), np.diff(edges))
    counted = np.stack([part[name].to_numpy() for name in names], axis=1)
    spent = _in_proportion(traced, counted)
    number, beside = np.nonzero(spent.sum(axis=2))
    rows = part[number.astype(np.uint32)]
    columns = [pl.Series(name, spent[number, beside, place]) for place, name in enumerate(names)]
    return rows.with_columns(*columns, pl.Series("beside", beside.astype(np.int64)))


def _in_proportion(traced: Numbers, counted: Numbers) -> Numbers:
    """``counted`` (row, state) shared among keys as ``traced`` (row, key, state) is; exact sums.

    Where the trace has nothing of a state, the row's most frequent key gets all of it.
    """
    total = traced.sum(axis=1)
    usual = traced.sum(axis=2).argmax(axis=1)
    # In floats, for products of times do not fit 64 bits; what is lost goes to the usual key.
    share = traced / np.maximum(total, 1)[:, None, :]
    spread = np.floor(share * counted[:, None, :]).astype(np.int64)
    spent: Numbers = np.where((total == counted)[:, None, :], traced, spread)
    spent[np.arange(len(usual)), usual] += counted - spent.sum(axis=1)
    return spent
