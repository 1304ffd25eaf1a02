# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables in their five forms."""

import csv
import io

import pytest

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


def test_text_is_aligned_and_rows_of_a_section_are_indented() -> None:
    assert TABLE.text().splitlines() == [
        "variant   energy (mJ)  note",
        "mainline       200.00",
        "50 % & more",
        "  cas             1.5  a|b <c>",
        "  x_1               -  holds",
    ]


def test_text_without_heads_or_rows() -> None:
    table = Table.of(["a long head", ""], [("ok", "1"), ("MISSING", "20")])
    assert table.text(heads=False) == "ok        1\nMISSING  20"
    assert Table.of(["a", "b"], []).text() == "a  b"
    assert Table.of(["a", "b"], []).text(heads=False) == ""


def test_markdown() -> None:
    assert TABLE.markdown().splitlines() == [
        "| variant | energy (mJ) | note |",
        "|---|---:|---|",
        "| mainline | 200.00 |  |",
        "| **50 % & more** |  |  |",
        r"| cas | 1.5 | `a\|b <c>` |",
        "| x_1 | - | holds |",
    ]


def test_html_is_escaped_and_names_classes() -> None:
    text = TABLE.html()
    assert '<th class="left">variant</th><th>energy (mJ)</th>' in text
    assert '<tr class="group"><th colspan="3">50 % &amp; more</th></tr>' in text
    assert '<td class="left"><code>a|b &lt;c&gt;</code></td>' in text
    assert '<td class="left holds">holds</td>' in text
    assert text.count("<tr") == 5


def test_csv_has_a_column_for_sections() -> None:
    rows = list(csv.reader(io.StringIO(TABLE.csv())))
    assert rows == [
        ["group", "variant", "energy (mJ)", "note"],
        ["", "mainline", "200.00", ""],
        ["50 % & more", "cas", "1.5", "a|b <c>"],
        ["50 % & more", "x_1", "-", "holds"],
    ]
    assert Table.of(["a"], [["1"]]).csv() == "a\n1\n"


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="2 columns, but a row of 1"):
        Table.of(["a", "b"], [["1"]])
