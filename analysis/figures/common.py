# SPDX-License-Identifier: GPL-2.0-or-later
"""Common parts of figures: the stretch of time that timelines show, and the lines of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill

import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from eascope.analysis.compare import Comparison
from eascope.analysis.derive import Derived
from eascope.analysis.engine import engine_words, error_words
from eascope.analysis.figures import style
from eascope.configs.platform import Cluster

#: Length of the stretch of time that timelines show, in ms.
TIMELINE_MS = 200
#: Size of the line below a figure in points, and its characters that the width has room for.
NOTE_PT = 6.8
LINE = 130
#: Lines of the text below that every figure has room for.
NOTE_LINES = 2
#: Height of a line, in its size.
LINE_HEIGHT = 1.25
#: Width of the title above a figure, in inches.
TITLE_IN = 0.94 * style.WIDTH
#: Size of a variant's name next to its row, and characters of it in a line.
NAME_PT = 8.0
NAME_LINE = 16


def stretch(run: Derived) -> tuple[int, int]:
    """Begin (ns since power-on) and length of the part that timelines show."""
    first = int(run.table("frequency")["t0_ns"].min())  # type: ignore[arg-type]
    whole = round(run.result.window_s * 1e9)
    return first, min(TIMELINE_MS * 1_000_000, whole)


def clock_steps(
    run: Derived, cluster: Cluster, length_ns: int, unit_ns: float, begin_ns: int = 0
) -> tuple[list[float], list[float]]:
    """The corners of a cluster's clock over the first ``length_ns`` of the window.

    :param begin_ns: what is before it is left out.
    :param unit_ns: nanoseconds of a unit of time.
    :returns: times in that unit, and MHz.
    """
    start, _ = stretch(run)
    rows = run.table("frequency").filter(
        pl.col("cluster") == cluster.index,
        pl.col("t0_ns") < start + length_ns,
        pl.col("t1_ns") > start + begin_ns,
    )
    times: list[float] = []
    mhz: list[float] = []
    for khz, t0, t1 in rows.select("khz", "t0_ns", "t1_ns").iter_rows():
        times += [max(t0 - start, begin_ns) / unit_ns, min(t1 - start, length_ns) / unit_ns]
        mhz += [khz / 1000, khz / 1000]
    return times, mhz


def mark_events(axes: Axes, run: Derived, length_ns: int, unit_ns: float) -> None:
    """Draw the scenario's events as lines, in the first ``length_ns`` of the window."""
    at_ns = 0.0
    for stage_ms in [*run.result.more.get("stage_ms", {}).values()][:-1]:
        at_ns += 1e6 * stage_ms
        if at_ns < length_ns:
            axes.axvline(at_ns / unit_ns, color=style.INK, lw=0.8, ls=":", zorder=3, gid="event")


def broken(name: str, line: int = NAME_LINE) -> str:
    """A name on lines of at most ``line`` characters, broken after hyphens where it has some."""
    return fill(name, line)


def text_width(text: str, pt: float, weight: str = "normal") -> float:
    """Width of the widest line of ``text`` in inches.

    It follows from the font's outlines, so it does not depend on host or backend.
    """
    font = FontProperties(size=pt, weight=weight)
    lines = [line for line in text.splitlines() if line]
    return max(TextPath((0, 0), line, prop=font).get_extents().width for line in lines) / 72


def wrapped(text: str, width: float, pt: float, weight: str = "normal") -> str:
    """``text`` on as many lines as a width in inches asks for; words stay whole."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, pt, weight) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(lines)


@dataclass(frozen=True)
class Note:
    """The texts above and below a figure, in lines that fit its width.

    :param title: the bold line above: the figure's answer, or else its name.
    """

    title: str
    title_pt: float
    text: str
    text_pt: float

    @property
    def above(self) -> float:
        """Inches that the title needs besides those of its first line."""
        return self.title.count("\n") * LINE_HEIGHT * self.title_pt / 72

    @property
    def below(self) -> float:
        """Inches that the text needs besides those of `NOTE_LINES` lines."""
        lines = self.text.count("\n") + 1
        return max(lines - NOTE_LINES, 0) * LINE_HEIGHT * self.text_pt / 72


def note_of(
    comparison: Comparison,
    title: str,
    detail: str,
    headline: str = "",
    *,
    pt: float = NOTE_PT,
) -> Note:
    """The texts above and below a figure of ``comparison``.

    :param headline: the figure's answer; it replaces the title.
    :param pt: size of the line below, in points.
    """
    cell = comparison.cell
    title = f"{title}: {cell.scenario} on {cell.platform}"
    if headline:
        detail = f"{title}; {detail}"
    error = error_words(comparison.variants[comparison.baseline][0])
    text = fill(
        f"Engine: {engine_words(cell)} ({error}). {detail[:1].upper()}{detail[1:]}.",
        int(LINE * NOTE_PT / pt),
    )
    title_pt = 8.5 if headline else 9.5
    return Note(wrapped(headline or title, TITLE_IN, title_pt, "bold"), title_pt, text, pt)


def label(figure: Figure, note: Note) -> None:
    """Write the texts above and below."""
    height = figure.get_figheight()
    figure.text(
        0.012,
        1 - 0.05 / height,
        note.title,
        fontsize=note.title_pt,
        fontweight="bold",
        va="top",
    )
    figure.text(
        0.012,
        0.06 / height,
        note.text,
        fontsize=note.text_pt,
        color=style.MUTED,
        va="bottom",
    )


def legend(
    figure: Figure,
    handles: Sequence[Artist],
    corner: tuple[float, float],
    columns: int | None = None,
    **sizes: float,
) -> None:
    """A legend whose upper left corner is at ``corner`` of the figure.

    :param columns: None: all in a row.
    """
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=corner,
        ncols=columns or len(handles),
        borderaxespad=0,
        **sizes,
    )


def bars_of(axes: Axes, names: Sequence[str], longest_mj: float, words: str) -> None:
    """The axes of lying bars: a row for each of ``names``, the first on top, and energies in mJ."""
    axes.set_yticks(range(len(names)), names, fontsize=NAME_PT)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, (longest_mj or 1.0) * 1.14)
    axes.set_xlabel(words)
    axes.grid(axis="x", color=style.GRID, linewidth=0.5, zorder=0)
