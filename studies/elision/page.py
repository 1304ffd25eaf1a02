# SPDX-License-Identifier: GPL-2.0-or-later
"""The page on eliding busy loops: the parts for its notes."""

from __future__ import annotations

from analysis.results.elision import ElisionCase, ElisionComparison
from host.table import Column, Table
from studies.agreement.page import columns_table
from studies.drawing import Drawing
from studies.elision.plan import NAME

#: What is aimed at: energy in per cent, points of residency, how many times less processor time.
ENERGY_GOAL, RESIDENCY_GOAL, SPEED_GOAL = 1, 1, 100
#: From this mean share of the window on, CPUs are mostly busy: what the speed goal is about.
MOSTLY_BUSY_PERCENT = 50


def parts(record: ElisionComparison) -> dict[str, str]:
    """Markdown by the names that the notes use."""
    energy = max(abs(case.energy_percent) for case in record.cases)
    residency = max(case.residency_points for case in record.cases)
    times = [case.times for case in record.cases]
    return {
        "energy": f"{energy:.2f} %",
        "residency": f"{residency:.2f} points",
        "times": f"{min(times):.0f} to {max(times):.0f}",
        "conditions": "\n".join(
            [
                f"* Platform {record.platform}, variant {record.variant}, seed {record.seed}.",
                "* Milliseconds of warm-up and of the window: "
                + ", ".join(
                    f"{case.name} {case.warmup_ms} + {case.window_ms}" for case in record.cases
                )
                + ".",
                f"* {record.origin.words}",
            ]
        ),
        "cases": _summary(record).markdown(),
        "measures": "\n\n".join(map(_case, record.cases)),
    }


def _summary(record: ElisionComparison) -> Table:
    columns = [
        Column("scenario", "left"),
        *(Column(head) for head in ("CPUs busy", "energy", "worst residency, points")),
        Column("statements", "left"),
        *(Column(head) for head in ("processor s per s, executed", "elided", "times less")),
    ]
    return Table(tuple(columns), tuple(map(_row, record.cases)))


def _row(case: ElisionCase) -> list[str]:
    answers = {None: "none stated", True: "the same", False: "differ *"}
    fast = case.times >= SPEED_GOAL or case.busy_percent < MOSTLY_BUSY_PERCENT
    return [
        case.name,
        f"{case.busy_percent:.0f} %",
        f"{case.energy_percent:+.2f} %{_star(abs(case.energy_percent) <= ENERGY_GOAL)}",
        f"{case.residency_points:.2f}{_star(case.residency_points <= RESIDENCY_GOAL)}",
        answers[case.alike],
        f"{case.cpu_s_per_s['executed']:.0f}",
        f"{case.cpu_s_per_s['elided']:.1f}",
        f"{case.times:.0f}{_star(fast)}",
    ]


def _star(good: bool) -> str:
    return "" if good else " *"


def _case(case: ElisionCase) -> str:
    costs = case.cpu_s_per_s
    table = columns_table(["executed", "elided"], case.measures, costs, {"elided": 1 / case.times})
    return f"### {case.name}\n\n{table.markdown()}"


DRAWINGS = {NAME: Drawing(ElisionComparison, parts)}
