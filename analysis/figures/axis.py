# SPDX-License-Identifier: GPL-2.0-or-later
"""One measure's differences in many comparisons: a row for each, with its 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from eascope.analysis.difference import Difference
from eascope.analysis.figures import style
from eascope.analysis.ranges import PERCENT_CHANGE, cut

#: Height of a row, and of what is above and below the rows, in inches; share of the labels.
ROW, ABOVE, BELOW, LEFT = 0.2, 0.3, 0.5, 0.42
#: An axis that no bar leaves.
_ALL = (-inf, inf)


def draw(rows: Sequence[tuple[str, Difference]], title: str, measure: str) -> Figure:
    """Differences in percent, as `mark` has them.

    :param rows: words and difference of each comparison, from the top.
    """
    height = ABOVE + ROW * len(rows) + BELOW
    figure = Figure(figsize=(style.WIDTH, height))
    axes = figure.add_axes((LEFT, BELOW / height, 0.985 - LEFT, ROW * len(rows) / height))
    for place, (_, diff) in enumerate(rows):
        mark(axes, place, diff)
    axes.axvline(0, color=style.INK, linewidth=0.8, zorder=1)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), [words for words, _ in rows])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=style.GRID, linewidth=0.5, zorder=0)
    axes.margins(x=0.08)
    axes.set_xlabel(f"difference of {measure} (%), 95 % intervals; filled: excludes zero")
    figure.text(0.012, 1 - 0.2 / height, title, fontweight="bold")
    return figure


def mark(
    axes: Axes,
    place: int,
    diff: Difference,
    noise: float | None = None,
    shown: tuple[float, float] | None = None,
) -> None:
    """A difference in percent in the row ``place``: filled where its 95 % interval excludes zero.

    Without an interval it has a cross; in percent of zero, no mark.

    :param noise: a difference up to this size, in percent, is not filled.
    :param shown: the ends of the axis, if bars may go on beyond it: they get arrows there.
    """
    if diff.percent is None:
        return
    ends = possible(diff.in_percent())
    if ends is not None:
        axes.plot(ends, (place, place), color=style.INK, linewidth=1.2, zorder=2)
    for goes_on, marker, end in zip(beyond(ends, shown or _ALL), "<>", shown or _ALL, strict=True):
        if goes_on:
            axes.plot(
                [end], [place], marker=marker, markersize=4, color=style.INK, linestyle="none",
                clip_on=False, zorder=3,
            )  # fmt: skip
    clear = diff.clear_above(noise)
    axes.plot(
        [diff.percent], [place], marker="x" if diff.clear is None else "o", markersize=4.5,
        color=style.INK, markerfacecolor=style.INK if clear else "white", linestyle="none",
        zorder=3,
    )  # fmt: skip


def possible(ends: tuple[float, float] | None) -> tuple[float, float] | None:
    """An interval cut to what a difference in percent can be."""
    return None if ends is None else (cut(ends[0], PERCENT_CHANGE), cut(ends[1], PERCENT_CHANGE))


def beyond(ends: tuple[float, float] | None, axis: tuple[float, float]) -> tuple[bool, bool]:
    """Whether an interval goes on below an axis, and above it."""
    return (False, False) if ends is None else (ends[0] < axis[0], ends[1] > axis[1])
