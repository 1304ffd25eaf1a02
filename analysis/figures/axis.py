# SPDX-License-Identifier: GPL-2.0-or-later
"""One measure's differences in many comparisons: a row for each, with its 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from analysis.difference import Difference
from analysis.figures import style
from analysis.figures.common import Note, label

#: Height of a row, and of what is above and below the rows, in inches; share of the labels.
ROW, ABOVE, BELOW, LEFT = 0.2, 0.3, 0.5, 0.42
#: Height of a note below, in inches.
FOOT = 0.36


def draw(
    rows: Sequence[tuple[str, Difference]], title: str, measure: str, note: Note | None = None
) -> Figure:
    """Differences in percent: a filled mark where the 95 % interval excludes zero.

    Without an interval, or in percent of zero, a row has a cross or no mark.

    :param rows: words and difference of each comparison, from the top.
    :param note: its title replaces ``title``; its text goes below.
    """
    below = BELOW + (FOOT + note.below if note else 0)
    above = ABOVE + (note.above if note else 0)
    height = above + ROW * len(rows) + below
    figure = Figure(figsize=(style.WIDTH, height))
    axes = figure.add_axes((LEFT, below / height, 0.985 - LEFT, ROW * len(rows) / height))
    for place, (_, made) in enumerate(rows):
        if made.percent is None:
            continue
        if (ends := made.in_percent()) is not None:
            axes.plot(ends, (place, place), color=style.INK, linewidth=1.4, zorder=2)
        marker = "x" if made.clear is None else "o"
        face = style.INK if made.clear else "white"
        axes.plot(
            [made.percent], [place], marker=marker, markersize=4.5, color=style.INK,
            markerfacecolor=face, linestyle="none", zorder=3,
        )  # fmt: skip
    axes.axvline(0, color=style.INK, linewidth=0.8, zorder=1)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), [words for words, _ in rows])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=style.GRID, linewidth=0.5, zorder=0)
    axes.margins(x=0.08)
    axes.set_xlabel(f"difference of {measure} (%), 95 % intervals; filled: excludes zero")
    if note is None:
        figure.text(0.012, 1 - 0.2 / height, title, fontweight="bold")
    else:
        label(figure, note)
    return figure
