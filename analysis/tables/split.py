# SPDX-License-Identifier: GPL-2.0-or-later
"""Active, entry, exit and idle time of a CPU from the trace, for counters that lack them.

gem5 counts a CPU that stands still for an elided loop as clock-gated, and knows only its own idle
states. So the rows of a gem5 run are split by the kernel's ``cpu_idle`` events. From the entry of a
state to its exit the CPU is idle. The first and the last part of this time is what the machine
takes to enter the state and to leave it. The idle driver spends it, and it counts as ``entry_ns``
and ``exit_ns``, as on the fast engine. All other time is active.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from eascope.analysis.trace import ENDS, Trace
from eascope.analysis.window import Window
from eascope.configs.platform import Cluster, IdleState, Platform
from eascope.host.errors import EascopeError
from eascope.power.model import SHARED_PART

Times = npt.NDArray[np.int64]

#: State of a CPU that is awake, of one that leaves an idle state, and of one that enters it.
AWAKE, LEAVING, ENTERING = -1, -2, -3

#: Before and after the window, where the trace has no event: longer than any way.
_LONG_NS = 10**12


@dataclass(frozen=True)
class Stretch:
    """A CPU in one state (an idle state's number, or one of the above); ns since power-on."""

    t0_ns: int
    t1_ns: int
    state: int


def stretches(trace: Trace, platform: Platform, window: Window) -> dict[int, list[Stretch]]:
    """The states of each CPU, without a gap from the window's begin to its end.

    Before its first event a CPU is in the state that this event ends.
    """
    events = trace.table("cpu_idle").with_columns(
        (pl.col("t_ns") + window.offset_ns).alias("at_ns")
    )
    by_cpu: dict[int, list[Stretch]] = {}
    for cluster in platform.clusters:
        whole = {}
        for cpu in cluster.cpus:
            rows = events.filter(pl.col("cpu_id") == cpu).select("at_ns", "state").rows()
            whole[cpu] = list(_of_cpu(rows, cluster.idle_states, window, trace.path, cpu))
        ways = _ways(whole, cluster)
        for cpu, own in whole.items():
            by_cpu[cpu] = [
                part
                for each in own
                for part in _parts(each, *ways[cpu].get(each.t0_ns, (0, 0)), window)
            ]
    return by_cpu


def _of_cpu(
    events: Sequence[tuple[int, int]],
    states: Sequence[IdleState],
    window: Window,
    path: Path,
    cpu: int,
) -> Iterator[Stretch]:
    """Stretches of one CPU in and about the window, whose ends are the whole stays'."""
    state, since = AWAKE, window.t0_ns - _LONG_NS
    # A CPU that slept through everything has no event at all: it was idle since before the trace.
    if not events:
        state = len(states) - 1
    elif events[0][1] == ENDS:
        state = 0 if len(states) == 1 else _entered_before(events, states, window)
    for at, entered in [*events, (window.t1_ns + _LONG_NS, ENDS)]:
        if entered != ENDS and entered >= len(states):
            raise EascopeError(
                f"{path}: cpu {cpu} enters idle state {entered}, but has only {len(states)} states"
            )
        if at > max(since, window.t0_ns):
            yield Stretch(since, at, state)
        state, since = (AWAKE if entered == ENDS else entered), at
        if at >= window.t1_ns:
            return


def _parts(whole: Stretch, entry_ns: int, exit_ns: int, window: Window) -> Iterator[Stretch]:
    """What of a stay lies in the window: its entry, the state itself, its exit."""
    leaves = max(whole.t0_ns, whole.t1_ns - exit_ns)
    asleep = min(leaves, whole.t0_ns + entry_ns)
    edges = (whole.t0_ns, asleep, leaves, whole.t1_ns)
    cut = (min(max(edge, window.t0_ns), window.t1_ns) for edge in edges)
    for (t0, t1), state in zip(pairwise(cut), (ENTERING, whole.state, LEAVING), strict=True):
        if t1 > t0:
            yield Stretch(t0, t1, state)


def _ways(
    whole: Mapping[int, Sequence[Stretch]], cluster: Cluster
) -> dict[int, dict[int, tuple[int, int]]]:
    """By CPU and begin of each stay, the ns that its entry and its exit took.

    In the cluster's sleep the last CPU to enter it, and the first to leave it, may take others.
    The driver counts CPUs on its own, some instructions after the kernel's event.
    """
    ways: dict[int, dict[int, tuple[int, int]]] = {}
    deep = {
        cpu: np.array(
            [(s.t0_ns, s.t1_ns) for s in own if s.state == cluster.cluster_sleep], dtype=np.int64
        ).reshape(-1, 2)
        for cpu, own in whole.items()
    }
    for cpu, own in whole.items():
        ways[cpu] = {}
        for state in {each.state for each in own} - {AWAKE, 0}:
            takes = cluster.idle_states[state].takes
            those = np.array([(s.t0_ns, s.t1_ns) for s in own if s.state == state], dtype=np.int64)
            last = first = np.full(len(those), state == cluster.cluster_sleep and takes.by_cluster)
            woken = those[:, 1] - 1000 * takes.first_exit_us
            for other, stays in deep.items():
                if other != cpu:
                    last = last & _in(stays, those[:, 0], 1000 * takes.exit_us)
                    first = first & _in(stays, woken, 1000 * takes.exit_us)
            entry = 1000 * np.where(last, takes.last_entry_us, takes.entry_us)
            exit_ = 1000 * np.where(first, takes.first_exit_us, takes.exit_us)
            both_ns = zip(entry.tolist(), exit_.tolist(), strict=True)
            ways[cpu] |= dict(zip(those[:, 0].tolist(), both_ns, strict=True))
    return ways


def _in(stays: Times, at: Times, exit_ns: int) -> npt.NDArray[np.bool_]:
    """True if a CPU with these stays had entered one by then, and had not begun to leave it."""
    if not len(stays):
        return np.zeros(len(at), dtype=np.bool_)
    number = np.searchsorted(stays[:, 0], at, side="right") - 1
    inside: npt.NDArray[np.bool_] = (number >= 0) & (at < stays[number, 1] - exit_ns)
    return inside


def _entered_before(
    events: Sequence[tuple[int, int]], states: Sequence[IdleState], window: Window
) -> int:
    """The state that the first event ends: it was entered before tracing began.

    The trace does not have it. One that lasts longer than a deep state's way out is taken for the
    deepest: the kernel chooses it for a sleep of unknown length.
    """
    longest_us = max(state.takes.exit_us for state in states)
    return len(states) - 1 if events[0][0] - window.t0_ns > 1000 * longest_us else 0


def split(rows: pl.DataFrame, trace: Trace, platform: Platform, window: Window) -> pl.DataFrame:
    """``rows`` (one per CPU, and cpu -1 for the shared part) with times in each state.

    A cluster's shared part is off while all its CPUs are in the state that is cluster-sleep; that
    time lies in that state's column, all else in ``active_ns``.
    """
    by_cpu = stretches(trace, platform, window)
    states = max(len(cluster.idle_states) for cluster in platform.clusters)
    columns = {AWAKE: "active_ns", ENTERING: "entry_ns", LEAVING: "exit_ns"}
    columns |= {number: f"idle{number}_ns" for number in range(states)}
    parts = []
    for (index, cpu), part in rows.group_by("cluster", "cpu", maintain_order=True):
        begin, end = part["t0_ns"].to_numpy(), part["t1_ns"].to_numpy()
        spent = dict.fromkeys(columns.values(), np.zeros(part.height, dtype=np.int64))
        if cpu == SHARED_PART:
            cluster = platform.clusters[index]
            off = within(asleep(cluster, by_cpu), begin, end)
            spent["active_ns"] = end - begin - off
            if cluster.cluster_sleep is not None:
                spent[columns[cluster.cluster_sleep]] = off
        else:
            for state, name in columns.items():
                those = [
                    (stretch.t0_ns, stretch.t1_ns)
                    for stretch in by_cpu[cpu]
                    if stretch.state == state
                ]
                spent[name] = within(those, begin, end)
        parts.append(part.with_columns(pl.Series(name, spent[name]) for name in spent))
    return pl.concat(parts)


def within(stretches: Sequence[tuple[int, int]], begin: Times, end: Times) -> Times:
    """The part of each interval that the (sorted, disjoint) stretches cover, in ns."""
    if not stretches:
        return np.zeros(len(begin), dtype=np.int64)
    starts, ends = np.array(stretches, dtype=np.int64).T
    before = np.concatenate(([0], np.cumsum(ends - starts)))

    def covered(until: Times) -> Times:
        """Time in the stretches up to ``until``."""
        number = np.searchsorted(starts, until, side="right")
        last = np.maximum(number - 1, 0)
        cut = np.where(number > 0, np.maximum(ends[last] - until, 0), 0)
        return before[number] - cut

    return covered(end) - covered(begin)


def asleep(cluster: Cluster, by_cpu: Mapping[int, Sequence[Stretch]]) -> list[tuple[int, int]]:
    """The times at which all CPUs of ``cluster`` were in cluster-sleep."""
    if cluster.cluster_sleep is None:
        return []
    common: list[tuple[int, int]] | None = None
    for cpu in cluster.cpus:
        deep = [(s.t0_ns, s.t1_ns) for s in by_cpu[cpu] if s.state == cluster.cluster_sleep]
        common = deep if common is None else both(common, deep)
    return common or []


def both(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Where two sorted lists of stretches overlap."""
    overlaps, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        begin, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if begin < end:
            overlaps.append((begin, end))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return overlaps
