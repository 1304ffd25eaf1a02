# SPDX-License-Identifier: GPL-2.0-or-later
"""Active, exit and idle time of a CPU from the trace, for engines whose counters lack them.

gem5 counts a CPU that stands still for an elided loop as clock-gated, and knows only its own idle
states. So the rows of a gem5 run are split by the kernel's ``cpu_idle`` events. From the entry of a
state to its exit the CPU is idle. The last part of this time is the state's exit latency, which the
idle driver spends, and it counts as ``exit_ns``, as on the fast engine. All other time is active.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from eascope.analysis.trace import ENDS, Trace
from eascope.analysis.window import Window
from eascope.configs.platform import Cluster, Platform
from eascope.host.errors import EascopeError
from eascope.power.model import SHARED_PART

Times = npt.NDArray[np.int64]

#: State of a CPU that is awake, and of one that leaves an idle state.
AWAKE, LEAVING = -1, -2


@dataclass(frozen=True)
class Stretch:
    """A CPU in one state (an idle state's number, `AWAKE` or `LEAVING`); ns since power-on."""

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
    by_cpu = {}
    for cluster in platform.clusters:
        exits = [state.exit_us * 1000 for state in cluster.idle_states]
        # The driver plays the exit of deeper states only: WFI has none.
        exits[0] = 0
        for cpu in cluster.cpus:
            rows = events.filter(pl.col("cpu_id") == cpu).select("at_ns", "state").rows()
            by_cpu[cpu] = list(_of_cpu(rows, exits, window, trace.path, cpu))
    return by_cpu


def _of_cpu(
    events: Sequence[tuple[int, int]],
    exits: Sequence[int],
    window: Window,
    path: Path,
    cpu: int,
) -> Iterator[Stretch]:
    """Stretches of one CPU, cut to the window."""
    state, since = AWAKE, window.t0_ns
    # A CPU that slept through everything has no event at all: it was idle since before the trace.
    if not events:
        state = len(exits) - 1
    elif events[0][1] == ENDS:
        state = 0 if len(exits) == 1 else _entered_before(events, exits, window)
    for event_ns, entered in [*events, (window.t1_ns, ENDS)]:
        at = min(event_ns, window.t1_ns)
        if entered != ENDS and entered >= len(exits):
            raise EascopeError(
                f"{path}: cpu {cpu} enters idle state {entered}, but has only {len(exits)} states"
            )
        if at <= since:
            state = AWAKE if entered == ENDS else entered
            continue
        if state == AWAKE:
            yield Stretch(since, at, AWAKE)
        else:
            yield from _idle(since, at, state, exits[state], ends=at < window.t1_ns)
        state, since = (AWAKE if entered == ENDS else entered), at
        if at == window.t1_ns:
            return


def _idle(begin: int, end: int, state: int, exit_ns: int, *, ends: bool) -> Iterator[Stretch]:
    """An idle stretch; its last part is the exit when it ends by itself."""
    leaves = max(begin, end - exit_ns) if ends else end
    if leaves > begin:
        yield Stretch(begin, leaves, state)
    if end > leaves:
        yield Stretch(leaves, end, LEAVING)


def _entered_before(events: Sequence[tuple[int, int]], exits: Sequence[int], window: Window) -> int:
    """The state that the first event ends: it was entered before tracing began.

    The trace does not have it. One that lasts longer than a deep state's exit is taken for the
    deepest: the kernel chooses it for a sleep of unknown length.
    """
    return len(exits) - 1 if events[0][0] - window.t0_ns > max(exits) else 0


def split(rows: pl.DataFrame, trace: Trace, platform: Platform, window: Window) -> pl.DataFrame:
    """``rows`` (one per CPU, and cpu -1 for the shared part) with active, exit and idle times.

    A cluster's shared part is off while all its CPUs are in the state that is cluster-sleep; that
    time lies in that state's column, all else in ``active_ns``.
    """
    by_cpu = stretches(trace, platform, window)
    states = max(len(cluster.idle_states) for cluster in platform.clusters)
    columns = {AWAKE: "active_ns", LEAVING: "exit_ns"}
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
