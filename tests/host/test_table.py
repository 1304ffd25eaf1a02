# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables in their five forms."""

import pytest
from syrupy.assertion import SnapshotAssertion

from eascope.host.table import Column, Section, Table, TableCell

TABLE = Table(
    (Column("variant", "left"), Column("energy", unit="mJ"), Column("note", "left")),
    (
        ("mainline", "200.00", ""),
        Section("50 % & more"),
        ("cas", "1.5", TableCell("a|b <c>", "code")),
        ("x_1", "-", TableCell("holds", "holds")),
    ),
)


@pytest.mark.parametrize("form", ["text", "markdown", "html", "csv"])
def test_forms(form: str, snapshot: SnapshotAssertion) -> None:
    """Text is aligned, rows of a section are indented; the others are escaped."""
    assert getattr(TABLE, form)() == snapshot


def test_text_without_heads_or_rows() -> None:
    table = Table.of(["a long head", ""], [("ok", "1"), ("MISSING", "20")])
    assert table.text(heads=False) == "ok        1\nMISSING  20"
    assert Table.of(["a", "b"], []).text() == "a  b"
    assert Table.of(["a", "b"], []).text(heads=False) == ""
    assert Table.of(["a"], [["1"]]).csv() == "a\n1\n"


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="2 columns, but a row of 1"):
        Table.of(["a", "b"], [["1"]])
