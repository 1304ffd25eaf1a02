# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of the first figure: the parts for its notes."""

from __future__ import annotations

from analysis.results.first_figure import ComparedMeasure, FirstFigure
from host.table import Table
from studies.drawing import Drawing
from studies.first_figure.plan import NAME
from studies.patches import origin_words


def parts(record: FirstFigure) -> dict[str, str]:
    """Markdown by the names that the notes use."""
    total = record.measures[0]
    heads = ["", f"{record.baseline} (EAS)", f"{record.variant} (EAS off)", "difference", "95 %"]
    return {
        "energy": _energy(total),
        "conditions": f"* {record.scenario} on {record.platform}, fast engine, busy loops elided, "
        f"windows of {record.window_s:.0f} s, {record.seeds} seeds, energy in mJ.\n"
        f"* {origin_words(record.origin)}",
        "measures": Table.of(heads, map(_row, record.measures)).markdown(),
    }


def _energy(total: ComparedMeasure) -> str:
    """``cannot be told apart: +0.8 % (-2.5 to +3.7)``."""
    change = f"{total.percent:+.1f} % ({total.percent_low:+.1f} to {total.percent_high:+.1f})"
    return f"cannot be told apart: {change}" if total.low <= 0 <= total.high else change


def _row(measure: ComparedMeasure) -> list[str]:
    digits = 0 if measure.name.endswith("(us)") else 2 if measure.name.startswith("missed") else 1
    difference = _signed(measure.difference, digits)
    if measure.percent is not None:
        difference += f" ({measure.percent:+.1f} %)"
    interval = f"{_signed(measure.low, digits)} .. {_signed(measure.high, digits)}"
    return [
        measure.name,
        f"{measure.baseline:.{digits}f}",
        f"{measure.variant:.{digits}f}",
        difference,
        interval,
    ]


def _signed(value: float, digits: int) -> str:
    """With its sign; what is rounded to zero has none."""
    text = f"{value:+.{digits}f}"
    return text if float(text) else "0"


DRAWINGS = {NAME: Drawing(FirstFigure, parts)}
