# SPDX-License-Identifier: GPL-2.0-or-later
"""What CPUs and threads did in a window of a recording, and two such windows beside each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from eascope.analysis.recordings.bursts import UNKNOWN, Bursts, Floats, Work
from eascope.analysis.recordings.device import Device
from eascope.analysis.recordings.tables import Recording

#: Utilization is compared in stretches of this length.
BIN_NS = 100_000_000


@dataclass(frozen=True)
class Window:
    """Figures of a window.

    :ivar busy: share of the time in which each CPU was busy; the CPUs are in the platform's order.
    :ivar bins: the same by stretch of `BIN_NS`, a row for each CPU.
    :ivar clocks: for each cluster, ms at each kHz, all time; ``running`` the same of busy time;
        empty where no clock was recorded.
    :ivar idle: for each cluster, share of its CPUs' time in each idle state.
    :ivar waits: from wake-up to CPU, of threads whose wake-up is known, in us.
    :ivar queued: from wake-up or preemption to CPU, in us.
    """

    seconds: float
    busy: Floats
    bins: np.ndarray
    clocks: Mapping[str, Mapping[int, float]]
    running: Mapping[str, Mapping[int, float]]
    idle: Mapping[str, Mapping[int, float]]
    waits: Floats
    queued: Floats
    migrations: int
    work: float


def window_figures(recording: Recording, device: Device, bursts: Bursts) -> Window:
    """The figures of a window, whose bursts are known."""
    begin, end = bursts.begin_ns, bursts.end_ns
    work = Work(recording, device, begin, end)
    edges = np.arange(begin, max(end - BIN_NS, begin) + 1, BIN_NS, dtype=np.int64)
    edges = np.append(edges, edges[-1] + BIN_NS) if edges[-1] + BIN_NS <= end else edges
    edges = edges if len(edges) > 1 else np.array([begin, end], np.int64)
    bins = np.zeros((len(device.cpus), len(edges) - 1))
    busy = np.zeros(len(device.cpus))
    clocks: dict[str, dict[int, float]] = {of.name: {} for of in device.clusters}
    running: dict[str, dict[int, float]] = {of.name: {} for of in device.clusters}
    for place, cpu in enumerate(device.cpus):
        rows = bursts.slices.filter(pl.col("cpu") == cpu).sort("t0")
        t0, t1 = rows["t0"].to_numpy(), rows["t1"].to_numpy()
        until = _busy_until(t0, t1)
        busy[place] = (t1 - t0).sum() / (end - begin)
        bins[place] = np.diff(until(edges)) / np.diff(edges)
        cluster = device.cluster_of(cpu)
        if not recording.freq["cpu"].is_in(cluster.cpus).any():
            continue
        at, khz, _, _ = work.courses[cpu]
        ends = np.append(at[1:], end)
        for clock, whole, of_busy in zip(khz, ends - at, until(ends) - until(at), strict=True):
            if cpu == cluster.cpus[0]:
                add(clocks[cluster.name], int(clock), whole / 1e6)
            add(running[cluster.name], int(clock), of_busy / 1e6)
    known = bursts.bursts.filter(pl.col("cause") != UNKNOWN)
    waits = known["wait"].to_numpy() / 1000
    preempted = bursts.slices.filter(pl.col("gap") > 0)["gap"].to_numpy() / 1000
    moves = bursts.slices.filter(
        (pl.col("pid") == pl.col("pid").shift(1)) & (pl.col("cpu") != pl.col("cpu").shift(1))
    ).height
    return Window(
        seconds=(end - begin) / 1e9,
        busy=busy,
        bins=bins,
        clocks=clocks,
        running=running,
        idle=_idle(recording, device, begin, end),
        waits=waits,
        queued=np.concatenate([waits, preempted]),
        migrations=moves,
        work=float(bursts.slices["work"].sum()),
    )


def add(into: dict[int, float], key: int, value: float) -> None:
    """Add to a sum that may not be there yet."""
    into[key] = into.get(key, 0.0) + float(value)


def _busy_until(t0: np.ndarray, t1: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """How long a CPU was busy until an instant."""
    times = np.empty(2 * len(t0), np.int64)
    times[0::2], times[1::2] = t0, t1
    done = np.concatenate([[0], np.cumsum(np.diff(times) * (np.arange(len(times) - 1) % 2 == 0))])
    if not len(times):
        return lambda at: np.zeros(len(at))
    return lambda at: np.interp(at, times, done)


def _idle(
    recording: Recording, device: Device, begin: int, end: int
) -> dict[str, dict[int, float]]:
    """Share of the clusters' CPU time by idle state, of CPUs with such events."""
    found: dict[str, dict[int, float]] = {}
    for cluster in device.clusters:
        states: dict[int, float] = {}
        for cpu in cluster.cpus:
            rows = recording.idle.filter(pl.col("cpu") == cpu)
            t0 = rows["t_ns"].to_numpy()
            t1 = np.append(t0[1:], end) if len(t0) else t0
            stay = np.clip(t1, begin, end) - np.clip(t0, begin, end)
            for state, time in zip(rows["state"].to_numpy(), stay, strict=True):
                if state >= 0:
                    add(states, int(state), time / (end - begin) / len(cluster.cpus))
        found[cluster.name] = states
    return found


@dataclass(frozen=True)
class Agreement:
    """How far utilizations are from each other: mean absolute error in points, and correlation."""

    error: float
    correlation: float | None


def agreement(recorded: np.ndarray, ours: np.ndarray) -> Agreement:
    """Of two courses of utilization in shares, of equal form, or of their common length."""
    length = min(recorded.shape[-1], ours.shape[-1])
    one, other = recorded[..., :length].ravel(), ours[..., :length].ravel()
    error = 100 * float(np.abs(one - other).mean())
    varies = one.std() > 0 and other.std() > 0
    return Agreement(error, float(np.corrcoef(one, other)[0, 1]) if varies else None)


def percentile(values: Floats, share: float) -> float | None:
    """Nearest rank; None of nothing."""
    if not len(values):
        return None
    return float(np.sort(values)[min(len(values) - 1, int(share * len(values)))])
