# SPDX-License-Identifier: GPL-2.0-or-later
"""Two measures of named points against each other, with 95 % intervals, in each panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import style
from analysis.figures.common import LEGEND_ROW, Note, legend_height, legend_in_rows
from analysis.figures.grid import GridSizes, panel_grid
from analysis.pareto import front

SIZES = GridSizes(panel=2.1, left=0.6, right=0.15, below=0.45, legend=0.0, title_left=0.4)
#: Each name has a colour and a marker of its own: points may lie on each other, names do not.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
#: Sizes of markers in points: stars and triangles fill less of theirs.
SIZE, SIZES_OF = 5.0, {"^": 5.8, "v": 5.8, "D": 4.6, "P": 6.0, "X": 6.0, "*": 8.0}


@dataclass(frozen=True)
class FrontPoint:
    """Means of both measures, with their 95 % intervals if there are any.

    :param beaten: whether another point is clearly better, by the words of `draw`.
    """

    name: str
    x: float
    y: float
    x_ends: tuple[float, float] | None
    y_ends: tuple[float, float] | None
    beaten: bool


@dataclass(frozen=True)
class FrontPanel:
    """Points of one scenario and variant."""

    title: str
    x_label: str
    y_label: str
    points: tuple[FrontPoint, ...]


def draw(rows: Sequence[Sequence[FrontPanel]], note: Note, beaten: str) -> Figure:
    """Rows of panels; the panels of a row have the same axes.

    The front of the means is a thin line and no verdict: means may differ by chance.

    :param beaten: what another point clearly has than one with an open mark.
    """
    names = list(dict.fromkeys(p.name for row in rows for panel in row for p in panel.points))
    legend = legend_height(names) + LEGEND_ROW
    grid = panel_grid(rows, note, replace(SIZES, legend=legend))
    for row in grid.rows:
        every = [point for panel, _ in row for point in panel.points]
        for column, (panel, axes) in enumerate(row):
            _limits(axes, every)
            _panel(axes, panel, names)
            axes.set_xlabel(panel.x_label)
            if column == 0:
                axes.set_ylabel(panel.y_label)
    _legends(grid.figure, grid.legend_top, names, beaten)
    return grid.figure


def _limits(axes: Axes, points: Sequence[FrontPoint]) -> None:
    for values, ends, limit in (
        ([p.x for p in points], [p.x_ends for p in points], axes.set_xlim),
        ([p.y for p in points], [p.y_ends for p in points], axes.set_ylim),
    ):
        every = [*values, *(end for pair in ends if pair is not None for end in pair)]
        low, high = min(every), max(every)
        spread = 0.06 * ((high - low) or abs(high) or 1)
        limit(max(low - spread, 0.0) if low >= 0 else low - spread, high + spread)


def _panel(axes: Axes, panel: FrontPanel, names: Sequence[str]) -> None:
    best = [panel.points[place] for place in front([(p.x, p.y) for p in panel.points])]
    axes.plot(
        [point.x for point in best],
        [point.y for point in best],
        color=style.MUTED,
        linewidth=0.7,
        linestyle="--",
        drawstyle="steps-post",
        zorder=1.5,
    )
    for point in panel.points:
        colour, marker = looks(names.index(point.name))
        for ends, line in (
            (point.x_ends, lambda pair, at=point: (pair, (at.y, at.y))),
            (point.y_ends, lambda pair, at=point: ((at.x, at.x), pair)),
        ):
            if ends is not None:
                axes.plot(*line(ends), color=colour, linewidth=0.8, zorder=2)
        # A mark on the axis is drawn whole.
        axes.plot(
            [point.x], [point.y], marker=marker, markersize=SIZES_OF.get(marker, SIZE),
            color=colour, markerfacecolor="white" if point.beaten else colour, linestyle="none",
            clip_on=False, zorder=3,
        )  # fmt: skip
    axes.grid(color=style.GRID, linewidth=0.5, zorder=0)
    axes.set_axisbelow(True)
    axes.locator_params(nbins=5)
    axes.ticklabel_format(useOffset=False)


def looks(place: int) -> tuple[str, str]:
    """Colour and marker of a name, by its place; no two of the first 64 have both in common."""
    colours = len(style.PALETTE)
    return style.PALETTE[place % colours], MARKERS[(place + place // colours) % len(MARKERS)]


def _legends(figure: Figure, top: float, names: Sequence[str], beaten: str) -> None:
    handles = []
    for place, name in enumerate(names):
        colour, marker = looks(place)
        handles.append(
            Line2D(
                [], [], color=colour, linestyle="none", marker=marker, label=name,
                markersize=SIZES_OF.get(marker, SIZE),
            )
        )  # fmt: skip
    legend_in_rows(figure, handles, top)
    meanings = [
        Line2D(
            [], [], color=style.MUTED, linestyle="none", marker="o", markersize=SIZE,
            markerfacecolor="white", label=f"open: another has {beaten}",
        ),
        Line2D(
            [], [], color=style.MUTED, linewidth=0.7, linestyle="--",
            label="front of the means, which may differ by chance",
        ),
    ]  # fmt: skip
    legend_in_rows(figure, meanings, top - legend_height(names) / figure.get_figheight())
