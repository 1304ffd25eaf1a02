# SPDX-License-Identifier: GPL-2.0-or-later
"""The frequency figure: clocks over time, and the share of time at each OPP."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from eascope.analysis.compare import Comparison
from eascope.analysis.derive import Derived
from eascope.analysis.figures import style
from eascope.analysis.figures.common import (
    NAME_PT,
    broken,
    clock_steps,
    label,
    mark_events,
    note_of,
    stretch,
    text_width,
)
from eascope.analysis.records.cell import event_times
from eascope.configs.platform import Cluster

#: A timeline shows the whole window as long as it has no more changes than this.
MOST_CHANGES = 400
#: From a clock's axis to the names on its left: room for the numbers, in points.
NAME_AWAY_PT = 36


def draw(comparison: Comparison) -> Figure:
    """Clock of each cluster over time, and the share of the window at each OPP."""
    platform = comparison.platform
    names = comparison.names
    count = len(platform.clusters) * len(names)
    seed = comparison.variants[comparison.baseline][0].cell.seed
    several = "; shares are means over seeds" if len(comparison.seeds) > 1 else ""
    note = note_of(comparison, "Frequency", f"seed {seed}{several}")
    above, below = 0.52 + note.above, 0.72 + note.below
    height = above + 0.62 * count + 0.2 * len(platform.clusters) + below - 0.12
    names_in = max(text_width(broken(name), NAME_PT) for name in names) + NAME_AWAY_PT / 72
    figure = Figure(figsize=(style.WIDTH, height))
    # Clusters have a gap between them.
    ratios = [0.32, *([1.0] * len(names))] * len(platform.clusters)
    del ratios[0]
    grid = figure.add_gridspec(
        len(ratios),
        2,
        width_ratios=(2.2, 1.3),
        height_ratios=ratios,
        left=max(0.165, 0.012 + names_in / style.WIDTH),
        right=0.985,
        top=1 - above / height,
        bottom=below / height,
        wspace=0.08,
        hspace=0.28,
    )
    for number, cluster in enumerate(platform.clusters):
        first = number * (len(names) + 1)
        rows = [
            (figure.add_subplot(grid[row, 0]), figure.add_subplot(grid[row, 1]))
            for row in range(first, first + len(names))
        ]
        _cluster(comparison, cluster, rows)
    label(figure, note)
    return figure


def _cluster(comparison: Comparison, cluster: Cluster, rows: Sequence[tuple[Axes, Axes]]) -> None:
    """The clock under each variant on the left, the shares of OPPs on the right."""
    names = comparison.names
    runs = [comparison.variants[name][0] for name in names]
    length_ns = _length_ns(runs)
    unit, scale = ("s", 1e9) if length_ns >= 2_000_000_000 else ("ms", 1e6)
    for (left, right), name, run in zip(rows, names, runs, strict=True):
        _clock(left, run, cluster, length_ns, scale)
        _name(left, name)
        _residency(right, comparison, cluster, name)
        left.tick_params(labelbottom=False)
        right.tick_params(labelbottom=False, left=False, labelleft=False)
    left, right = rows[0]
    left.set_title(f"{cluster.name}: clock (MHz)")
    # From the right: it is wider than its axes next to long names.
    right.set_title("time at each OPP (%; MHz in the bar)", fontweight="normal", loc="right")
    if cluster is comparison.platform.clusters[-1]:
        left, right = rows[-1]
        left.tick_params(labelbottom=True)
        right.tick_params(labelbottom=True)
        left.set_xlabel(f"time since START ({unit})")
        right.set_xlabel("share of the window (%)")


def _length_ns(runs: list[Derived]) -> int:
    """The part of the window in the timelines: all of it, unless clocks change too often.

    With events it is all of it.
    """
    whole = min(round(run.result.window_s * 1e9) for run in runs)
    changes = max(
        table["len"].max()  # type: ignore[type-var]
        for run in runs
        for table in [run.table("frequency").group_by("cluster").len()]
    )
    if event_times(runs[0].cell):
        return whole
    return whole if int(changes) <= MOST_CHANGES else stretch(runs[0])[1]  # type: ignore[arg-type]


def _clock(axes: Axes, run: Derived, cluster: Cluster, length: int, scale: float) -> None:
    x, y = clock_steps(run, cluster, length, scale)
    colour = style.CLUSTERS[cluster.index % len(style.CLUSTERS)]
    axes.fill_between(x, y, color=style.lighter(colour, 0.75), linewidth=0, zorder=1)
    axes.plot(x, y, color=colour, linewidth=0.9, zorder=2)
    mark_events(axes, run, length, scale)
    fastest = cluster.opps[-1].khz / 1000
    ticks = _apart([opp.khz / 1000 for opp in cluster.opps], 0.26 * fastest)
    axes.set_yticks(ticks)
    axes.set_yticklabels([f"{tick:g}" for tick in ticks])
    axes.set_ylim(0, fastest * 1.08)
    axes.set_xlim(0, length / scale)
    axes.grid(axis="y", color=style.GRID, linewidth=0.5, zorder=0)


def _name(axes: Axes, name: str) -> None:
    """The variant, to the left of its row."""
    axes.annotate(
        broken(name),
        (0, 0.5),
        xycoords="axes fraction",
        xytext=(-NAME_AWAY_PT, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=NAME_PT,
    )


def _apart(values: list[float], distance: float) -> list[float]:
    """The largest value and, going down, every value at least ``distance`` below the last kept."""
    kept = [values[-1]]
    for value in reversed(values):
        if kept[-1] - value >= distance:
            kept.append(value)
    return kept


def _residency(axes: Axes, comparison: Comparison, cluster: Cluster, name: str) -> None:
    shares = comparison.means[name].residency[cluster.name]
    colour = style.CLUSTERS[cluster.index % len(style.CLUSTERS)]
    begin = 0.0
    for number, opp in enumerate(cluster.opps):
        share = 100 * shares[str(opp.khz)]
        fill = style.shade(colour, number / max(len(cluster.opps) - 1, 1))
        axes.barh([0], [share], left=begin, height=0.7, color=fill, edgecolor="white", lw=0.5)
        if share >= 11:
            mhz = f"{opp.khz / 1000:g}"
            axes.text(
                begin + share / 2,
                0,
                f"{mhz}: {share:.0f} %" if share >= 28 else mhz,
                ha="center",
                va="center",
                fontsize=7,
                color=style.ink_on(fill),
            )
        begin += share
    axes.set_ylim(-0.5, 0.5)
    axes.set_xlim(0, 100)
    axes.spines["left"].set_visible(False)
