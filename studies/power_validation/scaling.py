# SPDX-License-Identifier: GPL-2.0-or-later
"""The scaling law's error against McPAT itself, from the committed direct runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from power.derived import DERIVED, derived_cores
from power.records import LawAgainstDirect, LegalSupply, ScalingRecord
from studies.power_validation.tables import signed, table

#: Largest error of the scaling law that is aimed at.
GOAL = 0.02
#: Of `power.records.LegalSupply.figures`.
HEADS = ("core dynamic", "core leakage", "L2 dynamic", "L2 leakage")


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
        record = ScalingRecord.read(DERIVED / "scaling" / f"{core}.json")
        legal = record.legal
        summary.append(
            (
                core,
                f"{record.design.vdd_v:g} V",
                str(len(legal)),
                str(len(record.voltages) - len(legal)),
                *(_largest([row.figures[place] for row in legal]) for place in range(len(HEADS))),
            )
        )
        below = [f"{row.vdd_v:g}" for row in record.voltages if row.extrapolated]
        if below:
            beyond.append(f"{core} at {', '.join(below)} V")
        for row in legal:
            head = (core, f"{row.vdd_v:g}")
            worst = max(abs(figure.error) for figure in row.figures)
            leakage = max(leakage, *(abs(unit.leakage.error) for unit in (row.core, row.l2)))
            if worst > GOAL:
                misses.append((" at ".join(head) + " V", worst))
            kept, new = _errors(row)
            rows.append((*head, *kept))
            if kept != new:
                area = signed(row.l2.area_change_laid_out_anew)
                anew.append((*head, *new, area))
    return Scaling(
        summary=table(("core", "design supply", "supplies", "extrapolated", *HEADS), summary),
        points=table(("core", "V", *HEADS), rows),
        anew=table(("core", "V", *HEADS, "L2 area"), anew),
        goal=_misses(misses, len(rows)),
        beyond="; ".join(beyond),
        leakage=leakage,
    )


def _misses(misses: Sequence[tuple[str, float]], points: int) -> str:
    if not misses:
        return f"All {points} points meet the goal."
    named = ", ".join(f"{name} ({100 * error:.2f} %)" for name, error in misses)
    return f"{points - len(misses)} of {points} points meet the goal; those that do not: {named}."


def _errors(row: LegalSupply) -> tuple[list[str], list[str]]:
    """Errors by figure: with arrays as at the design point, and laid out anew."""
    return (
        [f"{figure.error * 100:+.2f} %" for figure in row.figures],
        [f"{figure.error_laid_out_anew * 100:+.2f} %" for figure in row.figures],
    )


def _largest(figures: Sequence[LawAgainstDirect]) -> str:
    errors = [abs(figure.error) for figure in figures]
    return f"{100 * max(errors):.2f} %" if errors else "none"
