# SPDX-License-Identifier: GPL-2.0-or-later
"""What two runs differ in, in words and as JSON."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

from eascope.analysis.decisions import Candidate
from eascope.analysis.run_diff import HORIZON_NS, LARGEST, Pair, RunDiff, Span, decided
from eascope.analysis.run_side import Side
from eascope.analysis.stream import FORK, MOVE, REQUEST, WAKE, Decision
from eascope.host.table import Table

SPANS = "energy from one differing decision to the next, the largest first (ranked, not causal)"
NONE = "no difference: every decision about every thread and clock is the same"


def said(diff: RunDiff) -> str:
    """The first difference in a sentence."""
    return f"First difference: {words(diff.firsts[0])}." if diff.firsts else f"{NONE}."


def cells(diff: RunDiff) -> str:
    """``smoke on juno-r2, seed 0``; of both runs where that differs."""
    both = (side.derived.cell for side in (diff.a, diff.b))
    return of_both(*(f"{each.scenario} on {each.platform}, seed {each.seed}" for each in both))


def of_both(a: str, b: str) -> str:
    """What holds of A and of B, told once where it is the same."""
    return a if a == b else f"{a} (A) and {b} (B)"


def words(pair: Pair) -> str:
    """``wake-up 3 of small-0: CPU 1 in A (12.000 ms), CPU 4 in B (12.001 ms)``."""
    told = (_went(each, run) for each, run in zip(pair, "AB", strict=True))
    return f"{what(decided(pair))}: {', '.join(told)}"


def what(one: Decision) -> str:
    """``wake-up 3 of small-0``."""
    return {
        WAKE: f"wake-up {one.number} of {one.about}",
        FORK: f"fork of {one.about}",
        MOVE: f"move {one.nth} of {one.about} after its wake-up {one.number}",
        REQUEST: f"request {one.number} of {one.about}",
    }[one.kind]


def _went(decision: Decision | None, run: str) -> str:
    if decision is None:
        return f"not in {run}"
    return f"{_place(decision)} in {run} ({_ms(decision.t_ns)} ms)"


def _place(decision: Decision) -> str:
    if decision.kind == REQUEST:
        return f"{decision.value / 1000:g} MHz"
    return f"CPU {decision.value}"


def _ms(ns: int) -> str:
    return f"{ns / 1e6:.3f}"


def _mj(fj: int) -> str:
    return f"{fj / 1e12:+.3f}"


def _first(diff: RunDiff, pair: Pair, what: str) -> str:
    cost = diff.cost(pair)
    ends = "until the next request" if decided(pair).kind == REQUEST else "until it sleeps again"
    return (
        f"{what}: {words(pair)}.\n"
        f"  B takes {_mj(cost.activation_fj)} mJ {ends} ({_ms(cost.activation_ns)} ms), "
        f"{_mj(cost.horizon_fj)} mJ in {cost.horizon_ns / 1e6:.0f} ms."
    )


def text(diff: RunDiff, command: str) -> str:
    """All that `diff` says, at most 90 columns wide where names are short.

    :param command: what repeats it.
    """
    a, b = (side.derived for side in (diff.a, diff.b))
    lines = [f"{run}: {d.cell.variant} ({d.run.name[:12]})" for run, d in zip("AB", (a, b))]  # noqa: B905
    lines += [
        f"also differs: {key}: {short(one)} in A, {short(other)} in B"
        for key, (one, other) in diff.differs.items()
    ]
    if diff.same:
        lines += [NONE, f"digest of both: {diff.a.digest[:16]}"]
        if diff.total_fj:
            lines.append(f"energy of B minus A: {_mj(diff.total_fj)} mJ (timing only)")
        return "\n".join([*lines, f"repeat: {command}"]) + "\n"
    parts = []
    if diff.before_start:
        parts.append(f"before START, numbered from there: {words(diff.before_start)}.")
    parts.append(_first(diff, diff.firsts[0], "first difference"))
    own = diff.first_of_tasks
    if own and own != diff.firsts[0]:
        parts.append(_first(diff, own, "first about a task"))
    parts.append("One seed is a single sample; the first difference need not be the cause.")
    compared = [*_candidates(diff, own or diff.firsts[0])]
    if compared:
        heads = ("run", "CPU", "fits", "tasks", "energy by the kernel", "chosen")
        parts.append(f"candidates\n{Table.of(heads, compared, left=1).text()}")
    parts += [f"{SPANS}\n{spans_table(diff).text()}", _residency(diff), f"repeat: {command}"]
    return "\n".join(lines) + "\n\n" + "\n\n".join(parts) + "\n"


def short(value: object) -> str:
    """A key's value; the beginning of a digest."""
    text = "none" if value in ("", None) else str(value)
    return text[:12] if re.fullmatch(r"[0-9a-f]{40,}", text) else text


def _candidates(diff: RunDiff, pair: Pair) -> list[list[str]]:
    def row(run: str, decision: Decision, each: Candidate) -> list[str]:
        known = ["-" if value is None else str(value) for value in (each.fits, each.tasks)]
        chosen = "*" if each.cpu == decision.value else ""
        return [run, str(each.cpu), *known, str(each.energy), chosen]

    sides = zip("AB", (diff.a, diff.b), pair, strict=True)
    return [
        row(run, decision, each)
        for run, side, decision in sides
        if decision
        for each in side.candidates(decision)
    ]


def spans_table(diff: RunDiff) -> Table:
    """The spans that differ most, and the others in sums."""
    largest, rest, every = diff.largest, diff.by_size[LARGEST:], diff.spans
    rows = [
        [*_when(span), _mj(span.fj), words(span.decision).partition(": ")[0], *_places(span)]
        for span in largest
        if span.decision
    ]
    alone = [span for span in every if span.decision and not span.in_both]
    agree = [span for span in every[1:] if not span.decision]
    for name, spans in (
        ("before the first difference", every[:1]),
        (f"{len(rest)} other decisions", rest),
        (f"{len(alone)} in one run only", alone),
        (f"{len(agree)} re-converged spans", agree),
    ):
        rows.append(["", "", _mj(sum(span.fj for span in spans)), name, "", ""])
    rows.append(["", "", _mj(diff.total_fj), "all", "", ""])
    heads = ("at (ms)", "for (ms)", "B - A (mJ)", "starting with", "A", "B")
    table = Table.of(heads, rows, left=0)
    columns = tuple(
        column if place < 3 else type(column)(column.head, "left")
        for place, column in enumerate(table.columns)
    )
    return Table(columns, table.rows)


def _when(span: Span) -> list[str]:
    return [_ms(span.t0_ns[0]), _ms(span.t1_ns[0] - span.t0_ns[0])]


def _places(span: Span) -> list[str]:
    return [_place(each) if each else "-" for each in span.decision or ()]


def _residency(diff: RunDiff) -> str:
    rows = [
        [cluster, state, f"{a:.1f}", f"{b:.1f}", f"{b - a:+.1f}"]
        for cluster, state, a, b in diff.residency
        if a or b
    ]
    return Table.of(("cluster", "state", "A (%)", "B (%)", "B - A"), rows, left=2).text()


def record(diff: RunDiff, command: str) -> dict[str, Any]:
    """The same as JSON; energies in fJ, so that sums are exact."""

    def pair_of(pair: Pair | None) -> dict[str, Any] | None:
        if pair is None:
            return None
        return {run: each and asdict(each) for run, each in zip("ab", pair, strict=True)}

    def first(pair: Pair | None) -> dict[str, Any] | None:
        found = pair_of(pair)
        return found and {**found, "cost": asdict(diff.cost(pair))}  # type: ignore[arg-type]

    def run(side: Side) -> dict[str, Any]:
        cell = side.derived.cell
        where = str(side.derived.run)
        return {"run": where, "variant": cell.variant, "digest": side.digest}

    return {
        "a": run(diff.a),
        "b": run(diff.b),
        "differs": diff.differs,
        "same": diff.same,
        "before_start": pair_of(diff.before_start),
        "first": first(diff.firsts[0] if diff.firsts else None),
        "first_of_tasks": first(diff.first_of_tasks),
        "horizon_ns": HORIZON_NS,
        "difference_fj": diff.total_fj,
        "spans": [
            {
                **{"t0_ns": span.t0_ns, "t1_ns": span.t1_ns, "difference_fj": span.fj},
                "decision": pair_of(span.decision),
            }
            for span in diff.spans
        ],
        "residency_percent": [
            dict(zip(("cluster", "state", "a", "b"), row, strict=True)) for row in diff.residency
        ],
        "repeat": command,
    }
