# SPDX-License-Identifier: GPL-2.0-or-later
"""A series patch by patch: each kernel against the one before it, and against the base.

Both are statements about energy of the same work, and are judged as all statements are
(`analysis.verdicts`): together, with at most one chance in twenty that any is decided wrongly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from eascope.analysis.compare import Comparison, Line
from eascope.analysis.compare_json import variant_json, verdict_json
from eascope.analysis.compare_text import conditions, number, signed
from eascope.analysis.derive import Derived
from eascope.analysis.paper import NOTE, UNDECIDED
from eascope.analysis.ranges import PERCENT_CHANGE
from eascope.analysis.records.cell import Expectation
from eascope.analysis.records.verdict import (
    DEPENDS,
    ENOUGH_FOR_VERDICT,
    HOLDS,
    REFUTED,
    Effect,
    Verdict,
    few_seeds,
)
from eascope.analysis.rows import PER_WORK
from eascope.analysis.verdict_text import measured_words
from eascope.host.table import Table

#: Columns of the table.
WIDTH = 90
#: Of a kernel with the code of the step before.
NO_CODE = "changes no code"
_HEADS = ("step", "patch", "mJ", "change, %", "vs base", "p99, us")


@dataclass(frozen=True)
class Rung:
    """A step of a series, from 0.

    :param before: the variant of the step before; where that was not run, of the last one that was.
    :param not_run: why it was not run; empty: it was.
    """

    number: int
    subject: str
    variant: str
    before: str = ""
    not_run: str = ""

    @property
    def words(self) -> str:
        """``step 3 (sched/fair: Do it)``."""
        return f"step {self.number} ({self.subject})"


def stated(run: Derived, rungs: Sequence[Rung]) -> Derived:
    """``run`` with the statements about its step: less energy than the step before and the base."""
    total = run.result.energy_per_work_j is None
    measure = "energy_j.total" if total else ".".join(PER_WORK)
    base = rungs[0].variant
    expect = tuple(
        Expectation(rung.variant, f"{measure} < {measure}[{other}]", "eascope ladder")
        for rung in rungs
        if rung.variant == run.cell.variant and rung.before
        for other in dict.fromkeys((rung.before, base))
    )
    return replace(run, cell=replace(run.cell, expect=expect))


@dataclass(frozen=True)
class Ladder:
    """The steps and their comparison, whose runs are `stated`; None where nothing was run."""

    rungs: Sequence[Rung]
    compared: Comparison | None

    @property
    def base(self) -> Rung:
        """Step 0."""
        return self.rungs[0]

    def against(self, rung: Rung, other: str) -> Verdict | None:
        """The verdict on a step's energy against that of variant ``other``."""
        verdicts = self.compared.verdicts if self.compared else []
        end = f"[{other}]"
        found = (v for v in verdicts if v.variant == rung.variant and v.statement.endswith(end))
        return next(found, None)

    @property
    def answer(self) -> str:
        """One sentence: the step that changes most, or that no step changes anything."""
        if self.compared is None:
            return "no step changes the code of the kernel: nothing was run"
        steps = [(rung, v) for rung in self.rungs if (v := self.against(rung, rung.before))]
        of = _energy(self.compared)
        seeds = f"{len(self.compared.seeds)} seeds"
        clear = [(rung, verdict) for rung, verdict in steps if mark(verdict) == "*"]
        rung, verdict = max(clear or steps, key=lambda step: abs(step[1].effects[0].value))
        change = measured_words(verdict.effects[0], PERCENT_CHANGE)
        if len(self.compared.seeds) < ENOUGH_FOR_VERDICT:
            few = few_seeds(len(self.compared.seeds))
            return f"{rung.words} changes {of} most: {change}, not tested ({few})"
        if not clear:
            none = f"no step changes {of} significantly"
            if any(map(mark, (verdict for _, verdict in steps))):
                return f"{none} over the whole model range, {seeds}"
            size = max(_half(verdict.effects[0]) for _, verdict in steps)
            return f"{none}, {seeds}; at each, a change above {size:.1f} % would be significant"
        last = self.rungs[-1]
        whole = self.against(next(r for r in reversed(self.rungs) if r.before), self.base.variant)
        total = f"; all {last.number} steps: {_change(whole)} %" if whole else ""
        return f"{rung.words} changes {of} most: {change}, {seeds}{total}"

    @property
    def text(self) -> str:
        """The answer, what was run, and the table."""
        lines = [self.answer, ""]
        if self.compared:
            cell = self.compared.cell
            lines += [f"{cell.scenario} on {cell.platform}", *conditions(self.compared), ""]
        lines += [self._table.text(), *self._notes]
        if self.compared:
            lines.append(f"*: significant at 95 %, all steps together; ?: {DEPENDS} a model axis")
        return "\n".join(lines) + "\n"

    @property
    def _table(self) -> Table:
        rows = [[str(rung.number), rung.subject, *self._cells(rung)] for rung in self.rungs]
        columns = zip(_HEADS, *rows, strict=True)
        room = WIDTH - sum(2 + max(map(len, column)) for column in columns if "patch" not in column)
        for row in rows:
            row[1] = row[1] if len(row[1]) <= room else f"{row[1][: room - 3]}..."
        return Table.of(_HEADS, rows, left=2)

    def _cells(self, rung: Rung) -> list[str]:
        if rung.not_run or self.compared is None:
            return ["", rung.not_run.partition(":")[0], "", ""]
        latency = _latency(self.compared)
        before, base = (self.against(rung, name) for name in (rung.before, self.base.variant))
        return [
            number(_line(self.compared).mean(rung.variant), 2),
            _change(before, ends=True) if before else "",
            _change(base) if base else "",
            number(latency.mean(rung.variant), 1) if latency else "-",
        ]

    def paper(self, form: str) -> str:
        """The steps for a paper, a mail or a spreadsheet: ``md``, ``csv`` or ``latex``."""
        marked = form != "csv"
        heads = ["step", "patch", "mJ", "change, %", "95 % CI", "vs base, %", "p99, us"]
        heads += ["n"] if marked else ["significant", "n"]
        rows = [
            [str(rung.number), rung.subject, *self._paper_cells(rung, marked=marked)]
            for rung in self.rungs
        ]
        note = "\n\n".join([*self._notes, NOTE])
        return Table.of(heads, rows, left=2).formatted(form, self.answer, note)

    def _paper_cells(self, rung: Rung, *, marked: bool) -> list[str]:
        if rung.not_run or self.compared is None:
            return ["", rung.not_run.partition(":")[0], *[""] * (4 if marked else 5)]
        energy, _, _, latency = self._cells(rung)
        before, base = (self.against(rung, name) for name in (rung.before, self.base.variant))
        effects = [verdict.effects[0] if verdict else None for verdict in (before, base)]
        unsure = [
            UNDECIDED if marked and v and mark(v) != "*" and v.effects[0].value else ""
            for v in (before, base)
        ]
        change, whole = (
            f"{sign}{signed(effect.value, 1)}" if effect else ""
            for sign, effect in zip(unsure, effects, strict=True)
        )
        own = effects[0]
        known = own is not None and own.low is not None and own.high is not None
        ends = f"{signed(own.low, 1)} .. {signed(own.high, 1)}" if known and own else ""
        told = [] if marked else ["" if before is None else "yes" if mark(before) == "*" else "no"]
        return [energy, change, ends, whole, latency, *told, str(len(self.compared.seeds))]

    @property
    def _notes(self) -> list[str]:
        broken = [
            f"step {each.number}: {each.not_run}" for each in self.rungs if ":" in each.not_run
        ]
        if self.compared is None:
            return broken
        latency = _latency(self.compared)
        return [
            *broken,
            f"mJ: {_energy(self.compared)}; change: from the step before that was run",
            *([f"p99: wake-up latency of {latency.row.path[1]}"] if latency else []),
        ]

    @property
    def record(self) -> dict[str, Any]:
        """The same as JSON, with everything that was measured of each step."""
        return {
            "answer": self.answer,
            "steps": [
                {
                    **{"step": rung.number, "patch": rung.subject, "variant": rung.variant},
                    "not_run": rung.not_run,
                    "against": {
                        other: verdict_json(verdict)
                        for other in dict.fromkeys((rung.before, self.base.variant))
                        if (verdict := self.against(rung, other))
                    },
                    **(
                        variant_json(self.compared, rung.variant)
                        if self.compared and not rung.not_run
                        else {}
                    ),
                }
                for rung in self.rungs
            ],
        }


def mark(verdict: Verdict) -> str:
    """``*`` where a change is significant, ``?`` where it depends on a model axis."""
    if verdict.verdict == DEPENDS:
        return "?"
    return "*" if verdict.verdict in (HOLDS, REFUTED) and verdict.effects[0].value else ""


def _change(verdict: Verdict, *, ends: bool = False) -> str:
    """``-13.8*``, or with its interval ``-13.8* (-13.9 .. -13.6)``."""
    words = measured_words(verdict.effects[0], PERCENT_CHANGE).replace(" %", "", 1)
    value, _, interval = words.partition(" ")
    return f"{value}{mark(verdict)} {interval if ends else ''}".rstrip()


def _half(effect: Effect) -> float:
    return (
        (effect.high - effect.low) / 2 if effect.low is not None and effect.high is not None else 0
    )


def _line(compared: Comparison) -> Line:
    return compared.line(*PER_WORK) or compared.total


def _energy(compared: Comparison) -> str:
    line = _line(compared)
    return "energy" if line.row == compared.total.row else f"energy {line.row.label}"


def _latency(compared: Comparison) -> Line | None:
    """The p99 of the task that waits longest under the base."""
    lines = (compared.line("latency_us", task, "p99") for task in compared.tasks)
    known = [line for line in lines if line]
    return max(known, key=lambda line: line.mean(compared.baseline) or 0.0, default=None)
