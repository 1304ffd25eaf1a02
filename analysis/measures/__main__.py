# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m eascope.analysis.measures``: the reference page's table of measures."""

from __future__ import annotations

from eascope.analysis.measures import MEASURES
from eascope.analysis.measures.registry import Measure
from eascope.host.table import Column, Table

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
    print(table().markdown())
