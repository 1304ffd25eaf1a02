# SPDX-License-Identifier: GPL-2.0-or-later
"""Two runs compared decision by decision: where they part, and what each difference costs.

Energies are whole femtojoules. Energy up to a moment is that of all rows of ``energy`` before it;
within a row, it is spread over the time that its CPU spent in the row's state. So the energies of
adjacent spans sum exactly to that of the whole.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from eascope.analysis import stream
from eascope.analysis.decisions import Candidate, candidates, decisions, recorded
from eascope.analysis.derive import Derived, analysis_version
from eascope.analysis.derived_folder import derived_folder
from eascope.analysis.records.cell import CellRecord
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
from eascope.analysis.tables.tasks import thread_names
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
#: How far past a decision its cost is also told.
HORIZON_NS = 50_000_000
#: How many of the decisions that cost most are listed.
LARGEST = 10
#: A decision in both runs; None in a run that has not taken it.
Pair = tuple[Decision | None, Decision | None]


def compared_keys(cell: CellRecord) -> dict[str, Any]:
    """What two runs must have in common, so that they differ in the variant alone."""
    names = ("platform", "scenario", "engine", "mode", "seed", "duration", "elide")
    return {
        **{name: getattr(cell, name) for name in names},
        "release": cell.kernel.source_words,
        "controls": ", ".join(cell.set_otherwise) or "none",
        "energy model": cell.energy_model.words,
        **{f"inputs.{name}": digest for name, digest in cell.inputs.encode().items()},
    }


def decided(pair: Pair) -> Decision:
    """A's decision, or else B's."""
    one = pair[0] or pair[1]
    assert one is not None
    return one


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


@dataclass(frozen=True)
class Span:
    """A part of both runs, from one pair of moments (ns since START) to the next.

    :param decision: the one that differs, with which it begins; None: they agree, or none has yet.
    :param fj: the energy of B less that of A.
    """

    t0_ns: tuple[int, int]
    t1_ns: tuple[int, int]
    decision: Pair | None
    fj: int

    @property
    def in_both(self) -> bool:
        """True if it lasts in both runs."""
        return all(end > begin for begin, end in zip(self.t0_ns, self.t1_ns, strict=True))


@dataclass(frozen=True)
class Cost:
    """The energy of B less that of A from a decision on, for the same time in both.

    :param activation_ns: until the later of both ends of the activation.
    """

    activation_ns: int
    activation_fj: int
    horizon_ns: int
    horizon_fj: int


@dataclass(frozen=True)
class RunDiff:
    """Run A and run B."""

    platform: Platform
    a: Side
    b: Side

    @classmethod
    def of(
        cls, platform: Platform, a: Derived, b: Derived, *, other: Platform | None = None
    ) -> RunDiff:
        """Read both runs.

        :param other: the platform of B, where it is another one with CPUs in the same clusters.
        """
        return cls(platform, Side(a, platform), Side(b, other or platform))

    @property
    def differs(self) -> dict[str, tuple[Any, Any]]:
        """What else than the variant differs, in A and in B."""
        a, b = (compared_keys(side.derived.cell) for side in (self.a, self.b))
        return {key: (a.get(key), b.get(key)) for key in {**a, **b} if a.get(key) != b.get(key)}

    @property
    def same(self) -> bool:
        """True if no decision differs."""
        return self.a.digests == self.b.digests

    @cached_property
    def firsts(self) -> list[Pair]:
        """The first difference of each thread and policy, the earliest one first."""
        if self.same:
            return []
        digests = self.a.digests, self.b.digests
        return self.a.streams.first_differences(self.b.streams, *digests)

    @property
    def first_of_tasks(self) -> Pair | None:
        """The first difference about a task of the scenario."""
        own = thread_names(self.a.derived.cell.tasks)
        mine = (pair for pair in self.firsts if decided(pair).about in own)
        return next(mine, None)

    @cached_property
    def before_start(self) -> Pair | None:
        """The first difference before START, with numbers since tracing began."""
        a, b = self.a.before, self.b.before
        return next(iter(a.first_differences(b, a.digests, b.digests)), None)

    def cost(self, pair: Pair) -> Cost:
        """What B's choice costs; a decision that a run has not taken stands at the other's time."""
        sides = (self.a, self.b)
        known = [(side, each) for side, each in zip(sides, pair, strict=True) if each]
        lasts = max(side.end_of(each) - each.t_ns for side, each in known)
        begins = [(each or decided(pair)).t_ns for each in pair]
        if known[0][1].kind == REQUEST:  # until the earlier one, no clock differs
            begins = [min(begins)] * 2
        rest = min(side.window.ns - t_ns for side, t_ns in zip(sides, begins, strict=True))
        lengths = [max(0, min(rest, length)) for length in (lasts, HORIZON_NS)]
        spent = []
        for side, begin in zip(sides, begins, strict=True):
            at, *until = side.energy.until([begin, *(begin + length for length in lengths)])
            spent.append([value - at for value in until])
        costs = [later - earlier for earlier, later in zip(*spent, strict=True)]
        return Cost(lengths[0], costs[0], lengths[1], costs[1])

    @cached_property
    def spans(self) -> list[Span]:
        """All of both windows; the spans' energies sum to the whole difference."""
        clocks = [side.clocks() for side in (self.a, self.b)]
        ends = (self.a.window.ns, self.b.window.ns)
        found = [
            ((min(one, ends[0]), min(other, ends[1])), pair)
            for (one, other), pair in edges(self.a.streams, self.b.streams, clocks)
        ]
        whole: list[Edge] = [((0, 0), None), *found, (ends, None)]
        times = [moments for moments, _ in whole]
        spent_a = self.a.energy.until([t_ns for t_ns, _ in times])
        spent_b = self.b.energy.until([t_ns for _, t_ns in times])
        ahead = [b - a for a, b in zip(spent_a, spent_b, strict=True)]
        pairs = zip(pairwise(whole), pairwise(ahead), strict=True)
        return [
            Span(begin, end, decision, later - earlier)
            for ((begin, decision), (end, _)), (earlier, later) in pairs
        ]

    @property
    def total_fj(self) -> int:
        """The energy of B less that of A in the whole window."""
        return sum(
            sign * int(side.derived.table("energy")["energy_fj"].sum())
            for sign, side in ((-1, self.a), (1, self.b))
        )

    @cached_property
    def by_size(self) -> list[Span]:
        """The spans behind decisions, those first after which the difference changes most.

        What one run alone has time for, above all at the window's end, is no choice of either.
        """
        own = [span for span in self.spans if span.decision and span.in_both]
        return sorted(own, key=lambda span: (-abs(span.fj), span.t0_ns))

    @property
    def largest(self) -> list[Span]:
        """The first of ``by_size``."""
        return self.by_size[:LARGEST]

    @cached_property
    def residency(self) -> list[tuple[str, str, float, float]]:
        """Cluster, OPP or idle state, and its share of the window in A and in B, in percent."""
        a, b = (dict(_shares(side)) for side in (self.a, self.b))
        return [(*key, a.get(key, 0.0), b.get(key, 0.0)) for key in {**b, **a}]


#: A pair of moments (ns since START) at which a span begins, and the decision that differs there.
Edge = tuple[tuple[int, int], Pair | None]


def edges(a: Streams, b: Streams, clocks: Sequence[Mapping[str, int]]) -> Iterator[Edge]:
    """Where a decision differs, and where the runs agree again, in the order of both runs.

    Time is aligned by wake-ups and moves that both runs have (`anchors`). A request, or a decision
    that one run has not taken, stands in the other run the same time after the last of these. The
    runs agree while the last decision about each thread, and the clock of each policy, is the same.

    :param clocks: of each run, the clocks at START in kHz by policy.
    """
    fixed = anchors(a, b)
    kept = {one.key for one, _ in fixed}
    had = (a.by_key, b.by_key)
    events: list[tuple[tuple[int, int], int, Pair]] = [
        ((one.t_ns, other.t_ns), 2, (one, other)) for one, other in fixed
    ]
    far = max((each.t_ns for each in (*a.in_time, *b.in_time)), default=0)
    for side, streams in enumerate((a, b)):
        times = [0, *(pair[side].t_ns for pair in fixed)]
        others = [0, *(pair[1 - side].t_ns for pair in fixed)]
        limits = [*others[1:], 2 * far]
        for each in streams.in_time:
            pair: Pair = (None, each) if side else (each, None)
            if each.kind != REQUEST:
                key = each.key
                if key in kept or (side and key in had[0]):
                    continue
                pair = (had[0].get(key), had[1].get(key))
            place = bisect_right(times, each.t_ns) - 1
            moment = min(limits[place], others[place] + each.t_ns - times[place])
            events.append(((moment, each.t_ns) if side else (each.t_ns, moment), side, pair))
    clock = [dict(each) for each in clocks]
    parted = {policy for policy in clock[0] if clock[0][policy] != clock[1].get(policy)}
    events.sort(key=lambda event: event[:2])
    for at, together in groupby(events, key=lambda event: event[0]):
        agreed, differs = not parted, []
        for _, side, pair in together:
            one = decided(pair)
            if one.kind == REQUEST:
                clock[side][one.about] = one.value
                same = clock[0].get(one.about) == clock[1].get(one.about)
            else:
                # Of one key: they differ in the value alone.
                same = bool(pair[0] and pair[1] and pair[0].value == pair[1].value)
            (parted.discard if same else parted.add)(one.about)
            differs += [] if same else [pair]
        found = [pair for pair in differs if decided(pair).about in parted]
        for pair in found:
            yield at, pair
        if not parted and not agreed:
            yield at, None


def anchors(a: Streams, b: Streams) -> list[tuple[Decision, Decision]]:
    """The most wake-ups and moves that both runs have in the same order."""
    mine, others = a.by_key, b.by_key
    pairs = [
        (one, others[key]) for key, one in mine.items() if one.kind != REQUEST and key in others
    ]
    # A longest rising sequence: the place that ends the best one of each length, and what is
    # before each place.
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for place, (_, other) in enumerate(pairs):
        length = bisect_right(tails, other.t_ns)
        before.append(ends[length - 1] if length else -1)
        tails[length : length + 1], ends[length : length + 1] = [other.t_ns], [place]
    kept, place = [], ends[-1] if ends else -1
    while place >= 0:
        kept.append(pairs[place])
        place = before[place]
    return kept[::-1]


def _shares(side: Side) -> Iterator[tuple[tuple[str, str], float]]:
    rows = side.derived.table("intervals")
    for cluster in side.platform.clusters:
        own = rows.filter(pl.col("cluster") == cluster.index)
        part = own.filter(pl.col("cpu") == cluster.cpus[0])
        part = part.select("khz", (pl.col("t1_ns") - pl.col("t0_ns")).alias("ns"))
        by_khz = dict(part.group_by("khz").agg(pl.col("ns").sum()).iter_rows())
        for opp in cluster.opps:
            share = 100 * by_khz.get(opp.khz, 0) / side.window.ns
            yield (cluster.name, f"{opp.khz // 1000} MHz"), share
        cpus = own.filter(pl.col("cpu") != SHARED_PART)
        for number, state in enumerate(cluster.idle_states):
            column = f"idle{number}_ns"  # counters may know fewer states
            ns = int(cpus[column].sum()) if column in cpus.columns else 0
            yield (cluster.name, state.name), 100 * ns / side.window.ns / len(cluster.cpus)
