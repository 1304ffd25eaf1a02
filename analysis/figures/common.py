# SPDX-License-Identifier: GPL-2.0-or-later
"""What the figures have in common: the stretch that timelines show, and the lines of labels."""

from __future__ import annotations

from textwrap import fill

from matplotlib.figure import Figure

from analysis.compare import Comparison
from analysis.derive import Derived
from analysis.engine import engine_words, error_words
from analysis.figures import style

#: Length of the stretch of time that timelines show, in ms.
TIMELINE_MS = 200
#: Characters of the line below a figure that its width has room for.
LINE = 130


def stretch(run: Derived) -> tuple[int, int]:
    """Begin (ns since power-on) and length of the part that timelines show."""
    first = int(run.table("frequency")["t0_ns"].min())  # type: ignore[arg-type]
    whole = round(run.result.window_s * 1e9)
    return first, min(TIMELINE_MS * 1_000_000, whole)


def label(
    figure: Figure,
    comparison: Comparison,
    title: str,
    detail: str,
    height: float,
    headline: str = "",
) -> None:
    """Title line and the line below that says where the figure comes from.

    :param headline: what the figure answers; it stands in the title's place.
    """
    cell = comparison.cell
    title = f"{title}: {cell.scenario} on {cell.platform}"
    if headline:
        detail = f"{title}; {detail}"
    figure.text(
        0.012,
        1 - 0.05 / height,
        headline or title,
        fontsize=8.5 if headline else 9.5,
        fontweight="bold",
        va="top",
    )
    error = error_words(cell, comparison.power_model.name)
    figure.text(
        0.012,
        0.06 / height,
        fill(f"Engine: {engine_words(cell)} ({error}). {detail[:1].upper()}{detail[1:]}.", LINE),
        fontsize=6.8,
        color=style.MUTED,
        va="bottom",
    )
