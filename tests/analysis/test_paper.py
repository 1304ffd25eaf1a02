# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison for a paper, a mail and a spreadsheet."""

import csv
import io
from collections.abc import Callable

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.analysis.compare import Comparison
from eascope.analysis.paper import paper


@pytest.mark.parametrize("form", ["md", "latex", "csv"])
def test_a_comparison_is_printed(
    form: str, compared: Callable[[int], Comparison], snapshot: SnapshotAssertion
) -> None:
    assert paper(compared(12), form, whole=False) == snapshot


def test_numbers_of_a_spreadsheet_are_numbers(compared: Callable[[int], Comparison]) -> None:
    rows = [*csv.DictReader(io.StringIO(paper(compared(12), "csv", whole=True)))]
    assert len(rows) > 20
    assert {row["significant"] for row in rows} == {"yes", "no"}
    assert all(float(row["diff"]) for row in rows if row["significant"] == "yes")
    assert all("~" not in row["diff"] for row in rows)


def test_no_difference_of_few_seeds_is_significant(compared: Callable[[int], Comparison]) -> None:
    text = paper(compared(2), "md", whole=False)
    cells = [line.split(" | ") for line in text.splitlines() if line.startswith("| energy")]
    assert all(row[5].startswith("~") and not row[7].strip() for row in cells)
