# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether runs were made under the conditions of the scenario's source, in words."""

from __future__ import annotations

from collections.abc import Sequence

from eascope.analysis.records.cell import CellRecord, SourceConditionsRecord

SOURCE, DEFAULTS = "the source's", "defaults"


def control_text(words: Sequence[str]) -> str:
    """Words of `analysis.records.cell.CellRecord.set_otherwise` for a person."""
    return ", ".join(word.replace("-", " ") for word in words)


def are_the_sources(cell: CellRecord) -> bool:
    """Whether the cell has all conditions of the scenario's source, and its board if named."""
    had = cell.source_conditions
    return (
        had is not None
        and had.platform in ("", cell.platform)
        and {*had.controls} <= {*cell.set_otherwise}
    )


def against_source(cell: CellRecord) -> str:
    """The runs' conditions and the source's, in a line; empty where the scenario states none."""
    had = cell.source_conditions
    if had is None:
        return ""
    if are_the_sources(cell):
        whose = SOURCE if had.platform else "those of the source's kernel, not of its board"
        return f"conditions: {whose}: {had.source}"
    return f"conditions: {DEFAULTS}; {SOURCE} {_had(had, cell.platform)}"


def _had(had: SourceConditionsRecord, platform: str) -> str:
    """The conditions of the source that these runs do not have."""
    if had.platform in ("", platform):
        return f"(--source-conditions): {control_text(had.controls)}"
    return f"are of {had.platform}"
