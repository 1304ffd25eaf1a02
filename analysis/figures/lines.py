# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures over a number, such as a count of OPPs: panels of lines with 95 % intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from analysis.figures import style
from analysis.figures.common import Note, legend_height, legend_in_rows, wrapped
from analysis.figures.grid import GridSizes, panel_grid
from analysis.figures.reach import beyond, reach

#: Markers by the place of a line in the legend: lines differ by colour and marker.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
SIZES = GridSizes(
    panel=1.3, left=0.74, right=0.1, below=0.17, legend=0.0, title_left=0.62, last=0.2
)
#: Size of the label of a panel's measure, in points.
LABEL_PT = 7.0
#: Distance of neighbouring lines at one number, in inches, and the share of the space between two
#: numbers that all lines have at most.
APART, SHARED = 0.058, 0.6
#: Share of the largest mean that an axis of means shows at least: small differences look small.
LEAST = 0.05
#: Space above and below the data, in shares of it.
MARGIN = 0.08


@dataclass(frozen=True)
class LinePoint:
    """A mean, with its 95 % interval if there is one.

    :param common: whether all lines have it; it is drawn once.
    """

    x: float
    y: float
    ends: tuple[float, float] | None
    common: bool = False


@dataclass(frozen=True)
class LineSeries:
    """A line.

    :param colour: its place in the palette.
    :param dashed: whether it is dashed, with open markers.
    """

    label: str
    colour: int
    dashed: bool
    points: tuple[LinePoint, ...]


@dataclass(frozen=True)
class LineLevel:
    """A number without an x: drawn from side to side, with a band for its interval."""

    label: str
    y: float
    ends: tuple[float, float] | None


@dataclass(frozen=True)
class LinePanel:
    """Lines of one measure.

    :param title: above the panel; empty where one to the left speaks for it.
    :param y_label: the measure and its unit.
    :param differences: whether the measure is a difference: zero has a line of its own. Nothing
        else is below zero.
    :param least: what the axis spans at least.
    :param noise: differences up to this size are noise: a band round zero.
    """

    title: str
    y_label: str
    series: tuple[LineSeries, ...]
    levels: tuple[LineLevel, ...] = ()
    differences: bool = False
    least: float = 0.0
    noise: float | None = None


@dataclass(frozen=True)
class LineAxis:
    """The number below the panels: its label, and its values with their words.

    :param common: what the legend calls points that all lines have.
    """

    label: str
    ticks: tuple[tuple[float, str], ...]
    logarithmic: bool = False
    common: str = ""


def draw(
    rows: Sequence[Sequence[LinePanel]], axis: LineAxis, note: Note, *, alike: bool = False
) -> Figure:
    """Rows of panels; all have one x axis, and one legend is above them.

    :param alike: whether the panels of a column have one y axis: they show the same measure.
    """
    panels = [panel for row in rows for panel in row]
    handles = list(_handles(panels, axis))
    labels = [str(handle.get_label()) for handle in handles]
    grid = panel_grid(rows, note, replace(SIZES, legend=legend_height(labels)))
    shown = list(dict.fromkeys(_key(series) for panel in panels for series in panel.series))
    for place, row in enumerate(grid.rows):
        for column, (panel, axes) in enumerate(row):
            same = [row[column] for row in rows if len(row) > column] if alike else [panel]
            _x_axis(axes, axis)
            axes.set_ylim(*limits(same))
            axes.set_ylabel(wrapped(panel.y_label, SIZES.panel, LABEL_PT), fontsize=LABEL_PT)
            _panel(axes, panel, shifts(axis, len(shown), grid.width), shown)
            if all(len(below) <= column for below in grid.rows[place + 1 :]):
                axes.set_xlabel(axis.label)
    legend_in_rows(grid.figure, handles, grid.legend_top)
    return grid.figure


def _key(series: LineSeries) -> tuple[str, int, bool]:
    return series.label, series.colour, series.dashed


def limits(panels: Sequence[LinePanel]) -> tuple[float, float]:
    """The y axis of panels: with all intervals, and not below zero but for differences.

    Of differences, `reach` says which intervals are shown to their ends.
    """
    numbers = [number for panel in panels for number in _numbers(panel)]
    low, high = min(numbers), max(numbers)
    differences = any(panel.differences for panel in panels)
    least = max(panel.least for panel in panels)
    if not differences:
        least = max(least, LEAST * max(map(abs, numbers)))
    more = max(0.0, (least or 1.0 if low == high else least) - (high - low)) / 2
    low, high = low - more, high + more
    space = MARGIN * (high - low)
    if differences or low - space >= 0:
        return low - space, high + space
    return 0.0, high + space - min(low, 0.0)


def goes_on(panel: LinePanel) -> bool:
    """Whether a bar of a panel with an axis of its own leaves it; an arrow says so."""
    axis = limits([panel])
    return any(any(beyond(p.ends, axis)) for series in panel.series for p in series.points)


def _numbers(panel: LinePanel) -> Iterator[float]:
    points = [point for series in panel.series for point in series.points]
    if panel.differences:
        noise = [] if panel.noise is None else [panel.noise]
        yield from reach([(point.y, point.ends) for point in points], noise)
    else:
        for point in points:
            yield point.y
            yield from point.ends or ()
    for level in panel.levels:
        yield level.y
        yield from level.ends or ()


def _spread(axis: LineAxis) -> tuple[float, float]:
    """The ends of the x axis: on a logarithmic one, their logarithms."""
    places = _places(axis)
    spread = 0.07 * ((places[-1] - places[0]) or 1)
    return places[0] - spread, places[-1] + spread


def _places(axis: LineAxis) -> list[float]:
    return sorted(log(x) if axis.logarithmic else x for x, _ in axis.ticks)


def shifts(axis: LineAxis, lines: int, width: float) -> list[float]:
    """How far each line's points stand from their number, in shares of the axis.

    :param width: inches of the axis.
    """
    low, high = _spread(axis)
    gap = min((b - a for a, b in pairwise(_places(axis))), default=high - low) / (high - low)
    apart = min(APART / width, SHARED * gap / lines) if lines else 0.0
    return [(place - (lines - 1) / 2) * apart for place in range(lines)]


def _x_axis(axes: Axes, axis: LineAxis) -> None:
    low, high = _spread(axis)
    if axis.logarithmic:
        axes.set_xscale("log", base=2)
        low, high = 2 ** (low / log(2)), 2 ** (high / log(2))
    axes.set_xlim(low, high)
    axes.set_xticks([x for x, _ in axis.ticks], [words for _, words in axis.ticks])
    axes.xaxis.set_minor_locator(NullLocator())


def _panel(
    axes: Axes, panel: LinePanel, moves: Sequence[float], shown: Sequence[tuple[str, int, bool]]
) -> None:
    if panel.noise is not None:
        axes.axhspan(-panel.noise, panel.noise, color=style.BAND, linewidth=0, zorder=0.4)
    if panel.differences:
        axes.axhline(0, color=style.INK, linewidth=0.8, zorder=1)
    for level in panel.levels:
        if level.ends is not None:
            axes.axhspan(*level.ends, color=style.BAND, linewidth=0, zorder=0.4)
        axes.axhline(level.y, color=style.INK, linestyle=":", linewidth=1.1, zorder=1.5)
    for series in panel.series:
        _line(axes, series, moves[shown.index(_key(series))])
    for point in dict.fromkeys(p for each in panel.series for p in each.points if p.common):
        _mark(axes, point.x, point, style.INK, "o", "white")
    axes.grid(axis="y", color=style.GRID, linewidth=0.5, zorder=0)
    axes.set_axisbelow(True)
    axes.locator_params(axis="y", nbins=5)
    axes.ticklabel_format(axis="y", useOffset=False)


def _line(axes: Axes, series: LineSeries, move: float) -> None:
    colour, face, marker = _looks(series.colour, dashed=series.dashed)
    xs = [point.x if point.common else _moved(axes, point.x, move) for point in series.points]
    axes.plot(
        xs, [point.y for point in series.points], color=colour,
        linestyle="--" if series.dashed else "-", linewidth=1.0, zorder=2.5,
    )  # fmt: skip
    for x, point in zip(xs, series.points, strict=True):
        if not point.common:
            _mark(axes, x, point, colour, marker, face)


def _looks(colour: int, *, dashed: bool) -> tuple[str, str, str]:
    """Colour, that of the inside of markers, and marker."""
    named = style.PALETTE[colour % len(style.PALETTE)]
    return named, "white" if dashed else named, MARKERS[colour % len(MARKERS)]


def _mark(axes: Axes, x: float, point: LinePoint, colour: str, marker: str, face: str) -> None:
    if point.ends is not None:
        axes.plot((x, x), point.ends, color=colour, linewidth=0.8, zorder=2)
    for goes_on, end_marker, end in zip(
        beyond(point.ends, axes.get_ylim()), "v^", axes.get_ylim(), strict=True
    ):
        if goes_on:
            axes.plot(
                [x], [end], color=colour, marker=end_marker, markersize=3.2, linestyle="none",
                clip_on=False, zorder=3,
            )  # fmt: skip
    # A mark on the axis is drawn whole.
    axes.plot(
        [x], [point.y], color=colour, marker=marker, markersize=3.6, markerfacecolor=face,
        linestyle="none", clip_on=False, zorder=3,
    )  # fmt: skip


def _moved(axes: Axes, x: float, shift: float) -> float:
    """``x`` moved by a share of the axis."""
    low, high = axes.get_xlim()
    if axes.get_xscale() == "log":
        return float(x * (high / low) ** shift)
    return float(x + (high - low) * shift)


def _handles(panels: Sequence[LinePanel], axis: LineAxis) -> Iterator[Artist]:
    for words, place, dashed in dict.fromkeys(_key(s) for panel in panels for s in panel.series):
        colour, face, marker = _looks(place, dashed=dashed)
        yield Line2D(
            [], [], color=colour, linestyle="--" if dashed else "-", linewidth=1.0, label=words,
            marker=marker, markersize=3.6, markerfacecolor=face,
        )  # fmt: skip
    if any(point.common for panel in panels for s in panel.series for point in s.points):
        yield Line2D(
            [], [], color=style.INK, linestyle="none", marker="o", markersize=3.6,
            markerfacecolor="white", label=axis.common,
        )  # fmt: skip
    for words in dict.fromkeys(level.label for panel in panels for level in panel.levels):
        yield Line2D([], [], color=style.INK, linestyle=":", linewidth=1.1, label=words)
    if any(panel.noise is not None for panel in panels):
        yield Patch(color=style.BAND, linewidth=0, label="noise floor")
