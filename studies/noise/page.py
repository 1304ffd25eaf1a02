# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of noise floors: the parts for its notes."""

from __future__ import annotations

from statistics import median

from analysis.results.noise import Noise, NoiseFloor
from host.table import Table
from studies.drawing import Drawing
from studies.noise.plan import NAME, plan
from studies.patches import origin_words

#: Measures whose floors the page has; the record has all.
_SHOWN = {
    "energy_j.total": "energy",
    "energy_per_work_j": "energy per unit of work",
    "work": "work",
    "migrations": "migrations",
    "overutilized_share": "overutilized",
}


def parts(record: Noise) -> dict[str, str]:
    """Markdown by the names that the notes use."""
    energies = [each.percents["energy_j.total"] for each in record.cells]
    seeds = " or ".join(str(count) for count in sorted({each.seeds for each in record.cells}))
    return {
        "answer": f"energy: {min(energies):.1f} to {max(energies):.1f} %, median "
        f"{median(energies):.1f} %, with {seeds} seeds on each side",
        "floors": Table.of(
            ("platform", "scenario", *(f"{label} (+-%)" for label in _SHOWN.values())),
            (tuple(_row(each)) for each in record.cells),
            left=2,
        ).markdown(),
        "missing": _missing(record),
        "conditions": _conditions(record),
    }


def _row(cell: NoiseFloor) -> list[str]:
    figures = [cell.percents.get(measure) for measure in _SHOWN]
    shown = ["-" if figure is None else f"{figure:.1f}" for figure in figures]
    return [cell.platform, cell.scenario, *shown]


def _missing(record: Noise) -> str:
    """The scenarios of the plan that the record does not have, by platform."""
    there = {(each.platform, each.scenario) for each in record.cells}
    missing: dict[str, list[str]] = {}
    for platform, scenario in plan():
        if (platform, scenario) not in there:
            missing.setdefault(platform, []).append(scenario)
    if not missing:
        return "* The record has every scenario of the results pages."
    return "\n".join(
        f"* Not measured yet on {platform}: {', '.join(scenarios)}."
        for platform, scenarios in missing.items()
    )


def _conditions(record: Noise) -> str:
    """The common conditions of the cells, stated once."""
    first = record.cells[0].conditions
    common = ", ".join(
        f"{name.replace('_', ' ')} {value}"
        for name, value in first.items()
        if all(each.conditions[name] == value for each in record.cells)
    )
    counted: dict[str, int] = {}
    for cell in record.cells:
        words = origin_words(record.origin_of(cell))
        counted[words] = counted.get(words, 0) + 1
    if len(counted) > 1:
        counted = {
            f"{count} of {len(record.cells)}: {words}": count for words, count in counted.items()
        }
    return "\n".join(f"* {line}" for line in (f"{common}.", *counted))


DRAWINGS = {NAME: Drawing(Noise, parts)}
