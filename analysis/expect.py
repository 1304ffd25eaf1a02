# SPDX-License-Identifier: GPL-2.0-or-later
"""Expectations of one run: which of its scenario's statements its measures meet.

For several runs, `analysis.verdicts` decides whether they show a statement.
"""

from __future__ import annotations

from eascope.analysis.records.cell import CellRecord
from eascope.analysis.records.result import Judged, Result
from eascope.analysis.statement import Absent, parse, value_at


def of_run(cell: CellRecord, result: Result) -> tuple[Judged, ...]:
    """``expect`` of one run: the statements that are about its own variant alone.

    A statement that needs another variant, or a measure that the run cannot give, is absent.
    """
    own = cell.variant
    judged = []
    for expectation in cell.expect:
        statement = parse(expectation.statement)
        if expectation.variant != own or set(statement.variants) - {own}:
            continue
        try:
            sides, met = statement.evaluate(lambda path, _variant: value_at(result, path))
        except Absent:
            continue
        value = sides[0][0] if len(sides) == 1 else tuple(sides)
        judged.append(Judged(expectation.statement, value, met))
    return tuple(judged)
