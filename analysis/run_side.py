# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's decisions, and the energy that it has taken up to any moment.

Energies are whole femtojoules. Energy up to a moment is that of all rows of ``energy`` before it;
within a row, it is spread over the time that its CPU spent in the row's state. So the energies of
adjacent spans sum exactly to that of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import polars as pl

from eascope.analysis import stream
from eascope.analysis.decisions import Candidate, candidates, decisions, recorded
from eascope.analysis.derive import Derived, analysis_version
from eascope.analysis.derived_folder import derived_folder
from eascope.analysis.stream import FORK, REQUEST, Decision, Digests, Streams, placed, streams_of
from eascope.analysis.tables.split import (
    AWAKE,
    ENTERING,
    LEAVING,
    Stretch,
    asleep,
    stretches,
    within,
)
from eascope.analysis.trace import Trace, as_counted, read_trace
from eascope.analysis.window import Window, read_window
from eascope.configs.platform import Cluster, Platform
from eascope.engines.records import MARKS, NO_CLUSTER, TRACE
from eascope.host.cache import digest_of
from eascope.host.imports import code_digest
from eascope.host.record import json_bytes, load_json
from eascope.power.model import SHARED_PART, component_names

#: The file of a run's digests, in a folder of derived tables.
DIGESTS = "decisions.json"
#: The file of the states of its CPUs.
STATES = "states.parquet"
Times = npt.NDArray[np.int64]


class _Times:
    """Stretches of time, from an array of their begins and ends, as `within` takes them."""

    def __init__(self, rows: Times) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __array__(self, dtype: object = None, copy: object = None) -> Times:
        return self._rows


class Energy:
    """The energy that a machine has taken from START to any moment of the window."""

    def __init__(
        self, table: pl.DataFrame, states: pl.DataFrame, platform: Platform, window: Window
    ) -> None:
        """:param table: as `analysis.energy.energy` makes it.

        :param states: cpu, t0_ns, t1_ns, state of each stretch of each CPU.
        """
        self._start = window.t0_ns
        keys = ["cluster", "cpu", "component", "t0_ns", "t1_ns"]
        spent = table.group_by(keys).agg(pl.col("energy_fj").sum()).sort(keys)
        self._rows = []
        for (index, cpu, component), rows in spent.group_by(keys[:3], maintain_order=True):
            cluster = None if index == NO_CLUSTER else platform.clusters[int(str(index))]
            covered = cast(
                Sequence[tuple[int, int]],
                _Times(_times_of(int(str(cpu)), str(component), cluster, states, window)),
            )
            t0, t1, fj = (rows[name].to_numpy() for name in (*keys[3:], "energy_fj"))
            whole = within(covered, t0, t1)
            self._rows.append((t0, t1, np.concatenate(([0], np.cumsum(fj))), covered, whole))

    def until(self, since_start: Sequence[int]) -> list[int]:
        """Energy in fJ up to each moment (ns since START)."""
        at = np.array(since_start, dtype=np.int64) + self._start
        total = np.zeros(len(at), dtype=np.int64)
        for t0, t1, before, covered, wholes in self._rows:
            number = np.clip(np.searchsorted(t0, at, side="right") - 1, 0, None)
            begin, end = t0[number], t1[number]
            moment = np.clip(at, begin, end)
            part, whole = within(covered, begin, moment), wholes[number]
            # A row of a state in which no event shows the CPU is spread over all its time.
            none = whole == 0
            part, whole = np.where(none, moment - begin, part), np.where(none, end - begin, whole)
            row = before[number + 1] - before[number]
            share = np.floor(row * (part / np.maximum(whole, 1))).astype(np.int64)
            total += before[number] + np.where(part >= whole, row, share)
        return [int(value) for value in total]


def _times_of(
    cpu: int, component: str, cluster: Cluster | None, states: pl.DataFrame, window: Window
) -> Times:
    """When a CPU or shared part is in the state that ``component`` bills; empty: not known."""
    if cluster is None:
        return np.empty((0, 2), dtype=np.int64)
    if cpu == SHARED_PART:
        deep = states.filter(pl.col("state") == cluster.cluster_sleep)
        by_cpu = {
            each: [Stretch(*row) for row in _rows_of(deep, each).iter_rows()]
            for each in cluster.cpus
        }
        off = asleep(cluster, by_cpu)
        edges = [window.t0_ns, *(edge for stretch in off for edge in stretch), window.t1_ns]
        on = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b > a]
        return np.array(on, dtype=np.int64).reshape(-1, 2)
    own = {number for number, name in enumerate(component_names(cluster)) if name == component}
    own |= {"active": {AWAKE}, "idle_entry": {ENTERING}, "idle_exit": {LEAVING}}.get(
        component, set()
    )
    rows = _rows_of(states.filter(pl.col("state").is_in(own)), cpu)
    return rows.select("t0_ns", "t1_ns").to_numpy()


def _rows_of(states: pl.DataFrame, cpu: int) -> pl.DataFrame:
    return states.filter(pl.col("cpu") == cpu).select("t0_ns", "t1_ns", "state")


@dataclass(frozen=True)
class Side:
    """One of the two runs; its trace is read where the digests of its decisions do not suffice."""

    derived: Derived
    platform: Platform

    @cached_property
    def window(self) -> Window:
        """The run's window."""
        return read_window(self.derived.run / MARKS)

    @cached_property
    def _trace(self) -> Trace:
        cmdline = self.derived.cell.settings.cmdline
        return as_counted(read_trace(self.derived.run / TRACE), self.platform, cmdline)

    @cached_property
    def _placed(self) -> pl.DataFrame:
        return placed(self._trace)

    @cached_property
    def streams(self) -> Streams:
        """Its decisions in the window."""
        return streams_of(self._trace, self.window, self.platform, self._placed)

    @cached_property
    def before(self) -> Streams:
        """Its decisions from the trace's begin to START."""
        window, first = self.window, self._trace.events["t_ns"].min()
        begin = window.t0_ns if first is None else int(str(first)) + window.offset_ns
        warm_up = Window(min(begin, window.t0_ns), window.t0_ns, window.offset_ns)
        return streams_of(self._trace, warm_up, self.platform, self._placed)

    @cached_property
    def energy(self) -> Energy:
        """What it has taken up to any moment."""

        def make(folder: Path) -> None:
            by_cpu = stretches(self._trace, self.platform, self.window)
            rows = [(cpu, *vars(each).values()) for cpu, own in by_cpu.items() for each in own]
            columns = ["cpu", "t0_ns", "t1_ns", "state"]
            table = pl.DataFrame(rows, schema=columns, orient="row")
            table.write_parquet(folder / STATES)

        folder = self._kept("states", Path(__file__), make)
        states = pl.read_parquet(folder / STATES)
        return Energy(self.derived.table("energy"), states, self.platform, self.window)

    def _kept(self, what: str, code: Path, make: Callable[[Path], None]) -> Path:
        """A folder of the run that is made once, by ``code``."""
        fields = {
            "simkey": self.derived.cell.simkey,
            "platform": self.platform.digest,
            what: code_digest([code]),
            "analysis": analysis_version(),
        }
        return derived_folder(self.derived.run, fields, make)

    @property
    def wakers(self) -> pl.DataFrame:
        """Of each wake-up: pid, woken_ns, and ``by``, the CPU on which the waker ran."""
        woken_ns = pl.col("t_ns") + self.window.offset_ns
        return self._trace.table("sched_waking").select("pid", woken_ns=woken_ns, by="cpu")

    @cached_property
    def digests(self) -> Digests:
        """Those of ``streams``, which are kept with the run."""

        def make(folder: Path) -> None:
            (folder / DIGESTS).write_bytes(json_bytes(self.streams.digests))

        folder = self._kept("decisions", Path(stream.__file__), make)
        return cast(Digests, load_json(folder / DIGESTS))

    @property
    def digest(self) -> str:
        """Of all decisions."""
        return digest_of(self.digests)

    def clocks(self) -> dict[str, int]:
        """The clocks at START in kHz, by policy."""
        rows = self.derived.table("intervals").sort("t0_ns")
        return {
            f"policy{cluster.cpus[0]}": rows.filter(pl.col("cluster") == cluster.index)["khz"][0]
            for cluster in self.platform.clusters
        }

    @cached_property
    def _slept(self) -> pl.DataFrame:
        ends = self.derived.table("slices").filter(pl.col("slept")).select("pid", "t1_ns")
        return ends.with_columns(pl.col("t1_ns") - self.window.t0_ns).sort("t1_ns")

    def end_of(self, decision: Decision) -> int:
        """When the activation ends that it is about (ns since START): the thread sleeps.

        A clock lasts until the next request.
        """
        if decision.kind == REQUEST:
            later = (each.t_ns for each in self.streams.streams[decision.about].decisions)
            ends = [t_ns for t_ns in later if t_ns > decision.t_ns]
        else:
            own = self._slept.filter(
                (pl.col("pid") == decision.pid) & (pl.col("t1_ns") > decision.t_ns)
            )
            ends = own["t1_ns"].head(1).to_list()
        return min([*ends[:1], self.window.ns])

    def candidates(self, decision: Decision | None) -> list[Candidate]:
        """The CPUs that EAS compared for it; empty where the trace does not have them."""
        if decision is None or decision.kind in (FORK, REQUEST) or not recorded(self.derived.cell):
            return []
        table = decisions(self.derived).filter(pl.col("pid") == decision.pid)
        own = table.filter(
            pl.col("t_ns") <= self.end_of(decision), pl.col("t_ns") >= decision.t_ns
        ).head(1)
        return [each for text in own["candidates"] for each in candidates(text)]
