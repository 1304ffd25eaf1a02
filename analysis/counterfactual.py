# SPDX-License-Identifier: GPL-2.0-or-later
"""Run A again with decisions taken as run B took them: which they are, and what they explain.

The kernel's table forces the CPU of a wake-up or a fork. It cannot force a request of the governor
or a move by load balance.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import polars as pl

from eascope.analysis.run_diff import LARGEST, Pair, RunDiff, Span, decided
from eascope.analysis.run_diff_text import what, words
from eascope.analysis.run_side import Side
from eascope.analysis.stream import FORK, MOVE, REQUEST, WAKE, Decision
from eascope.analysis.tables.latency import percentiles
from eascope.analysis.tables.tasks import thread_names
from eascope.analysis.trace import CHOICE_EVENT, read_trace
from eascope.engines.records import STATE, TRACE
from eascope.host.table import Table

FORCED = "forced"
#: Kinds of decisions that the kernel's table can force.
FORCEABLE = (WAKE, FORK)
#: The run with all decisions at once.
ALL = "all"
#: Why the kernel did not force a line of its table, by what the file says of it after the run.
WHY_NOT = {
    "refused": "the kernel refused: the thread may not run there, or the CPU is offline",
    "pending": "the activation did not come, or no CPU was chosen for it",
}
#: Why a decision of the list of spans is not forced; by kind, or where one run has not taken it.
NOT_FORCED = {
    REQUEST: "the governor's requests cannot be forced",
    MOVE: "moves by load balance cannot be forced",
    "A": "A has not taken it",
    "B": "B has not taken it",
    WAKE: "A chose no CPU for it",
}
LATENCY = "latency: 50th/95th/99th percentile of the tasks' wake-ups"
NOTE = (
    "The kernel counts activations in all of these runs, which takes time. So A and B",
    "are not bit-identical to runs of the same variants without --counterfactual.",
)
_LINE = re.compile(rf"^(?:\S+: )?(\d+) (\d+) (\d+) ({FORCED}|{'|'.join(WHY_NOT)}) -?\d+$", re.M)


@dataclass(frozen=True)
class Choice:
    """A wake-up or fork of A that is to go where it went in B.

    :param line: of the kernel's table: pid, activation and CPU, always of the same width.
    """

    one: Decision
    other: Decision
    line: str

    @property
    def words(self) -> str:
        """``wake-up 3 of small-0 on CPU 4 instead of 1``."""
        return f"{what(self.one)} on CPU {self.other.value} instead of {self.one.value}"


@dataclass(frozen=True)
class Left:
    """A decision that is larger than one that is forced, and why it is not forced."""

    span: Span
    why: str

    @property
    def words(self) -> str:
        """``move 1 of small-0 after its wake-up 3 (+1.200 mJ): moves ..``."""
        assert self.span.decision
        return (
            f"{words(self.span.decision).partition(': ')[0]} ({_mj(self.span.fj)} mJ): {self.why}"
        )


def largest(diff: RunDiff, most: int) -> tuple[list[Choice], list[Left]]:
    """The decisions with the largest spans that can be forced, and the larger ones that cannot.

    :param diff: of runs that count activations.
    """
    spans = [(span, span.decision) for span in diff.by_size if span.decision]
    wanted = [(one, other) for _, (one, other) in spans if one and other and one.kind in FORCEABLE]
    found = list(islice(named(diff.a, wanted), most))
    taken = [(choice.one, choice.other) for choice in found]
    if len(taken) == most:
        spans = spans[: [pair for _, pair in spans].index(taken[-1])]
    return found, [Left(span, _why_not(pair)) for span, pair in spans if pair not in taken]


def _why_not(pair: Pair) -> str:
    if decided(pair).kind not in FORCEABLE:
        return NOT_FORCED[decided(pair).kind]
    return NOT_FORCED[WAKE if all(pair) else "A" if pair[1] else "B"]


def firsts(diff: RunDiff, most: int) -> list[Choice]:
    """The first wake-up or fork that differs of each thread: later ones may follow from that.

    The earliest of a task of the scenario comes first, or else the earliest of all; then those of
    the threads whose decisions' spans have most of the difference in energy.

    :param diff: of runs that count activations.
    """
    pairs = [(one, other) for one, other in diff.firsts if one and other and one.kind in FORCEABLE]
    shares: dict[str, int] = defaultdict(int)
    for span in diff.spans:
        if span.decision and span.in_both:
            shares[decided(span.decision).about] += span.fj
    pairs.sort(key=lambda pair: -abs(shares[pair[0].about]))
    of_tasks = thread_names(diff.a.derived.cell.tasks)
    # A sort keeps the order of equals: min() takes the largest of those that begin together.
    first = min(pairs, key=lambda pair: (pair[0].about not in of_tasks, pair[0].t_ns), default=None)
    if first:
        pairs.remove(first)
    found = named(diff.a, [first, *pairs] if first else [])
    return list(islice(found, most))


def named(side: Side, pairs: Iterable[tuple[Decision, Decision]]) -> Iterator[Choice]:
    """The wake-ups and forks for which a CPU was chosen, by the kernel's number of the activation.

    The kernel counts from its own reset, shortly before START.
    """
    table = read_trace(side.derived.run / TRACE).table(CHOICE_EVENT)
    since_start = pl.col("t_ns") + side.window.offset_ns - side.window.t0_ns
    table = table.select(since_start, "pid", "activation", "chosen")
    for one, other in pairs:
        own = table.filter(pl.col("pid") == one.pid)
        if one.kind == FORK:  # its event comes after the choice; the pid may have been another's
            own = own.filter(pl.col("t_ns") <= one.t_ns).tail(1).filter(pl.col("activation") == 0)
        else:
            own = own.filter(pl.col("t_ns") >= one.t_ns)
        stream = side.streams.streams[one.about].decisions
        later = [each.t_ns for each in stream if each.kind == WAKE and each.t_ns > one.t_ns]
        for t_ns, pid, activation, chosen in own.head(1).iter_rows():
            if t_ns < min(later, default=side.window.ns) and chosen == one.value:
                yield Choice(one, other, f"{pid:08d} {activation:08d} {other.value:03d}")


@dataclass(frozen=True)
class Repeated:
    """A again, with ``choices`` as B made them."""

    name: str
    choices: Sequence[Choice]
    side: Side

    @property
    def words(self) -> str:
        """What differs from A."""
        if len(self.choices) == 1:
            return self.choices[0].words
        return f"all {len(self.choices)} of them at once"

    @property
    def outcomes(self) -> list[str]:
        """What the kernel says of each of them."""
        text = (self.side.derived.run / STATE).read_text(errors="replace")
        said = {tuple(map(int, found[:3])): found[3] for found in _LINE.findall(text)}
        return [said[tuple(map(int, choice.line.split()))] for choice in self.choices]


@dataclass(frozen=True)
class Counterfactual:
    """Run A, run B, and A with decisions of B.

    :param diff: of A and B, both with counts of activations and an empty table.
    :param left: decisions that are not forced, though larger than one that is.
    """

    diff: RunDiff
    repeated: Sequence[Repeated]
    left: Sequence[Left] = ()

    def against(self, side: Side) -> RunDiff:
        """A and ``side``."""
        return RunDiff(self.diff.platform, self.diff.a, side)

    def run(self, name: str) -> Repeated | None:
        """The repeated run of that name; of one decision, it is also the run with all."""
        known = {each.name: each for each in self.repeated}
        return known.get(name, self.repeated[-1] if name == ALL and self.repeated else None)

    def explained(self, side: Side) -> float | None:
        """The energy of ``side`` less that of A, in percent of B's; None where B's is A's."""
        whole = self.diff.total_fj
        return 100 * self.against(side).total_fj / whole if whole else None

    def record(self, command: str) -> dict[str, Any]:
        """As JSON; energies in fJ, so that sums are exact."""
        return {
            "difference_fj": self.diff.total_fj,
            "a": self._facts(self.diff.a),
            "b": self._facts(self.diff.b),
            "forced": [
                {
                    **self._facts(each.side),
                    "name": each.name,
                    "decisions": [
                        {"a": asdict(choice.one), "b": asdict(choice.other), "outcome": outcome}
                        for choice, outcome in zip(each.choices, each.outcomes, strict=True)
                    ],
                    "next": self._next(each),
                }
                for each in self.repeated
            ],
            "not_forced": [
                {
                    "a": pair[0] and asdict(pair[0]),
                    "b": pair[1] and asdict(pair[1]),
                    "difference_fj": each.span.fj,
                    "why": each.why,
                }
                for each in self.left
                if (pair := each.span.decision)
            ],
            "repeat": command,
        }

    def _facts(self, side: Side) -> dict[str, Any]:
        """What is told of each run."""
        return {
            "run": str(side.derived.run),
            "variant": side.derived.cell.variant,
            "energy_fj": energy_fj(side),
            "less_a_fj": self.against(side).total_fj,
            "explained_percent": self.explained(side),
            "energy_per_work_j": side.derived.result.energy_per_work_j,
            "latency_us": latency_us(side),
        }

    def _next(self, each: Repeated) -> str | None:
        """The first difference that is left between it and B; None: there is none."""
        left = RunDiff(self.diff.platform, each.side, self.diff.b).firsts
        return words(left[0]) if left else None

    @property
    def said(self) -> list[str]:
        """Of each repeated run: what was forced, what was not and why, and what differs then."""
        lines = []
        for each in self.repeated:
            lines.append(f"{each.name}: {each.words} ({each.side.derived.cell.simkey[:12]})")
            lost = dict.fromkeys(end for end in each.outcomes if end != FORCED)
            lines += [f"  not all are forced: {WHY_NOT[end]}" for end in lost]
            lines.append(f"  then differs: {self._next(each) or 'none'}")
        lines += [f"not forced: {each.words}" for each in self.left[:LARGEST]]
        if more := len(self.left[LARGEST:]):
            lines.append(f"not forced: {more} more")
        return lines or ["nothing that differs can be forced"]

    @property
    def answer(self) -> str:
        """What the first decision explains, and all of them."""
        told = [*self.repeated[:1], *self.repeated[1:][-1:]]
        return "\n".join(
            f"{each.words}: {share(self.explained(each.side))} % of the energy difference "
            f"({_mj(self.against(each.side).total_fj)} mJ)"
            for each in told
        )

    @property
    def table(self) -> Table:
        """A line for each run, with how many of its decisions the kernel forced."""
        unit = self.diff.a.derived.cell.work.unit
        forced = [
            (each.name, f"{each.outcomes.count(FORCED)} of {len(each.choices)}", each.side)
            for each in self.repeated
        ]
        sides = [("A", "", self.diff.a), *forced, ("B", "", self.diff.b)]
        rows = [_row(name, of, self._facts(side)) for name, of, side in sides]
        heads = (
            "run",
            "forced",
            "energy (mJ)",
            "- A (mJ)",
            "% of B - A",
            f"mJ per {unit}",
            "latency (us)",
        )
        return Table.of(heads, rows)

    def text(self, command: str) -> str:
        """A sentence, a table at most 90 columns wide, and what is left of the difference.

        :param command: what repeats it.
        """
        lines = [self.answer, "", self.table.text(), LATENCY, ""]
        for name, side in (("A", self.diff.a), ("B", self.diff.b)):
            cell = side.derived.cell
            lines.append(f"{name}: {cell.variant}, seed {cell.seed} ({cell.simkey[:12]})")
        lines += self.said
        return "\n".join([*lines, "", *NOTE, f"repeat: {command}"]) + "\n"


def energy_fj(side: Side) -> int:
    """All energy of its window."""
    return int(side.derived.table("energy")["energy_fj"].sum())


def latency_us(side: Side) -> dict[str, Any] | None:
    """Percentiles of the tasks' wake-ups; None: there are none."""
    table = side.derived.table("latency").filter(pl.col("task").is_not_null())
    waits = (table["latency_ns"] / 1000).to_list()
    return percentiles(waits).encode() if waits else None


def _row(name: str, forced: str, facts: dict[str, Any]) -> list[str]:
    per_work, waits = facts["energy_per_work_j"], facts["latency_us"]
    less = [_mj(facts["less_a_fj"]), share(facts["explained_percent"])]
    return [
        *(name, forced),
        f"{facts['energy_fj'] / 1e12:.3f}",
        *(["", ""] if name == "A" else less),
        "-" if per_work is None else f"{1000 * per_work:.3f}",
        "/".join(f"{waits[key]:.0f}" for key in ("p50", "p95", "p99")) if waits else "-",
    ]


def share(percent: float | None) -> str:
    """In words."""
    return "-" if percent is None else f"{round(percent, 1) + 0:.1f}"


def _mj(fj: int) -> str:
    return f"{fj / 1e12:+.3f}"
