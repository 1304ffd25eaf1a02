# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables: heads, rows, alignment and units, printed as text, Markdown, HTML, CSV or LaTeX.

A table holds texts that are already rounded, and does not know their meaning. The caller formats
the numbers, names the columns, and chooses one of the forms.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, TypeAlias

Align: TypeAlias = Literal["left", "right"]
#: Between two columns of text.
_GAP = "  "
#: Before the rows of a section, as text.
_INDENT = "  "


@dataclass(frozen=True)
class Column:
    """A column: its head, the side to which its cells are aligned, and their unit (or "")."""

    head: str
    align: Align = "right"
    unit: str = ""

    @property
    def title(self) -> str:
        """The head with the unit: ``energy (mJ)``."""
        return f"{self.head} ({self.unit})" if self.unit else self.head


@dataclass(frozen=True)
class TableCell:
    """A text that stands out: ``code`` is set as code, any other kind is a class of the page.

    Text and CSV take the text alone.
    """

    text: str
    kind: str = ""

    def __str__(self) -> str:
        """The text that the cell shows."""
        return self.text


@dataclass(frozen=True)
class Section:
    """A heading between rows; it spans all columns."""

    title: str


Row: TypeAlias = Sequence[str | TableCell]


@dataclass(frozen=True)
class Table:
    """Columns and rows; a `Section` stands before the rows that belong to it.

    :raises ValueError: when a row has another number of cells than there are columns.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row | Section, ...]

    def __post_init__(self) -> None:
        """Refuse a row of another length."""
        for row in self.rows:
            if not isinstance(row, Section) and len(row) != len(self.columns):
                raise ValueError(f"{len(self.columns)} columns, but a row of {len(row)}: {row}")

    @classmethod
    def of(cls, heads: Iterable[str], rows: Iterable[Row | Section], left: int = 1) -> Table:
        """A table of plain heads; the first ``left`` columns are texts, the others figures."""
        columns = (
            Column(head, "left" if number < left else "right") for number, head in enumerate(heads)
        )
        return cls(tuple(columns), tuple(rows))

    def text(self, *, heads: bool = True) -> str:
        """Aligned lines without a newline at the end; ``heads``: print the first line."""
        return "\n".join(self._lines(heads))

    def _lines(self, heads: bool) -> Iterator[str]:
        titles = [column.title for column in self.columns]
        lines: list[list[str] | str] = [titles] if heads else []
        indent = ""
        for row in self.rows:
            if isinstance(row, Section):
                lines.append(row.title)
                indent = _INDENT
            else:
                first, *others = (str(cell) for cell in row)
                lines.append([indent + first, *others])
        full = [line for line in lines if not isinstance(line, str)]
        widths = [max((len(line[at]) for line in full), default=0) for at in range(len(titles))]
        for line in lines:
            yield line if isinstance(line, str) else self._aligned(line, widths)

    def _aligned(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        parts = (
            cell.ljust(width) if column.align == "left" else cell.rjust(width)
            for column, cell, width in zip(self.columns, cells, widths, strict=True)
        )
        return _GAP.join(parts).rstrip()

    def markdown(self) -> str:
        """A Markdown table without a newline at the end; sections are rows in bold."""
        rule = "".join("---|" if column.align == "left" else "---:|" for column in self.columns)
        lines = [_markdown_row(column.title for column in self.columns), f"|{rule}"]
        for row in self.rows:
            if isinstance(row, Section):
                empty = [""] * (len(self.columns) - 1)
                lines.append(_markdown_row([f"**{_markdown(row.title)}**", *empty]))
            else:
                lines.append(_markdown_row(_markdown(cell) for cell in row))
        return "\n".join(lines)

    def html(self) -> str:
        """A ``<table>``; left columns and a cell's kind are classes, sections ``tr.group``."""
        head = "".join(
            f"<th{_class(column.align, '')}>{escape(column.title)}</th>" for column in self.columns
        )
        lines = [f"<table><thead><tr>{head}</tr></thead>", "<tbody>"]
        for row in self.rows:
            if isinstance(row, Section):
                span = f'<th colspan="{len(self.columns)}">{escape(row.title)}</th>'
                lines.append(f'<tr class="group">{span}</tr>')
            else:
                cells = zip(self.columns, row, strict=True)
                lines.append(f"<tr>{''.join(_html(column, cell) for column, cell in cells)}</tr>")
        return "\n".join([*lines, "</tbody></table>"]) + "\n"

    def csv(self) -> str:
        """Comma-separated values; a section becomes the first column, ``group``, of its rows."""
        grouped = any(isinstance(row, Section) for row in self.rows)
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        titles = [column.title for column in self.columns]
        writer.writerow(["group", *titles] if grouped else titles)
        group = ""
        for row in self.rows:
            if isinstance(row, Section):
                group = row.title
            else:
                writer.writerow([group, *map(str, row)] if grouped else map(str, row))
        return stream.getvalue()

    def latex(self) -> str:
        """A ``tabular`` with the rules of booktabs; sections are rows in italics."""
        columns = "".join(column.align[0] for column in self.columns)
        lines = [f"\\begin{{tabular}}{{{columns}}}", "\\toprule"]
        lines += [_latex_row(column.title for column in self.columns), "\\midrule"]
        for row in self.rows:
            if isinstance(row, Section):
                title = f"\\textit{{{_latex(row.title)}}}"
                lines.append(f"\\multicolumn{{{len(self.columns)}}}{{l}}{{{title}}} \\\\")
            else:
                lines.append(_latex_row(map(str, row)))
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"])

    def formatted(self, form: str, said: str = "", note: str = "") -> str:
        """The table as ``md``, between a sentence and a note, as ``csv`` or as ``latex``."""
        if form == "csv":
            return self.csv()
        if form == "latex":
            return f"{self.latex()}\n"
        return "\n\n".join(filter(None, (said, self.markdown(), note))) + "\n"


#: Characters that LaTeX reads as commands; a minus is as long as a plus.
_LATEX = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
}


def _latex(text: str) -> str:
    escaped = "".join(_LATEX.get(char, char) for char in text)
    return re.sub(r"(?<![\w-])-(?=\d)", "$-$", escaped)


def _latex_row(cells: Iterable[str]) -> str:
    return f"{' & '.join(map(_latex, cells))} \\\\"


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown(cell: str | TableCell) -> str:
    text = str(cell).replace("|", r"\|")
    return f"`{text}`" if isinstance(cell, TableCell) and cell.kind == "code" else text


def _class(align: Align, kind: str) -> str:
    names = [name for name in ("left" if align == "left" else "", kind) if name]
    return f' class="{" ".join(names)}"' if names else ""


def _html(column: Column, cell: str | TableCell) -> str:
    kind = cell.kind if isinstance(cell, TableCell) else ""
    text = escape(str(cell))
    if kind == "code":
        kind, text = "", f"<code>{text}</code>"
    return f"<td{_class(column.align, kind)}>{text}</td>"
