# SPDX-License-Identifier: GPL-2.0-or-later
"""Differences in energy at every value of the model axes, with their 95 % intervals."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from eascope.analysis.compare import Comparison
from eascope.analysis.difference import Difference
from eascope.analysis.figures import style
from eascope.analysis.figures.common import (
    LINE_HEIGHT,
    Note,
    broken,
    label,
    legend,
    note_of,
    text_width,
)
from eascope.analysis.overall import AS_ASKED, LESS, MORE, NO_TEST, SAME, Assumed, sign
from eascope.analysis.robust_text import differences_at, energy_label
from eascope.analysis.statistics import ENOUGH

#: Colour and marker of what an interval says: each differs by both.
MARKS = {
    LESS: ("#0072B2", "o"),
    MORE: ("#D55E00", "s"),
    SAME: (style.MUTED, "D"),
    NO_TEST: (style.MUTED, "x"),
}
#: Height of a row, and of what is above and below the rows, in inches.
ROW, ABOVE, BELOW = 0.2, 0.62, 0.8
#: Size of a panel's title, in points.
TITLE_PT = 8.5


def draw(comparison: Comparison) -> Figure:
    """A panel per variant with a row per value; the asked one is on top, its interval a band."""
    rows: list[tuple[str, Assumed | None]] = [
        (AS_ASKED, None),
        *((f"{at.axis}  {at.value}", at) for at in comparison.assumed),
    ]
    others = comparison.names[1:]
    shown = [(words, differences_at(comparison, at)) for words, at in rows]
    inner = ROW * len(rows)
    panels = len(others)
    left, gap = 0.235, 0.02
    width = (0.985 - left - gap * (panels - 1)) / panels
    titles = [_title(name, comparison.overall(name).word, width * style.WIDTH) for name in others]
    note = _note(comparison)
    more = max(title.count("\n") for title in titles) * LINE_HEIGHT * TITLE_PT / 72
    below = BELOW + note.below
    height = ABOVE + more + note.above + inner + below
    figure = Figure(figsize=(style.WIDTH, height))
    used = set()
    for number, name in enumerate(others):
        axes = figure.add_axes(
            (left + number * (width + gap), below / height, width, inner / height)
        )
        asked = comparison.primary.differences[name].in_percent()
        if asked is not None:
            axes.axvspan(*asked, color=style.GRID, linewidth=0, zorder=0)
        for place, (_, differences) in enumerate(shown):
            if (diff := differences[name]) is not None:
                used.add(_mark(axes, place, diff))
        axes.axvline(0, color=style.INK, linewidth=0.8, zorder=1)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_yticks(range(len(rows)), [words for words, _ in rows] if number == 0 else [])
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color=style.GRID, linewidth=0.5, zorder=0)
        axes.margins(x=0.08)
        axes.locator_params(axis="x", nbins=max(3, 8 // panels))
        axes.set_title(titles[number], fontsize=TITLE_PT, pad=4)
    figure.text(
        (left + 0.985) / 2,
        (below - 0.36) / height,
        f"{energy_label(comparison)}, difference from {comparison.baseline} (%)",
        ha="center",
    )
    _legend(figure, [word for word in MARKS if word in used], 1 - (0.24 + note.above) / height)
    label(figure, note)
    return figure


def _note(comparison: Comparison) -> Note:
    seeds = len(comparison.seeds)
    tested = seeds >= ENOUGH
    intervals = (
        f"95 % intervals over {seeds} seeds, band: as configured" if tested else "no intervals"
    )
    return note_of(comparison, "Model axes", f"one at a time; {intervals}")


def _title(name: str, word: str, width: float) -> str:
    """A panel's title on as many lines as its width in inches asks for."""
    if text_width(one_line := f"{name}: {word}", TITLE_PT, "bold") <= width:
        return one_line
    # Of the mean width of a bold character, which is 0.7 of its size.
    line = int(width * 72 / (0.7 * TITLE_PT))
    return f"{broken(f'{name}:', line)}\n{broken(word, line)}"


def _mark(axes: Axes, place: int, diff: Difference) -> str:
    """Draw one difference; returns the answer of its interval."""
    word = sign(diff)
    colour, marker = MARKS[word]
    if diff.percent is None:
        return word
    ends = diff.in_percent()
    if ends is not None:
        axes.plot(
            ends, (place, place), color=colour, linewidth=1.4, solid_capstyle="butt", zorder=2
        )
    face = "white" if word == SAME else colour
    axes.plot(
        [diff.percent], [place], marker=marker, markersize=4.5, color=colour,
        markerfacecolor=face, linestyle="none", zorder=3,
    )  # fmt: skip
    return word


def _legend(figure: Figure, words: list[str], top: float) -> None:
    handles = [
        Line2D(
            [], [], marker=MARKS[word][1], color=MARKS[word][0], linewidth=1.4, markersize=4.5,
            markerfacecolor="white" if word == SAME else MARKS[word][0], label=word,
        )
        for word in words
    ]  # fmt: skip
    legend(figure, handles, (0.012, top), handlelength=2)
