# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures over a number, such as a count of OPPs: panels of lines with 95 % intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from analysis.figures import style
from analysis.figures.common import Note, text_width
from analysis.figures.grid import GridSizes, panel_grid

#: Markers by the place of a line in the legend: lines differ by colour and marker.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
#: Height of a row of the legend, in inches.
LEGEND_ROW = 0.17
SIZES = GridSizes(panel=1.35, left=0.56, right=0.1, below=0.42, legend=LEGEND_ROW, title_left=0.35)
#: Distance of neighbouring lines at one number, in shares of the axis.
APART = 0.008


@dataclass(frozen=True)
class LinePoint:
    """A mean, with its 95 % interval if there is one."""

    x: float
    y: float
    ends: tuple[float, float] | None


@dataclass(frozen=True)
class LineSeries:
    """A line.

    :param colour: its place in the palette.
    :param dashed: whether it is dashed, with open markers.
    :param level: a number without an x: drawn from side to side, without points.
    """

    label: str
    colour: int
    dashed: bool
    points: tuple[LinePoint, ...]
    level: float | None = None


@dataclass(frozen=True)
class LinePanel:
    """Lines of one measure.

    :param zero: whether zero has a line of its own.
    """

    title: str
    series: tuple[LineSeries, ...]
    zero: bool = False


@dataclass(frozen=True)
class LineAxis:
    """The number below the panels: its label, and its values with their words."""

    label: str
    ticks: tuple[tuple[float, str], ...]
    logarithmic: bool = False


def draw(rows: Sequence[Sequence[LinePanel]], axis: LineAxis, note: Note) -> Figure:
    """Rows of panels; all have one x axis, and one legend is above them."""
    shown = list(dict.fromkeys(_key(s) for row in rows for panel in row for s in panel.series))
    legend_rows = -(-len(shown) // _columns(shown))
    grid = panel_grid(rows, note, replace(SIZES, legend=LEGEND_ROW * legend_rows))
    for row in grid.rows:
        for panel, axes in row:
            _panel(axes, panel, axis, shown)
            if row is grid.rows[-1]:
                axes.set_xlabel(axis.label)
    _legend(grid.figure, shown, grid.legend_top)
    return grid.figure


def _key(series: LineSeries) -> tuple[str, int, bool, bool]:
    return series.label, series.colour, series.dashed, series.level is not None


def _columns(shown: Sequence[tuple[str, int, bool, bool]]) -> int:
    """How many entries of the legend a row has room for."""
    widest = max(text_width(words, 7.5) for words, *_ in shown) + 0.55
    return max(1, min(len(shown), int((style.WIDTH - 0.2) / widest)))


def _panel(
    axes: Axes, panel: LinePanel, axis: LineAxis, shown: Sequence[tuple[str, int, bool, bool]]
) -> None:
    if axis.logarithmic:
        axes.set_xscale("log")
    places = [x for x, _ in axis.ticks]
    _limits(axes, places, axis.logarithmic)
    if panel.zero:
        axes.axhline(0, color=style.INK, linewidth=0.8, zorder=1)
    for series in panel.series:
        colour = style.PALETTE[series.colour % len(style.PALETTE)]
        dashes = "--" if series.dashed else "-"
        if series.level is not None:
            axes.axhline(series.level, color=colour, linestyle=dashes, linewidth=0.9, zorder=1.5)
            continue
        shift = (shown.index(_key(series)) - (len(shown) - 1) / 2) * APART
        _line(axes, series, [_moved(axes, point.x, shift) for point in series.points], dashes)
    axes.set_xticks(places, [words for _, words in axis.ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(axis="y", color=style.GRID, linewidth=0.5, zorder=0)
    axes.margins(y=0.1)
    axes.locator_params(axis="y", nbins=5)
    axes.ticklabel_format(axis="y", useOffset=False)


def _limits(axes: Axes, places: Sequence[float], logarithmic: bool) -> None:
    low, high = min(places), max(places)
    if logarithmic:
        spread = (high / low) ** 0.06
        axes.set_xlim(low / spread, high * spread)
    else:
        spread = 0.06 * ((high - low) or 1)
        axes.set_xlim(low - spread, high + spread)


def _moved(axes: Axes, x: float, shift: float) -> float:
    """``x`` moved by a share of the axis."""
    low, high = axes.get_xlim()
    if axes.get_xscale() == "log":
        return float(x * (high / low) ** shift)
    return float(x + (high - low) * shift)


def _line(axes: Axes, series: LineSeries, xs: Sequence[float], dashes: str) -> None:
    colour = style.PALETTE[series.colour % len(style.PALETTE)]
    axes.plot(
        xs,
        [point.y for point in series.points],
        color=colour,
        linestyle=dashes,
        linewidth=1.1,
        marker=MARKERS[series.colour % len(MARKERS)],
        markersize=3.6,
        markerfacecolor="white" if series.dashed else colour,
        zorder=3,
    )
    for x, point in zip(xs, series.points, strict=True):
        if point.ends is not None:
            axes.plot((x, x), point.ends, color=colour, linewidth=0.9, zorder=2)


def _legend(figure: Figure, shown: Sequence[tuple[str, int, bool, bool]], top: float) -> None:
    handles = []
    for words, place, dashed, level in shown:
        colour = style.PALETTE[place % len(style.PALETTE)]
        handles.append(
            Line2D(
                [], [], color=colour, linestyle="--" if dashed else "-", linewidth=1.1,
                marker="" if level else MARKERS[place % len(MARKERS)], markersize=3.6,
                markerfacecolor="white" if dashed else colour, label=words,
            )
        )  # fmt: skip
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.012, top),
        ncols=_columns(shown),
        borderaxespad=0,
        handlelength=2.4,
        labelspacing=0.3,
    )
