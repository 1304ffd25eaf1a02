# SPDX-License-Identifier: GPL-2.0-or-later
"""Two measures against each other, with the Pareto front of the named points in each panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import style
from analysis.figures.common import Note, legend_in_a_row, text_width
from analysis.figures.grid import GridSizes, panel_grid
from analysis.pareto import front

#: Height of a panel's inside in inches, and the size of a point's name in points.
PANEL, NAME_PT = 1.9, 6.8
SIZES = GridSizes(panel=PANEL, left=0.6, right=0.15, below=0.45, legend=0.2, title_left=0.4)
#: Colours of points on the front, of the front, and of all other points.
ON, OFF = style.PALETTE[0], style.PALETTE[1]


@dataclass(frozen=True)
class FrontPoint:
    """Means of both measures, with their 95 % intervals if there are any.

    :param beaten: whether another point is clearly better in both.
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


def draw(rows: Sequence[Sequence[FrontPanel]], note: Note) -> Figure:
    """Rows of panels; the panels of a row have the same axes."""
    grid = panel_grid(rows, note, SIZES)
    for row in grid.rows:
        every = [point for panel, _ in row for point in panel.points]
        for column, (panel, axes) in enumerate(row):
            _limits(axes, every)
            _panel(axes, panel, grid.width)
            axes.set_xlabel(panel.x_label)
            if column == 0:
                axes.set_ylabel(panel.y_label)
    _legend(grid.figure, grid.legend_top)
    return grid.figure


def _limits(axes: Axes, points: Sequence[FrontPoint]) -> None:
    for values, ends, limit in (
        ([p.x for p in points], [p.x_ends for p in points], axes.set_xlim),
        ([p.y for p in points], [p.y_ends for p in points], axes.set_ylim),
    ):
        every = [*values, *(end for pair in ends if pair is not None for end in pair)]
        spread = 0.1 * ((max(every) - min(every)) or abs(max(every)) or 1)
        limit(min(every) - spread, max(every) + spread)


def _panel(axes: Axes, panel: FrontPanel, width: float) -> None:
    best = [panel.points[place] for place in front([(p.x, p.y) for p in panel.points])]
    axes.plot(
        [point.x for point in best],
        [point.y for point in best],
        color=ON,
        linewidth=1.0,
        drawstyle="steps-post",
        zorder=2,
    )
    for point in panel.points:
        on = point in best
        colour = ON if on else OFF
        for ends, line in (
            (point.x_ends, lambda pair, at=point: (pair, (at.y, at.y))),
            (point.y_ends, lambda pair, at=point: ((at.x, at.x), pair)),
        ):
            if ends is not None:
                axes.plot(*line(ends), color=colour, linewidth=0.8, zorder=2)
        axes.plot(
            [point.x], [point.y], marker="o" if on else "s", markersize=4.5, color=colour,
            markerfacecolor="white" if point.beaten else colour, linestyle="none", zorder=3,
        )  # fmt: skip
    for point, (x, y) in zip(panel.points, _places(axes, panel.points, width), strict=True):
        axes.annotate(
            point.name, (point.x, point.y), (x * 72, y * 72), textcoords="offset points",
            fontsize=NAME_PT, ha="center", va="center", zorder=4,
        )  # fmt: skip
    axes.grid(color=style.GRID, linewidth=0.5, zorder=0)
    axes.locator_params(nbins=5)
    axes.ticklabel_format(useOffset=False)


#: A rectangle in inches: left, bottom, right, top.
Box = tuple[float, float, float, float]


def _places(axes: Axes, points: Sequence[FrontPoint], width: float) -> list[tuple[float, float]]:
    """The middle of each name from its point, in inches: where least lies below it."""
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    at = [((p.x - x0) / (x1 - x0) * width, (p.y - y0) / (y1 - y0) * PANEL) for p in points]
    used: list[Box] = [(x - 0.035, y - 0.035, x + 0.035, y + 0.035) for x, y in at]
    places = []
    for point, (x, y) in zip(points, at, strict=True):
        half, high = text_width(point.name, NAME_PT) / 2, NAME_PT / 144
        near = [(half + 0.07, 0.07), (-half - 0.07, 0.07), (half + 0.07, -0.07)]
        near += [(-half - 0.07, -0.07), (0.0, high + 0.07), (0.0, -high - 0.07)]
        near += [(half + 0.07, 0.17), (-half - 0.07, -0.17), (half + 0.07, -0.17)]
        boxes = {(a, b): (x + a - half, y + b - high, x + a + half, y + b + high) for a, b in near}
        inside = (0.0, 0.0, width, PANEL)
        best = min(
            near,
            key=lambda move: (
                sum(_common(boxes[move], other) for other in used)
                + _area(boxes[move])
                - _common(boxes[move], inside)
            ),
        )
        used.append(boxes[best])
        places.append(best)
    return places


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _common(first: Box, second: Box) -> float:
    """The area that two rectangles share."""
    wide = min(first[2], second[2]) - max(first[0], second[0])
    high = min(first[3], second[3]) - max(first[1], second[1])
    return wide * high if wide > 0 and high > 0 else 0.0


def _legend(figure: Figure, top: float) -> None:
    handles = [
        Line2D([], [], color=ON, linewidth=1.0, marker="o", markersize=4.5, label="front of means"),
        Line2D([], [], color=OFF, linestyle="none", marker="s", markersize=4.5, label="not on it"),
        Line2D(
            [], [], color=OFF, linestyle="none", marker="s", markersize=4.5,
            markerfacecolor="white", label="open: another has clearly less energy and latency",
        ),
    ]  # fmt: skip
    legend_in_a_row(figure, handles, top)
