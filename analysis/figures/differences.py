# SPDX-License-Identifier: GPL-2.0-or-later
"""Differences of some measures in groups of comparisons: a row for each, a panel for a measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from analysis.difference import Difference
from analysis.figures import style
from analysis.figures.axis import mark
from analysis.figures.common import Note, label, text_width
from analysis.figures.reach import MeanAndEnds, beyond, possible, reach

#: Height of a row, and of what is above and below all rows, in inches.
ROW, ABOVE, BELOW = 0.165, 0.32, 0.78
#: Size of the words of a row in points; inches that they stand further right than a group's.
WORDS_PT, INDENT = 7.5, 0.12
#: Inches between panels and at the right.
BETWEEN, RIGHT = 0.2, 0.12
#: Space at both ends of an axis, in shares of what it shows.
SPACE = 0.08


@dataclass(frozen=True)
class DifferenceRow:
    """A comparison.

    :param made: by the measures of the drawing; None where there is none.
    """

    name: str
    made: tuple[Difference | None, ...]


@dataclass(frozen=True)
class DifferenceGroup:
    """Comparisons below a heading.

    :param noise: by the measures of the drawing: differences up to this size are noise.
    """

    title: str
    noise: tuple[float | None, ...]
    rows: tuple[DifferenceRow, ...]


def draw(groups: Sequence[DifferenceGroup], measures: Sequence[str], note: Note) -> Figure:
    """A panel for each measure that has a difference: the same rows in each, in percent."""
    shown = [
        place
        for place in range(len(measures))
        if any(row.made[place] is not None for group in groups for row in group.rows)
    ]
    count = sum(1 + len(group.rows) for group in groups)
    above, below = ABOVE + note.above, BELOW + note.below
    height = above + ROW * count + below
    figure = Figure(figsize=(style.WIDTH, height))
    left = _left(groups)
    width = (style.WIDTH - left - RIGHT - BETWEEN * (len(shown) - 1)) / max(len(shown), 1)
    for column, measure in enumerate(shown):
        start = left + column * (width + BETWEEN)
        axes = figure.add_axes(
            (start / style.WIDTH, below / height, width / style.WIDTH, ROW * count / height)
        )
        axes.set_xlim(_limits(groups, measure))
        place = 0
        for group in groups:
            noise = group.noise[measure]
            if noise is not None:
                _band(axes, noise, place, len(group.rows))
            for row in group.rows:
                place += 1
                difference = row.made[measure]
                if difference is not None:
                    mark(axes, place, difference, noise, axes.get_xlim())
            place += 1
        axes.axvline(0, color=style.INK, linewidth=0.8, zorder=1)
        axes.set_ylim(count - 0.5, -0.5)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x", color=style.GRID, linewidth=0.5, zorder=0.5)
        axes.set_axisbelow(True)
        axes.locator_params(axis="x", nbins=6)
        axes.set_xlabel(f"{measures[measure]}, difference (%)")
    _names(figure, groups, above, height)
    label(figure, note)
    return figure


def goes_on(groups: Sequence[DifferenceGroup]) -> bool:
    """Whether a bar leaves its axis; an arrow says so."""
    places = range(len(groups[0].noise)) if groups else ()
    return any(
        any(beyond(ends, _limits(groups, place)))
        for place in places
        for _, ends in _made(groups, place)
    )


def _made(groups: Sequence[DifferenceGroup], measure: int) -> list[MeanAndEnds]:
    return [
        (difference.percent, possible(difference.in_percent()))
        for group in groups
        for row in group.rows
        if (difference := row.made[measure]) is not None and difference.percent is not None
    ]


def _limits(groups: Sequence[DifferenceGroup], measure: int) -> tuple[float, float]:
    """The x axis of a measure."""
    noise = [size for group in groups if (size := group.noise[measure]) is not None]
    low, high = reach(_made(groups, measure), noise)
    space = SPACE * (high - low) or 1.0
    return low - space, high + space


def _band(axes: Axes, noise: float, heading: int, rows: int) -> None:
    axes.add_patch(
        Rectangle(
            (-noise, heading + 0.5), 2 * noise, rows, color=style.BAND, linewidth=0, zorder=0.4
        )
    )


def _left(groups: Sequence[DifferenceGroup]) -> float:
    """Inches of the widest words."""
    titles = [text_width(group.title, WORDS_PT, "bold") for group in groups]
    names = [INDENT + text_width(row.name, WORDS_PT) for group in groups for row in group.rows]
    return max([*titles, *names], default=0.0) + 0.2


def _names(figure: Figure, groups: Sequence[DifferenceGroup], above: float, height: float) -> None:
    place = 0
    for group in groups:
        for words, indent, weight in (
            (group.title, 0.0, "bold"),
            *((row.name, INDENT, "normal") for row in group.rows),
        ):
            figure.text(
                0.012 + indent / style.WIDTH, 1 - (above + ROW * (place + 0.5)) / height, words,
                fontsize=WORDS_PT, fontweight=weight, va="center_baseline",
            )  # fmt: skip
            place += 1
