# SPDX-License-Identifier: GPL-2.0-or-later
"""The 50 ms around the first difference of two runs, one above the other on one time axis."""

from __future__ import annotations

from itertools import cycle
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from eascope.analysis.engine import engine_words, error_words
from eascope.analysis.figures import style
from eascope.analysis.figures.common import (
    LINE,
    NOTE_PT,
    TITLE_IN,
    Note,
    clock_steps,
    label,
    legend,
    wrapped,
)
from eascope.analysis.figures.placement import draw_slices, lanes
from eascope.analysis.run_diff import RunDiff, decided
from eascope.analysis.run_diff_text import cells, of_both, said
from eascope.analysis.run_side import Side
from eascope.analysis.stream import REQUEST, Decision

#: What is shown before the difference and after it, and a step of the power, in ns.
BEFORE_NS, AFTER_NS, STEP_NS = 10_000_000, 40_000_000, 250_000
#: Heights in inches: a CPU's lane, the panels of clocks and of power, and above and below all.
LANE_IN, CLOCK_IN, POWER_IN, ABOVE_IN, BELOW_IN = 0.15, 0.6, 0.5, 0.72, 0.75
TITLE_PT = 8.5


def svg(diff: RunDiff) -> str:
    """The picture as SVG, of runs in which a decision differs."""
    with style.styled():
        return style.svg_of(draw(diff), "divergence")


def draw(diff: RunDiff) -> Figure:
    """Lanes of CPUs, clocks and power of A, then of B."""
    pair = diff.firsts[0]
    at, last = decided(pair).t_ns, max(side.window.ns for side in (diff.a, diff.b))
    begin = max(0, min(at - BEFORE_NS, last - BEFORE_NS - AFTER_NS))
    shown = begin, min(begin + BEFORE_NS + AFTER_NS, last)
    sides = (diff.a, diff.b)
    names = dict.fromkeys(
        task
        for side in sides
        for task in side.derived.table("slices")["task"].unique(maintain_order=True)
        if task is not None
    )
    colours = dict(zip(names, cycle(style.PALETTE), strict=False))
    note = _note(diff)
    lane = LANE_IN * len(diff.platform.cpus)
    ratios = [lane, CLOCK_IN, POWER_IN] * 2
    above, below = ABOVE_IN + note.above, BELOW_IN + note.below
    height = above + sum(ratios) * 1.35 + below
    figure = Figure(figsize=(style.WIDTH, height))
    grid = figure.add_gridspec(
        6, 1, height_ratios=ratios, left=0.105, right=0.985, hspace=0.42,
        top=1 - above / height, bottom=below / height,
    )  # fmt: skip
    panels = [figure.add_subplot(grid[row, 0]) for row in range(6)]
    powers = [_power(side, shown) for side in sides]
    most = max(float(power.max(initial=1.0)) for _, power in powers)
    for place, (side, decision) in enumerate(zip(sides, pair, strict=True)):
        own = panels[3 * place : 3 * place + 3]
        lanes(own[0], side.platform)
        draw_slices(own[0], side.derived.table("slices"), colours, side.window.t0_ns, shown)
        own[0].set_title(f"{'AB'[place]}: {side.derived.cell.variant}")
        _clocks(own[1], side, shown)
        at_ms, mw = powers[place]
        if len(mw):  # the window may end before what is shown
            own[2].step(at_ms, np.append(mw, mw[-1:]), where="post", color=style.INK, linewidth=0.8)
        own[2].set_ylim(0, 1.08 * most)
        own[2].set_ylabel("mW")
        _mark(own, at, decision)
        for axes in own:
            axes.set_xlim(shown[0] / 1e6, shown[1] / 1e6)
            axes.tick_params(labelbottom=axes is panels[-1])
    panels[-1].set_xlabel("time since START of each run (ms)")
    handles = [Patch(color=colour, label=task) for task, colour in colours.items()]
    handles.append(Patch(color=style.REST, label="other threads"))
    corner = (0.1, 1 - (0.27 + note.above) / height)
    legend(figure, handles, corner, min(len(handles), 6), handlelength=1.1, columnspacing=1.4)
    label(figure, note)
    return figure


def _note(diff: RunDiff) -> Note:
    engines = (
        f"{engine_words(run.cell)} ({error_words(run)})" for run in (diff.a.derived, diff.b.derived)
    )
    text = fill(
        f"{cells(diff)}. Engine: {of_both(*engines)}. Dashed: the first difference. "
        "Power: the whole machine.",
        LINE,
    )
    return Note(wrapped(said(diff), TITLE_IN, TITLE_PT, "bold"), TITLE_PT, text, NOTE_PT)


def _clocks(axes: Axes, side: Side, shown: tuple[int, int]) -> None:
    """A line for each cluster."""
    for cluster in side.platform.clusters:
        x, y = clock_steps(side.derived, cluster, shown[1], 1e6, shown[0])
        colour = style.CLUSTERS[cluster.index % len(style.CLUSTERS)]
        axes.plot(x, y, color=colour, linewidth=1.0, label=cluster.name)
    axes.set_ylim(0, 1.08 * max(each.max_khz for each in side.platform.clusters) / 1000)
    axes.set_ylabel("MHz")
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 0.97), ncols=len(side.platform.clusters),
        fontsize=7, handlelength=1.0, borderaxespad=0,
    )  # fmt: skip


def _power(side: Side, shown: tuple[int, int]) -> tuple[list[float], np.ndarray]:
    """The edges of steps in ms since START, and the machine's power in each in mW."""
    last = min(shown[1], side.window.ns)
    edges = [*range(shown[0], last, STEP_NS), last]
    spent = np.diff(side.energy.until(edges))
    return [edge / 1e6 for edge in edges], spent / np.diff(edges) / 1e3


def _mark(panels: list[Axes], at_ns: int, decision: Decision | None) -> None:
    """A line at the difference, and a triangle in the lane of the CPU that was chosen."""
    moment = decision.t_ns if decision else at_ns
    for axes in panels:
        axes.axvline(moment / 1e6, color=style.INK, linewidth=0.7, linestyle="--", gid="first")
    if decision and decision.kind != REQUEST:
        panels[0].plot(
            [moment / 1e6], [decision.value], marker=">", color=style.INK, markersize=5,
            markeredgecolor="white", zorder=4, gid="chosen",
        )  # fmt: skip
