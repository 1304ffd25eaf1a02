# SPDX-License-Identifier: GPL-2.0-or-later
"""The placement figure: which thread ran on which CPU."""

from __future__ import annotations

from itertools import cycle

import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from eascope.analysis.compare import Comparison
from eascope.analysis.derive import Derived
from eascope.analysis.figures import style
from eascope.analysis.figures.common import label, legend, mark_events, note_of, stretch
from eascope.configs.platform import Platform


def draw(comparison: Comparison) -> Figure:
    """Threads by CPU: a stretch of the timeline, and the whole window's shares."""
    platform = comparison.platform
    names = comparison.names
    colours = dict(zip(comparison.tasks, cycle(style.PALETTE), strict=False))
    seed = comparison.variants[comparison.baseline][0].cell.seed
    note = note_of(comparison, "Placement", f"seed {seed}")
    above, below = 0.75 + note.above, 0.72 + note.below
    height = above + len(names) * (0.46 + 0.17 * len(platform.cpus)) + below - 0.3
    figure = Figure(figsize=(style.WIDTH, height))
    grid = figure.add_gridspec(
        len(names),
        2,
        width_ratios=(3.1, 1),
        left=0.105,
        right=0.985,
        top=1 - above / height,
        bottom=below / height,
        wspace=0.06,
        hspace=0.42,
    )
    widest = max(_busiest_percent(comparison.variants[name][0]) for name in names)
    for number, name in enumerate(names):
        run = comparison.variants[name][0]
        left = figure.add_subplot(grid[number, 0])
        right = figure.add_subplot(grid[number, 1], sharey=left)
        _timeline(left, run, platform, colours)
        _shares(right, run, platform, colours, widest)
        left.set_title(name)
        right.set_title("share of the window", fontweight="normal")
        last = number == len(names) - 1
        left.tick_params(labelbottom=last)
        right.tick_params(labelbottom=last)
        if last:
            left.set_xlabel("time since START (ms)")
            right.set_xlabel("CPU time (%)")
    handles = [Patch(color=colour, label=task) for task, colour in colours.items()]
    handles.append(Patch(color=style.REST, label="other threads"))
    corner = (0.1, 1 - (0.27 + note.above) / height)
    sizes = {"handlelength": 1.1, "handleheight": 0.9, "columnspacing": 1.4}
    legend(figure, handles, corner, min(len(handles), 6), **sizes)
    label(figure, note)
    return figure


def lanes(axes: Axes, platform: Platform) -> None:
    """One lane per CPU, CPU 0 at the top; clusters are set apart by a tint."""
    for cluster in platform.clusters:
        tint = style.lighter(style.CLUSTERS[cluster.index % len(style.CLUSTERS)], 0.92)
        axes.axhspan(cluster.cpus[0] - 0.5, cluster.cpus[-1] + 0.5, color=tint, lw=0, zorder=0)
    axes.set_ylim(len(platform.cpus) - 0.5, -0.5)
    axes.set_yticks(list(platform.cpus))
    axes.set_yticklabels([f"{platform.cluster_of(cpu).name} {cpu}" for cpu in platform.cpus])
    axes.tick_params(axis="y", length=0)


def _busiest_percent(run: Derived) -> float:
    """How much of the window the busiest CPU was busy."""
    placed = run.table("placement").group_by("cpu").agg(pl.col("run_ns").sum())
    return 100 * max(placed["run_ns"].to_list(), default=0) / (run.result.window_s * 1e9)


def _timeline(axes: Axes, run: Derived, platform: Platform, colours: dict[str, str]) -> None:
    start, length = stretch(run)
    lanes(axes, platform)
    mark_events(axes, run, length, 1e6)
    draw_slices(axes, run.table("slices"), colours, start, (0, length))


def draw_slices(
    axes: Axes, slices: pl.DataFrame, colours: dict[str, str], start: int, shown: tuple[int, int]
) -> None:
    """Boxes of what ran on each CPU, in ms since START.

    :param start: START, in ns since power-on.
    :param shown: begin and end of the stretch, in ns since START.
    """
    begin, end = shown
    inside = slices.filter((pl.col("t1_ns") > start + begin) & (pl.col("t0_ns") < start + end))
    for task in [None, *colours]:
        rows = inside.filter(
            pl.col("task").is_null() if task is None else pl.col("task") == task
        ).select("cpu", "t0_ns", "t1_ns")
        boxes = []
        for cpu, t0, t1 in rows.iter_rows():
            x0 = max(t0 - start, begin) / 1e6
            x1 = min(t1 - start, end) / 1e6
            boxes.append([(x0, cpu - 0.36), (x1, cpu - 0.36), (x1, cpu + 0.36), (x0, cpu + 0.36)])
        colour = style.REST if task is None else colours[task]
        # The thin edge keeps a slice of a few microseconds visible.
        axes.add_collection(
            PolyCollection(boxes, facecolor=colour, edgecolor=colour, linewidth=0.25, zorder=2)
        )
    axes.set_xlim(begin / 1e6, end / 1e6)


def _shares(
    axes: Axes, run: Derived, platform: Platform, colours: dict[str, str], widest: float
) -> None:
    placed = run.table("placement")
    whole = run.result.window_s * 1e9
    lanes(axes, platform)
    axes.tick_params(labelleft=False)
    filled = dict.fromkeys(platform.cpus, 0.0)
    for task in [*colours, None]:
        rows = placed.filter(pl.col("task").is_null() if task is None else pl.col("task") == task)
        by_cpu = dict(rows.group_by("cpu").agg(pl.col("run_ns").sum()).sort("cpu").iter_rows())
        widths = [100 * by_cpu.get(cpu, 0) / whole for cpu in platform.cpus]
        axes.barh(
            list(platform.cpus),
            widths,
            left=[filled[cpu] for cpu in platform.cpus],
            height=0.72,
            color=style.REST if task is None else colours[task],
            zorder=2,
        )
        for cpu, width in zip(platform.cpus, widths, strict=True):
            filled[cpu] += width
    limit = min(100.0, max(widest * 1.22, 5.0))
    for cpu, total in filled.items():
        if total >= 0.05:
            inside = total > 0.82 * limit
            axes.text(
                total - 0.015 * limit if inside else total + 0.015 * limit,
                cpu,
                f"{total:.1f}",
                va="center",
                ha="right" if inside else "left",
                color="#FFFFFF" if inside else style.INK,
                fontsize=7,
                zorder=3,
            )
    axes.set_xlim(0, limit)
    axes.grid(axis="x", color=style.GRID, linewidth=0.5, zorder=1)
    axes.set_axisbelow(True)
