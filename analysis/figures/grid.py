# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of several panels in rows, with titles above and a legend over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures import style
from analysis.figures.common import LINE_HEIGHT, Note, label, wrapped

#: Inches above a panel for one line of its title, and for the figure's texts above and below.
ABOVE, TITLE, FOOT = 0.26, 0.24, 0.36
#: Size of a panel's title, in points.
TITLE_PT = 7.5


class Titled(Protocol):
    """A panel."""

    @property
    def title(self) -> str:
        """The text above it."""


Panel = TypeVar("Panel", bound=Titled)


@dataclass(frozen=True)
class GridSizes:
    """Sizes in inches: the height of a panel's inside, and what is left, right and below it.

    :param last: inches more below the last row: for the label of its axes.
    :param legend: height of the legend.
    :param title_left: how far left of a panel's inside its title begins.
    """

    panel: float
    left: float
    right: float
    below: float
    legend: float
    title_left: float
    last: float = 0.0


@dataclass(frozen=True)
class PanelGrid(Generic[Panel]):
    """A figure with empty panels.

    :param rows: each panel with its axes, by row.
    :param width: inches of a panel's inside.
    :param legend_top: the upper end of the legend, in shares of the figure's height.
    """

    figure: Figure
    rows: tuple[tuple[tuple[Panel, Axes], ...], ...]
    width: float
    legend_top: float


def panel_grid(rows: Sequence[Sequence[Panel]], note: Note, sizes: GridSizes) -> PanelGrid[Panel]:
    """The figure for ``rows`` of panels, with all of its texts but those of axes and legend."""
    columns = max(len(row) for row in rows)
    width = style.WIDTH / columns - sizes.left - sizes.right
    titles = [
        [
            wrapped(panel.title, room * style.WIDTH / columns - sizes.right - 0.1, TITLE_PT, "bold")
            for panel, room in zip(row, _rooms(row), strict=True)
        ]
        for row in rows
    ]
    more = max(title.count("\n") for row in titles for title in row)
    above = ABOVE + more * LINE_HEIGHT * TITLE_PT / 72
    top, bottom = TITLE + note.above + sizes.legend, FOOT + note.below + sizes.last
    row_height = above + sizes.panel + sizes.below
    height = top + len(rows) * row_height + bottom
    figure = Figure(figsize=(style.WIDTH, height))
    made = []
    for place, row in enumerate(rows):
        base = bottom + (len(rows) - 1 - place) * row_height + sizes.below
        panels = []
        for column, panel in enumerate(row):
            left = column * style.WIDTH / columns + sizes.left
            axes = figure.add_axes(
                (left / style.WIDTH, base / height, width / style.WIDTH, sizes.panel / height)
            )
            axes.set_title(
                titles[place][column], fontsize=TITLE_PT, pad=4, x=-sizes.title_left / width
            )
            panels.append((panel, axes))
        made.append(tuple(panels))
    label(figure, note)
    return PanelGrid(figure, tuple(made), width, 1 - (TITLE + note.above) / height)


def _rooms(row: Sequence[Titled]) -> list[int]:
    """How many panels each title may reach over: those that have none do not need theirs."""
    rooms = []
    for place in range(len(row)):
        titled = (other for other in range(place + 1, len(row)) if row[other].title)
        rooms.append(next(titled, len(row)) - place)
    return rooms
