# SPDX-License-Identifier: GPL-2.0-or-later
"""What the fast engine costs beside gem5 that executes the busy loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

#: How many times less processor time is aimed at than gem5 takes that executes the loops on atomic
#: CPUs.
SPEED_GOAL = 100
#: The page of executed runs.
EXECUTED = Path(__file__).resolve().parents[2] / "docs" / "results" / "elision.md"

_EXECUTED_HEAD = "processor s per s, executed"


def executed_costs(page: Path = EXECUTED) -> dict[str, float]:
    """Processor seconds per simulated second of executed runs, from the page on elision."""
    lines = page.read_text(encoding="utf-8").splitlines() if page.is_file() else []
    costs: dict[str, float] = {}
    column = None
    for line in lines:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            column = None
        elif _EXECUTED_HEAD in cells:
            column = cells.index(_EXECUTED_HEAD)
        elif column is not None and not cells[0].startswith("-"):
            costs[cells[0]] = float(cells[column])
    return costs


def against_executed(fast: Mapping[str, float], costs: Mapping[str, float]) -> Iterator[str]:
    """The fast engine's cost beside that of gem5 executing the loops on atomic CPUs.

    Both in processor seconds per simulated second, by scenario; nothing where they share none.
    """
    shared = [scenario for scenario in fast if scenario in costs]
    if not shared:
        return
    yield (
        "The fast engine beside gem5 that executes the loops on atomic CPUs ([short windows of\n"
        "mainline](elision.md)), in processor seconds for a simulated one. "
        f"Goal: {SPEED_GOAL} times less."
    )
    yield ""
    yield "| scenario | gem5, executed | fast | times less |"
    yield "|---|---:|---:|---:|"
    for scenario in shared:
        ratio = costs[scenario] / fast[scenario]
        mark = "" if ratio >= SPEED_GOAL else " *"
        yield f"| {scenario} | {costs[scenario]:.0f} | {fast[scenario]:.2f} | {ratio:.0f}{mark} |"
    yield ""
