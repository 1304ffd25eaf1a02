# SPDX-License-Identifier: GPL-2.0-or-later
"""Model axes as sentences, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eascope.analysis.answer import answers, percent_interval
from eascope.analysis.compare import Comparison
from eascope.analysis.compare_json import difference_json, verdict_json
from eascope.analysis.difference import Difference
from eascope.analysis.records.verdict import ENOUGH_FOR_VERDICT
from eascope.analysis.robust import AS_ASKED, DEPENDS, LESS, MORE, NO_TEST, Overall, Robust
from eascope.host.table import Column, Table


def all_answers(comparison: Comparison, robust: Robust | None) -> list[str]:
    """The answers of a comparison, after those of all values where axes were varied."""
    if robust is None:
        return answers(comparison)
    return [*robust_answers(robust), *(f"{AS_ASKED}: {line}" for line in answers(comparison))]


def robust_answers(robust: Robust) -> list[str]:
    """The joint answer of all values on each further variant's energy, a sentence each."""
    return [_answer(robust, name) for name in robust.others]


def _answer(robust: Robust, name: str) -> str:
    base, overall = robust.asked.baseline, robust.overall(name)
    few = len(robust.asked.seeds) < ENOUGH_FOR_VERDICT
    reservation = f"; too few seeds for a verdict ({ENOUGH_FOR_VERDICT})" if few else ""
    values = f"{len(robust.values)} other values of the model axes"
    if overall.word == NO_TEST:
        return f"model axes: no test (--seeds {ENOUGH_FOR_VERDICT} gives one)"
    if overall.word == DEPENDS:
        return f"{name} against {base}, {robust.label}: {overall.words}{reservation}"
    every = [robust.asked, *(at.compared for at in robust.values)]
    percents = [
        p for comparison in every if (p := robust.difference(comparison, name).percent) is not None
    ]
    span = f"{min(percents):+.1f} .. {max(percents):+.1f} %" if percents else "no percentage"
    if overall.word in (LESS, MORE):
        how = f"uses {overall.word} {robust.label} than {base}"
        return f"{name} {how} at all {values}, too: {span}{reservation}"
    return (
        f"{name} and {base} cannot be told apart by their {robust.label} at any of {values}: "
        f"{span}{reservation}"
    )


def robust_table(robust: Robust) -> Table:
    """A row per value: runs of its own, differences in percent, and every verdict by number."""
    verdicts = robust.asked.verdicts
    columns = (
        *(Column("axis", "left"), Column("value", "left"), Column("own runs")),
        *(Column(name, "left", "%") for name in robust.others),
        *(Column(str(number), "left") for number in range(1, len(verdicts) + 1)),
    )
    rows: list[tuple[str, ...]] = [
        (
            *(AS_ASKED, "", "-"),
            *_differences(robust, robust.asked),
            *(verdict.verdict for verdict in verdicts),
        )
    ]
    axis = ""
    for at in robust.values:
        rows.append(
            (
                *("" if at.axis == axis else at.axis, at.value, str(at.own_runs)),
                *_differences(robust, at.compared),
                *(robust.verdict_at(at, verdict).verdict for verdict in verdicts),
            )
        )
        axis = at.axis
    overall = [robust.overall(name) for name in robust.others]
    overall += [robust.judged(verdict) for verdict in verdicts]
    rows.append(
        (
            *("all", "", str(sum(at.own_runs for at in robust.values))),
            *(verdict.word for verdict in overall),
        )
    )
    return Table(columns, tuple(rows))


def _differences(robust: Robust, compared: Comparison) -> Iterator[str]:
    for name in robust.others:
        yield difference_words(robust.difference(compared, name))


def difference_words(difference: Difference) -> str:
    """``-9.6 (-9.9 .. -9.4)``, in percent."""
    if difference.percent is None:
        return "-"
    interval = f" ({percent_interval(difference)})" if difference.clear is not None else ""
    return f"{difference.percent:+.1f}{interval}"


def expectation_lines(robust: Robust) -> list[str]:
    """The joint answer of all values on each expectation, by the number of its column."""
    return [
        f"{number}: expected of {verdict.variant}: {verdict.statement}: "
        f"{robust.judged(verdict).words}{'' if robust.judged(verdict).axes else ' at every value'}"
        for number, verdict in enumerate(robust.asked.verdicts, 1)
    ]


def robust_text(robust: Robust) -> str:
    """The block below a comparison: the table, the expectations, axes that were not varied."""
    head = (
        f"model axes, one at a time: {robust.label} compared with {robust.asked.baseline}'s; "
        "the source of every value is in the report"
    )
    lines = ["", head, robust_table(robust).text(), *expectation_lines(robust)]
    lines += [f"not varied: {line}" for line in robust.left_out]
    return "\n".join(lines) + "\n"


def robust_json(robust: Robust) -> dict[str, Any]:
    """``robust`` of ``eascope compare --json``; `docs/reference/measures.md` lists the keys."""
    row = robust.energy(robust.asked).row
    return {
        "measure": row.measure,
        "asked": _at(robust, robust.asked),
        "values": [
            {
                **{"axis": at.axis, "value": at.value, "source": at.source},
                **{"own_runs": at.own_runs, **_at(robust, at.compared)},
            }
            for at in robust.values
        ],
        "energy": [
            {"variant": name, **_overall_json(robust.overall(name))} for name in robust.others
        ],
        "expect": [
            {
                "variant": verdict.variant,
                "statement": verdict.statement,
                **_overall_json(robust.judged(verdict)),
            }
            for verdict in robust.asked.verdicts
        ],
        "left_out": list(robust.left_out),
    }


def _overall_json(overall: Overall) -> dict[str, Any]:
    return {"verdict": overall.word, "depends_on": list(overall.axes)}


def _at(robust: Robust, compared: Comparison) -> dict[str, Any]:
    line = robust.energy(compared)
    return {
        "power_model": compared.power_model.name,
        "set_otherwise": list(compared.cell.set_otherwise),
        "differences": [difference_json(compared, line, name) for name in robust.others],
        "expect": [
            {"variant": verdict.variant, **verdict_json(verdict)} for verdict in compared.verdicts
        ],
    }
