# SPDX-License-Identifier: GPL-2.0-or-later
"""The scaling law's error against McPAT itself, from the committed direct runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from power.derived import DERIVED, derived_cores
from studies.power_validation.tables import signed, table

#: Largest error of the scaling law that is aimed at.
GOAL = 0.02
FIGURES = [(unit, figure) for unit in ("core", "l2") for figure in ("dynamic", "leakage")]


@dataclass(frozen=True)
class Scaling:
    """The law against direct runs of McPAT.

    :param summary: lines of the table of largest errors by core.
    :param points: of every supply; ``anew``: where McPAT lays arrays out anew.
    :param goal: how many points meet the goal, in words.
    :param beyond: supplies at which the law is compared with nothing, in words.
    :param leakage: largest error of leakage, as a share.
    """

    summary: list[str]
    points: list[str]
    anew: list[str]
    goal: str
    beyond: str
    leakage: float


def scaling() -> Scaling:
    """The comparison of every core that has one committed."""
    rows, anew, summary, beyond = [], [], [], []
    misses: list[tuple[str, float]] = []
    leakage = 0.0
    for core in derived_cores():
        record = json.loads((DERIVED / "scaling" / f"{core}.json").read_text(encoding="utf-8"))
        voltages = record["voltages"]
        legal = [row for row in voltages if not row["extrapolated"]]
        summary.append(
            (
                core,
                f"{record['design']['vdd_v']:g} V",
                str(len(legal)),
                str(len(voltages) - len(legal)),
                *(_largest(legal, unit, figure, "error") for unit, figure in FIGURES),
            )
        )
        below = [f"{row['vdd_v']:g}" for row in voltages if row["extrapolated"]]
        if below:
            beyond.append(f"{core} at {', '.join(below)} V")
        for row in legal:
            head = (core, f"{row['vdd_v']:g}")
            worst = max(abs(row[unit][figure]["error"]) for unit, figure in FIGURES)
            leakage = max(leakage, *(abs(row[part]["leakage"]["error"]) for part in ("core", "l2")))
            if worst > GOAL:
                misses.append((" at ".join(head) + " V", worst))
            kept, new = (_errors(row, kind) for kind in ("error", "error_laid_out_anew"))
            rows.append((*head, *kept))
            if kept != new:
                area = signed(row["l2"]["area_change_laid_out_anew"])
                anew.append((*head, *new, area))
    heads = ("core dynamic", "core leakage", "L2 dynamic", "L2 leakage")
    return Scaling(
        table(("core", "design supply", "supplies", "extrapolated", *heads), summary),
        table(("core", "V", *heads), rows),
        table(("core", "V", *heads, "L2 area"), anew),
        _misses(misses, len(rows)),
        "; ".join(beyond),
        leakage,
    )


def _misses(misses: Sequence[tuple[str, float]], points: int) -> str:
    if not misses:
        return f"All {points} points meet the goal."
    named = ", ".join(f"{name} ({100 * error:.2f} %)" for name, error in misses)
    return f"{points - len(misses)} of {points} points meet the goal; those that do not: {named}."


def _errors(row: Mapping[str, Any], kind: str) -> list[str]:
    return [f"{row[unit][figure][kind] * 100:+.2f} %" for unit, figure in FIGURES]


def _largest(rows: Sequence[Mapping[str, Any]], unit: str, figure: str, kind: str) -> str:
    errors = [abs(row[unit][figure][kind]) for row in rows]
    return f"{100 * max(errors):.2f} %" if errors else "none"
