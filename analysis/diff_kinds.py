# SPDX-License-Identifier: GPL-2.0-or-later
"""The differences of many pairs of runs, one for each seed, by kind.

A kind is whose decision differs (a task, another thread, a policy), what is decided, and where it
goes in A and in B: clusters, as CPUs of a cluster are alike, or whether the clock is higher. The
spans of a pair sum exactly to its difference in energy, so the kinds' means sum to the mean.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eascope.analysis.run_diff import Pair, RunDiff, decided
from eascope.analysis.statistics import Estimate, estimate
from eascope.analysis.stream import REQUEST, Decision
from eascope.configs.platform import Platform
from eascope.host.table import Table

#: Kinds that a table lists; the others are one row.
MOST_KINDS = 12
FJ_PER_MJ = 10**12
KINDS = "energy from one differing decision to the next, by kind (ranked, not causal)"
BEFORE, AGREE, ALONE, OTHERS = (
    "before the first difference",
    "re-converged spans",
    "in one run only",
    "other kinds",
)
#: Of threads that are no task's: ``kworker/4:1``, ``bg7-8`` and ``sugov:4`` are one kind each.
_NUMBERS = re.compile(r"[-/:#]?u?\d+([-/:#]\d+)*H?$")
#: Whose decision, what is decided, in A, in B; of what is no decision only the first.
Kind = tuple[str, str, str, str]


@dataclass(frozen=True)
class KindRow:
    """A kind over seeds.

    :param spans: the number of its spans, all seeds together.
    :param seeds: in how many it was seen; ``firsts``: in how many it was the first.
    :param mj: the energy of B less that of A in its spans, of each seed.
    """

    kind: Kind
    spans: int
    seeds: int
    firsts: int
    mj: tuple[float, ...]


def kind_of(pair: Pair, diff: RunDiff) -> Kind:
    """The kind of a differing decision."""
    one = decided(pair)
    tasks = {thread: task.name for task in diff.a.derived.cell.tasks for thread in task.threads}
    who = tasks.get(one.about) or one.about
    if one.kind == REQUEST:
        a, b = (each.value if each else 0 for each in pair)
        words = ("higher", "lower") if a > b else ("lower", "higher")
        return who, one.kind, words[0] if pair[0] else "-", words[1] if pair[1] else "-"
    who = tasks.get(one.about) or _NUMBERS.sub("", one.about)
    a_place, b_place = (_cluster(each, diff.platform) for each in pair)
    return (who, one.kind, a_place, f"another {b_place}" if a_place == b_place else b_place)


def _cluster(decision: Decision | None, platform: Platform) -> str:
    if decision is None:
        return "-"
    return next(each.name for each in platform.clusters if decision.value in each.cpus)


def kinds_of(diffs: Sequence[RunDiff]) -> list[KindRow]:
    """All kinds, that which costs or saves most first, then what is no decision."""
    costs: list[dict[Kind, int]] = []
    spans: Counter[Kind] = Counter()
    firsts: Counter[Kind] = Counter()
    for diff in diffs:
        own: dict[Kind, int] = defaultdict(int)
        for number, span in enumerate(diff.spans):
            kind = (BEFORE if number == 0 else AGREE, "", "", "")
            if span.decision:
                kind = kind_of(span.decision, diff) if span.in_both else (ALONE, "", "", "")
            own[kind] += span.fj
            spans[kind] += 1
        costs.append(own)
        if not diff.same:
            firsts[kind_of(diff.firsts[0], diff)] += 1
    rows = [
        KindRow(
            kind,
            spans[kind],
            sum(kind in own for own in costs),
            firsts[kind],
            tuple(own.get(kind, 0) / FJ_PER_MJ for own in costs),
        )
        for kind in spans
    ]
    return sorted(rows, key=lambda row: (not row.kind[1], -abs(sum(row.mj)), row.kind))


def kinds_table(diffs: Sequence[RunDiff]) -> Table:
    """The kinds: means over seeds, which sum to the mean difference."""
    every = kinds_of(diffs)
    decisions = [row for row in every if row.kind[1]]
    shown = decisions[:MOST_KINDS]
    rows = [
        [
            " ".join(filter(None, row.kind[:2])),
            *(row.kind[2:]),
            *(f"{row.firsts}", f"{row.seeds}", f"{row.spans / len(diffs):.0f}"),
            *_numbers(row.mj),
        ]
        for row in [*shown, *(row for row in every if not row.kind[1])]
    ]
    if rest := decisions[MOST_KINDS:]:
        sums = [sum(column) for column in zip(*(row.mj for row in rest), strict=True)]
        rows.insert(len(shown), [f"{len(rest)} {OTHERS}", "", "", "", "", "", *_numbers(sums)])
    totals = [diff.total_fj / FJ_PER_MJ for diff in diffs]
    rows.append(["all", "", "", "", str(len(diffs)), "", *_numbers(totals)])
    heads = ("decision", "A", "B", "first", "seeds", "spans", "B - A (mJ)", "95 % CI")
    return Table.of(heads, rows, left=3)


def _numbers(values: Sequence[float]) -> tuple[str, str]:
    mean = mean_of(values)
    ends = mean.interval()
    return f"{mean.value:+.2f}", "" if ends is None else f"{ends[0]:+.2f} .. {ends[1]:+.2f}"


def mean_of(values: Sequence[float]) -> Estimate:
    """The mean over seeds."""
    return estimate(lambda means: means["mj"], [{"mj": values}])


def kinds_record(diffs: Sequence[RunDiff]) -> dict[str, Any]:
    """The same as JSON, with every kind."""
    return {
        "seeds": len(diffs),
        "total_mj": [diff.total_fj / FJ_PER_MJ for diff in diffs],
        "kinds": [
            {
                **dict(zip(("who", "decision", "a", "b"), row.kind, strict=True)),
                **{"spans": row.spans, "seeds": row.seeds, "first_in": row.firsts},
                **{"mj": list(row.mj), "interval_mj": mean_of(row.mj).interval()},
            }
            for row in kinds_of(diffs)
        ],
    }
