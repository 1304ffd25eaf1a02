# SPDX-License-Identifier: GPL-2.0-or-later
"""What the figures have in common: the stretch that timelines show, and the lines of labels."""

from __future__ import annotations

from textwrap import fill

import polars as pl
from matplotlib.figure import Figure

from analysis.compare import Comparison
from analysis.derive import Derived
from analysis.engine import engine_words, error_words
from analysis.figures import style
from configs.platform import Cluster

#: Length of the stretch of time that timelines show, in ms.
TIMELINE_MS = 200
#: Size of the line below a figure in points, and its characters that the width has room for.
NOTE_PT = 6.8
LINE = 130


def stretch(run: Derived) -> tuple[int, int]:
    """Begin (ns since power-on) and length of the part that timelines show."""
    first = int(run.table("frequency")["t0_ns"].min())  # type: ignore[arg-type]
    whole = round(run.result.window_s * 1e9)
    return first, min(TIMELINE_MS * 1_000_000, whole)


def clock_steps(
    run: Derived, cluster: Cluster, length_ns: int, unit_ns: float
) -> tuple[list[float], list[float]]:
    """The corners of a cluster's clock over the first ``length_ns`` of the window.

    :param unit_ns: nanoseconds of a unit of time.
    :returns: times in that unit, and MHz.
    """
    start, _ = stretch(run)
    rows = run.table("frequency").filter(
        (pl.col("cluster") == cluster.index) & (pl.col("t0_ns") < start + length_ns)
    )
    times: list[float] = []
    mhz: list[float] = []
    for khz, t0, t1 in rows.select("khz", "t0_ns", "t1_ns").iter_rows():
        times += [max(t0 - start, 0) / unit_ns, min(t1 - start, length_ns) / unit_ns]
        mhz += [khz / 1000, khz / 1000]
    return times, mhz


def label(
    figure: Figure,
    comparison: Comparison,
    title: str,
    detail: str,
    height: float,
    headline: str = "",
    *,
    note_pt: float = NOTE_PT,
) -> None:
    """Title line and the line below that says where the figure comes from.

    :param height: of the figure, in inches.
    :param headline: what the figure answers; it stands in the title's place.
    :param note_pt: size of the line below, in points.
    """
    cell = comparison.cell
    title = f"{title}: {cell.scenario} on {cell.platform}"
    if headline:
        detail = f"{title}; {detail}"
    figure.text(
        0.012,
        1 - 0.05 / height,
        headline or title,
        fontsize=8.5 if headline else 9.5,
        fontweight="bold",
        va="top",
    )
    error = error_words(comparison.variants[comparison.baseline][0])
    figure.text(
        0.012,
        0.06 / height,
        fill(
            f"Engine: {engine_words(cell)} ({error}). {detail[:1].upper()}{detail[1:]}.",
            int(LINE * NOTE_PT / note_pt),
        ),
        fontsize=note_pt,
        color=style.MUTED,
        va="bottom",
    )
