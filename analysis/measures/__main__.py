# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m eascope.analysis.measures`` writes the reference page's table of measures."""

from __future__ import annotations

from pathlib import Path

from eascope.analysis.measures import MEASURES
from eascope.analysis.measures.registry import Measure
from eascope.host.table import Column, Table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "measures.md"
_HEADS = ("measure", "keys below it", "unit", "what it is", "trace events", "files")


def table() -> Table:
    """One row per measure."""
    columns = tuple(Column(head, "left") for head in _HEADS)
    return Table(columns, tuple(_row(measure) for measure in MEASURES))


def _row(measure: Measure) -> tuple[str, ...]:
    return (
        f"`{measure.name}`",
        f"`{measure.keys}`" if measure.keys else "",
        measure.unit,
        measure.summary.replace("``", "`"),
        ", ".join(f"`{event}`" for event in measure.events),
        ", ".join(f"`{name}`" for name in measure.files),
    )


if __name__ == "__main__":
    text, head = PAGE.read_text(), table().markdown().partition("\n")[0]
    before, _, rest = text.partition(head)
    PAGE.write_text(before + table().markdown() + "\n\n" + rest.partition("\n\n")[2])
