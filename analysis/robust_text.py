# SPDX-License-Identifier: GPL-2.0-or-later
"""Model axes as a table and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from eascope.analysis.answer import percent_interval
from eascope.analysis.compare import Comparison
from eascope.analysis.compare_json import difference_entry, verdict_json
from eascope.analysis.difference import Difference
from eascope.analysis.overall import AS_ASKED, Assumed, End, Overall, overall
from eascope.analysis.records.verdict import Verdict
from eascope.analysis.robust import AtValue
from eascope.analysis.verdict_text import word
from eascope.host.table import Column, Table


def energy_label(comparison: Comparison) -> str:
    """``energy`` or ``energy per s of work``."""
    row = comparison.primary.row
    return "energy" if comparison.primary is comparison.total else f"energy {row.label}"


def differences_at(comparison: Comparison, at: Assumed | None) -> dict[str, Difference | None]:
    """The primary difference of each further variant at a value; None: the asked ones."""
    row, names = comparison.primary.row, comparison.names[1:]
    if at is None:
        return {name: comparison.primary.differences[name] for name in names}
    return {name: at.difference(name, row.path) for name in names}


def robust_table(comparison: Comparison) -> Table:
    """A row per value: runs of its own, differences in percent, and every verdict by number."""
    names, verdicts = comparison.names[1:], comparison.as_asked
    columns = (
        *(Column("model axis", "left"), Column("value", "left"), Column("extra runs")),
        *(Column(name, "left", "%") for name in names),
        *(Column(str(number), "left") for number in range(1, len(verdicts) + 1)),
    )

    def differences(at: Assumed | None) -> Iterator[str]:
        return map(difference_words, differences_at(comparison, at).values())

    rows: list[tuple[str, ...]] = [(AS_ASKED, "", "-", *differences(None), *map(word, verdicts))]
    axis = ""
    for at in comparison.assumed:
        own = (at.verdict(verdict.variant, verdict.statement) for verdict in verdicts)
        rows.append(
            (
                *("" if at.axis == axis else at.axis, at.value, str(at.own_runs)),
                *(*differences(at), *(word(found) if found else "-" for found in own)),
            )
        )
        axis = at.axis
    joint = [comparison.overall(name).words.partition(" (")[0] for name in names]
    joint += map(word, comparison.verdicts)
    rows.append(("all", "", str(sum(at.own_runs for at in comparison.assumed)), *joint))
    return Table(columns, tuple(rows))


def difference_words(difference: Difference | None) -> str:
    """``-9.6 (-9.9 .. -9.4)``, in percent."""
    if difference is None or difference.percent is None:
        return "-"
    interval = f" ({percent_interval(difference)})" if difference.clear is not None else ""
    return f"{difference.percent:+.1f}{interval}"


def judged(comparison: Comparison, verdict: Verdict) -> Overall:
    """The joint answer of all values on the expectation of ``verdict``, one of `as_asked`."""
    found = [(at, at.verdict(verdict.variant, verdict.statement)) for at in comparison.assumed]
    return overall(verdict.verdict, [(at.axis, at.value, v.verdict) for at, v in found if v])


def expectation_lines(comparison: Comparison) -> list[str]:
    """The joint answer of all values on each expectation, by the number of its column."""
    lines = []
    for number, verdict in enumerate(comparison.as_asked, 1):
        joint = judged(comparison, verdict)
        every = "" if joint.axes else " at every value"
        lines.append(
            f"{number}: claim ({verdict.variant}): {verdict.statement} -- {joint.words}{every}"
        )
    return lines


def robust_text(comparison: Comparison) -> str:
    """The block below a comparison: the table, the expectations, axes that were not varied."""
    head = (
        f"model axes, one at a time: {energy_label(comparison)} compared with "
        f"{comparison.baseline}'s; the report has the source of every value"
    )
    lines = ["", head, robust_table(comparison).text(), *expectation_lines(comparison)]
    lines += [f"not varied: {line}" for line in comparison.not_varied]
    return "\n".join(lines) + "\n"


def robust_json(comparison: Comparison) -> dict[str, Any]:
    """``robust`` of ``eascope compare --json``; `docs/reference/measures.md` lists the keys."""
    verdicts, row = comparison.as_asked, comparison.primary.row

    def values(at: Assumed | None, found: Sequence[Verdict | None]) -> dict[str, Any]:
        return {
            "differences": [
                difference_entry(row, name, difference)
                for name, difference in differences_at(comparison, at).items()
                if difference is not None
            ],
            "expect": [{"variant": v.variant, **verdict_json(v)} for v in found if v is not None],
        }

    asked = AtValue("", "", "", 0, comparison)
    return {
        "measure": row.measure,
        "asked": {**asked.facts, **values(None, verdicts)},
        "values": [
            {
                **{"axis": at.axis, "value": at.value, "source": at.source},
                **{"own_runs": at.own_runs, **at.facts},
                **values(at, [at.verdict(v.variant, v.statement) for v in verdicts]),
            }
            for at in comparison.assumed
        ],
        "energy": [
            {
                "variant": name,
                **_overall_json(comparison.overall(name)),
                "range": _range_json(comparison.span(name)),
            }
            for name in comparison.names[1:]
        ],
        "expect": [
            {
                "variant": verdict.variant,
                "statement": verdict.statement,
                **_overall_json(judged(comparison, verdict)),
            }
            for verdict in verdicts
        ],
        "left_out": list(comparison.not_varied),
    }


def _range_json(ends: tuple[End, End] | None) -> list[dict[str, Any]] | None:
    """Both ends; an empty axis stands for the asked values."""
    return ends and [vars(end) for end in ends]


def _overall_json(joint: Overall) -> dict[str, Any]:
    return {"verdict": joint.word, "depends_on": list(joint.axes)}
