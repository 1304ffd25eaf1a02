# SPDX-License-Identifier: GPL-2.0-or-later
"""The stages of a window with events: before the first one, between two, and after the last.

An event is done when its marker is in the trace, which may be long after its time: the kernel takes
some 0.1 s to take a CPU away. A CPU that comes back is no longer away when that begins.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from eascope.analysis.measures.registry import Lines, measure
from eascope.analysis.records.cell import event_times
from eascope.analysis.run_data import RunData
from eascope.analysis.tables.split import AWAKE, ENTERING, LEAVING, Times, within
from eascope.engines.records import COUNTERS
from eascope.host.errors import EascopeError
from eascope.power.model import SHARED_PART, component_of

_By = dict[str, dict[str, float]]


def _events(data: RunData) -> dict[int, tuple[int, int, bool]]:
    """By time in ms: begin and end of its events in ns since power-on; whether all bring CPUs back.

    :raises EascopeError: one of them is not in the trace.
    """
    window, events = data.window, dict[int, tuple[int, int, bool]]()
    prints = data.trace.events.filter(pl.col("event") == "print").select("t_ns", "detail")
    marks = iter(prints.iter_rows())
    done = window.t0_ns
    for write in data.cell.window.writes:
        at, _, what = write.partition(" ")
        if at == "0":
            continue
        text = "eascope: " + (what if " > " in what else what.replace("=", " = ", 1))
        end = next((ns for ns, detail in marks if detail.rstrip().endswith(text)), None)
        if end is None:
            raise EascopeError(
                f"{data.run}: the trace has no marker of the event {what} at {at} ms"
            )
        begin = max(window.t0_ns + 1_000_000 * int(at), done)
        done = end + window.offset_ns
        first, _, back = events.get(int(at), (begin, 0, True))
        events[int(at)] = first, done, back and what.endswith("/online=1")
    return events


def check_events(data: RunData) -> None:
    """Refuse a run whose events were not done when its window was to end.

    :raises EascopeError: one line that names the event's time.
    """
    cell, window_ms = data.cell, data.cell.window.window_ms
    if not (window_ms and event_times(cell) and cell.controls.trace_events):
        return
    for at, (_, end, _) in _events(data).items():
        late = end - data.window.t0_ns - 1_000_000 * window_ms
        if late > 0:
            raise EascopeError(
                f"{data.run}: what {cell.scenario} does at {at} ms was done {late / 1e6:.1f} ms "
                f"after the end of its window of {window_ms} ms; choose an earlier time"
            )


def _edges(data: RunData) -> Times:
    """Begins and ends of the stages, in ns since power-on."""
    window = data.window
    events = _events(data).values() if event_times(data.cell) else ()
    inner = [begin if back else end for begin, end, back in events]
    return np.array([window.t0_ns, *inner, window.t1_ns], dtype=np.int64)


def _by_stage(edges: Times, totals: dict[str, npt.NDArray[np.float64]]) -> _By:
    """By stage and name, ``totals`` per ns; nothing of a stage without length.

    A CPU that is to come back before it was away leaves none between these two.
    """
    lengths = np.diff(edges)
    return {
        str(stage): {name: float(total[stage] / lengths[stage]) for name, total in totals.items()}
        for stage in range(len(lengths) if len(lengths) > 1 else 0)
        if lengths[stage]
    }


def _weights(data: RunData, row: dict[str, object], begin: Times, end: Times) -> Times:
    """Of a row of energies, how long it was in each stage in the component's state."""
    length: Times = np.maximum(end - begin, 0)
    if row["cpu"] == SHARED_PART:
        return length
    own = data.stretches[int(str(row["cpu"]))]
    states = [state.name for state in data.platform.cluster(str(row["cluster_name"])).idle_states]
    wanted = {component_of(name): {number} for number, name in enumerate(states)}
    wanted |= {"active": {AWAKE}, "idle_exit": {LEAVING}, "idle_entry": {ENTERING}}
    those = wanted.get(str(row["component"]), {AWAKE})
    spans = [(stretch.t0_ns, stretch.t1_ns) for stretch in own if stretch.state in those]
    spent = within(spans, begin, np.maximum(begin, end))
    return spent if spent.any() else length


@measure(
    keys="<stage>",
    unit="ms",
    events=("print",),
    lines=Lines("between events", "stage {name}"),
)
def stage_ms(data: RunData) -> dict[str, float]:
    """How long each stage was: events take their time, and later ones may have to wait."""
    lengths = np.diff(_edges(data)) / 1e6
    return {str(n): float(ms) for n, ms in enumerate(lengths)} if len(lengths) > 1 else {}


@measure(
    keys="<stage>.<cluster>",
    unit="W",
    events=("cpu_idle", "print"),
    files=(COUNTERS,),
    lines=Lines("between events", "stage {name}, {key}", unit="mW"),
)
def stage_power_w(data: RunData) -> _By:
    """Mean power by cluster before, between and after events; stage 0 ends with the first."""
    edges = _edges(data)
    spent = {name: np.zeros(len(edges) - 1) for name in data.platform.energy_parts}
    for row in data.energy.iter_rows(named=True) if len(edges) > 2 else ():
        begin = np.maximum(edges[:-1], row["t0_ns"])
        weights = _weights(data, row, begin, np.minimum(edges[1:], row["t1_ns"]))
        spent[row["cluster_name"]] += row["joules"] * weights / weights.sum()
    return _by_stage(edges, {name: 1e9 * joules for name, joules in spent.items()})


@measure(
    keys="<stage>.<cluster>",
    unit="MHz",
    events=("print",),
    files=(COUNTERS,),
    lines=Lines("between events", "stage {name}, {key}"),
)
def stage_mhz(data: RunData) -> _By:
    """Mean frequency by cluster before, between and after events."""
    edges, mhz = _edges(data), {}
    for cluster in data.platform.clusters:
        own = data.frequency.filter(pl.col("cluster") == cluster.index)
        total = np.zeros(len(edges) - 1)
        for khz, since, until in own.select("khz", "t0_ns", "t1_ns").iter_rows():
            total += khz / 1000 * within([(since, until)], edges[:-1], edges[1:])
        mhz[cluster.name] = total
    return _by_stage(edges, mhz)


@measure(
    keys="<stage>.<cluster>",
    unit="share of its CPUs' time",
    events=("cpu_idle", "print"),
    lines=Lines("between events", "stage {name}, {key} busy"),
)
def stage_busy(data: RunData) -> _By:
    """Busy time by cluster before, between and after events, exits from idle states included."""
    edges, busy = _edges(data), {}
    for cluster in data.platform.clusters:
        total = np.zeros(len(edges) - 1)
        for cpu in cluster.cpus:
            own = data.stretches[cpu]
            spans = [(each.t0_ns, each.t1_ns) for each in own if each.state in (AWAKE, LEAVING)]
            total += within(spans, edges[:-1], edges[1:])
        busy[cluster.name] = total / len(cluster.cpus)
    return _by_stage(edges, busy)
