# SPDX-License-Identifier: GPL-2.0-or-later
"""The decisions of a run's scheduler and governor, identified by activation and never by time.

After the first difference between two runs all times differ. So a decision is identified by who it
is about (a thread by name and instance, or a cpufreq policy), its kind and its number: the n-th
activation of that thread since START, or the n-th change of that policy's clock. They come from
events that every trace has. `sched_waking` begins an activation, as the kernel counts them, and
`sched_wakeup` has the chosen CPU; `sched_wakeup_new` has that of a fork, activation 0. Any other
`sched_migrate_task` is a move by a push, by load balance or at an exec: no event of every trace
tells an exec's choice of a CPU, and one that keeps the task where it is leaves none.

The decisions about one thread or policy, in their order, are a stream. Each has digests of its
first 64, 128 .. decisions, which are kept with the run. The first difference of two streams is
found by bisection over these, whatever the order in which decisions about different threads come.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile

import polars as pl

from eascope.analysis.trace import Trace, TraceError
from eascope.analysis.window import Window
from eascope.configs.platform import Platform

#: Decisions from one digest to the next.
BLOCK = 64
#: Of the first 64, 128 .. decisions of each stream, and of all of them.
Digests = Mapping[str, Sequence[str]]
WAKE, FORK, MOVE, REQUEST = "wake-up", "fork", "move", "request"
_EVENTS = ("sched_waking", "sched_wakeup", "sched_wakeup_new", "sched_migrate_task")
#: A comm may hold ' pid=9'.
_FIELDS = (
    r"^comm=(?P<comm>.*) pid=(?P<pid>\d+) prio=-?\d+ "
    r"(?:.*target_cpu=(?P<target>\d+)|orig_cpu=(?P<orig>\d+) dest_cpu=(?P<dest>\d+))"
)


#: Its pid, and how many threads had this pid before it.
_Thread = tuple[int, int]


@dataclass(frozen=True)
class Decision:
    """One decision. All but the times and ``was`` are compared.

    :param about: the thread's name, with ``#2`` for the second that has it; or ``policy0``.
    :param number: of the activation since START, or of the policy's change of clock, from 1.
    :param nth: of the moves within one activation, from 1; else 0.
    :param value: the chosen CPU, or kHz.
    :param was: the CPU, or kHz, before it; -1 where the trace does not have it.
    :param t_ns: since START.
    :param pid: of the thread in this run; -1 of a policy.
    """

    about: str
    kind: str
    number: int
    nth: int
    value: int
    was: int = field(compare=False)
    t_ns: int = field(compare=False)
    pid: int = field(default=-1, compare=False)

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What identifies it in any run."""
        return self.about, self.kind, self.number, self.nth


@dataclass(frozen=True)
class Stream:
    """The decisions about one thread or policy, in their order."""

    decisions: Sequence[Decision]

    @cached_property
    def digests(self) -> list[str]:
        """Of the first 64, 128 .. decisions, and of all of them."""
        whole, digests = hashlib.sha256(), []
        for position, decision in enumerate(self.decisions, 1):
            whole.update(
                f"{decision.kind} {decision.number} {decision.nth} {decision.value}\n".encode()
            )
            if position % BLOCK == 0 or position == len(self.decisions):
                digests.append(whole.hexdigest())
        return digests

    def first_difference(self, other: Stream, block: int) -> int:
        """The place of the first decision that ``other`` has not, or has otherwise.

        A stream that is the beginning of the other differs where it ends.

        :param block: as `first_block` gives it.
        """
        place = BLOCK * block
        pairs = zip(self.decisions[place:], other.decisions[place:], strict=False)
        return place + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def first_block(mine: Sequence[str], others: Sequence[str]) -> int | None:
    """The number of the first 64 decisions that differ, from the digests; None: none does."""
    if mine[-1:] == others[-1:]:
        return None
    common = range(min(len(mine), len(others)))
    return bisect_left(common, 1, key=lambda block: mine[block] != others[block])


@dataclass(frozen=True)
class Streams:
    """All streams of a run's window, by whom they are about."""

    streams: Mapping[str, Stream]

    @cached_property
    def digests(self) -> Digests:
        """Equal for two runs exactly if no decision differs."""
        return {about: stream.digests for about, stream in sorted(self.streams.items())}

    @cached_property
    def in_time(self) -> list[Decision]:
        """All decisions in the order of time."""
        every = (decision for stream in self.streams.values() for decision in stream.decisions)
        return sorted(every, key=lambda decision: (decision.t_ns, decision.key))

    @cached_property
    def by_key(self) -> dict[tuple[str, str, int, int], Decision]:
        """All decisions by what identifies them, in the order of time."""
        return {each.key: each for each in self.in_time}

    def first_differences(
        self, other: Streams, mine: Digests, others: Digests
    ) -> list[tuple[Decision | None, Decision | None]]:
        """The first difference of each stream that differs, the earliest one first.

        None stands for a decision that a run has not taken.

        :param mine: the digests of these streams; ``others``: of the other's.
        """
        found = []
        for about in sorted({*mine, *others}):
            block = first_block(mine.get(about, ()), others.get(about, ()))
            if block is not None:
                one, another = (each.streams.get(about, Stream(())) for each in (self, other))
                place = one.first_difference(another, block)
                found.append((_at(one, place), _at(another, place)))
        return sorted(found, key=lambda pair: min(each.t_ns for each in pair if each))


def _at(stream: Stream, place: int) -> Decision | None:
    return stream.decisions[place] if place < len(stream.decisions) else None


def streams_of(
    trace: Trace, window: Window, platform: Platform, parsed: pl.DataFrame | None = None
) -> Streams:
    """The streams of ``trace`` from START to STOP.

    :param parsed: what `placed` gives of it, where it is there.
    :raises TraceError: when an event has other fields than expected.
    """
    by_source: dict[str, list[Decision]] = defaultdict(list)
    rows = placed(trace) if parsed is None else parsed
    taken = [*_placements(rows, window), *_requests(trace, window, platform)]
    for decision in sorted(taken, key=lambda each: each.t_ns):
        by_source[decision.about].append(decision)
    return Streams({about: Stream(tuple(each)) for about, each in by_source.items()})


def placed(trace: Trace) -> pl.DataFrame:
    """The events by which wake-ups, forks and moves are known, in their order.

    :raises TraceError: when one has other fields than expected.
    """
    events = trace.events.filter(pl.col("event").is_in(_EVENTS))
    parsed = events.select(
        *("t_ns", "event", "detail", "cpu"),
        pl.col("detail").str.extract_groups(_FIELDS).alias("fields"),
    )
    rows = parsed.unnest("fields").with_columns(pl.col("^(pid|target|orig|dest)$").cast(pl.Int64))
    if (bad := rows.filter(pl.coalesce("target", "dest").is_null())).height:
        raise TraceError(
            f"{trace.path}: event {bad['event'][0]} cannot be parsed: {bad['detail'][0]!r}"
        )
    return rows.drop("detail")


def _placements(rows: pl.DataFrame, window: Window) -> list[Decision]:
    """Wake-ups, forks and moves."""
    stop = window.t1_ns - window.offset_ns
    rows = rows.filter(pl.col("t_ns") < stop).with_columns(
        pl.col("t_ns") + window.offset_ns - window.t0_ns
    )
    # Before START it only matters whether a thread is about to wake up.
    early = rows.filter(pl.col("t_ns") < 0, pl.col("event") != "sched_migrate_task")
    early = early.unique("pid", keep="last", maintain_order=True)
    rows = pl.concat([early, rows.filter(pl.col("t_ns") >= 0)])
    counts: dict[_Thread, int] = defaultdict(int)
    moves: dict[_Thread, int] = defaultdict(int)
    lives: dict[int, int] = defaultdict(int)
    waking: dict[int, tuple[int, int]] = {}
    names: dict[_Thread, str] = {}
    born: dict[_Thread, str] = {}
    found: list[tuple[_Thread, str, int, int, int, int, int]] = []
    for t_ns, event, at, comm, pid, target, orig, dest in rows.iter_rows():
        who = pid, lives[pid]
        if event == "sched_waking":
            waking[pid] = (t_ns, target)
            if t_ns >= 0:
                counts[who] += 1
                moves[who] = 0
        elif event == "sched_wakeup":
            begun, was = waking.pop(pid, (-1, -1))
            if begun >= 0:
                names.setdefault(who, comm)
                found.append((who, WAKE, counts[who], 0, target, was, begun))
        elif event == "sched_wakeup_new":
            waking.pop(pid, None)
            lives[pid] += 1
            if t_ns >= 0:
                who = pid, lives[pid]
                born[who] = comm  # of the parent, if the thread has another one later
                found.append((who, FORK, 0, 0, target, at, t_ns))
        elif pid not in waking and t_ns >= 0:
            names.setdefault(who, comm)
            moves[who] += 1
            found.append((who, MOVE, counts[who], moves[who], dest, orig, t_ns))
    called = _instances({**born, **names})
    return [Decision(called[row[0]], *row[1:], pid=row[0][0]) for row in found]


def _instances(names: Mapping[_Thread, str]) -> dict[_Thread, str]:
    """The name of each thread; the second and later ones of one name get ``#2``, ``#3`` .."""
    seen: dict[str, int] = defaultdict(int)
    called = {}
    for who, name in sorted(names.items()):
        seen[name] += 1
        called[who] = name if seen[name] == 1 else f"{name}#{seen[name]}"
    return called


def _requests(trace: Trace, window: Window, platform: Platform) -> Iterator[Decision]:
    """Changes of each policy's clock; the kernel traces one for each of its CPUs."""
    table = trace.table("cpu_frequency")
    times = pl.col("t_ns") + window.offset_ns - window.t0_ns
    for cluster in platform.clusters:
        own = table.filter(pl.col("cpu_id").is_in(cluster.cpus)).select(times, "state")
        last, number = -1, 0
        for t_ns, khz in own.iter_rows():
            if khz != last and 0 <= t_ns < window.ns:
                number += 1
                yield Decision(f"policy{cluster.cpus[0]}", REQUEST, number, 0, khz, last, t_ns)
            last = khz
