# SPDX-License-Identifier: GPL-2.0-or-later
"""Two runs compared decision by decision: where they diverge, and what each difference costs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any

import polars as pl

from eascope.analysis.derive import Derived
from eascope.analysis.records.cell import CellRecord
from eascope.analysis.run_side import Side
from eascope.analysis.stream import REQUEST, Decision, Streams
from eascope.analysis.tables.tasks import thread_names
from eascope.configs.platform import Platform
from eascope.power.model import SHARED_PART

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
