# SPDX-License-Identifier: GPL-2.0-or-later
"""The energy stack: the parts of each variant's energy, by cluster."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from eascope.analysis.compare import Comparison
from eascope.analysis.figures import style
from eascope.analysis.figures.common import (
    NAME_PT,
    bars_of,
    broken,
    label,
    legend,
    note_of,
    text_width,
)
from eascope.analysis.rows import STACK_WORDS
from eascope.configs.billing import CHIP
from eascope.power.events import STACK

#: One colour for each part, in the order of `STACK`: clock, units of the core, caches, leakage.
COLOURS = {
    "clock": "#5B6C7D",
    "front_end": "#0072B2",
    "execution": "#56B4E9",
    "load_store": "#9AD0EE",
    "l1": "#009E73",
    "l2": "#8FCFB8",
    "leakage": "#D55E00",
    "idle": "#F0B48A",
    "idle_entry": "#F2E6A0",
    "idle_exit": "#E0C94A",
    CHIP: "#8C8C8C",
    "controller": "#CC79A7",
}
#: The bar of the memory controller, whose energy no cluster has.
MEMORY = "memory"
#: Characters in a line of a bar's name.
BAR_LINE = 24


def known(comparison: Comparison) -> bool:
    """True if the power model of these runs knows the parts of a core's energy."""
    return all(
        bool(run.result.energy_j.cluster_stack)
        for runs in comparison.variants.values()
        for run in runs
    )


def draw(comparison: Comparison) -> Figure:
    """A bar per variant and cluster, from the clock to the idle exits; then the controller's."""
    spent = _spent(comparison)
    bars = [(name, unit) for unit in spent[comparison.baseline] for name in comparison.names]
    parts_shown = [
        part
        for part in (*STACK, "controller")
        if any(parts.get(part, 0) > 0 for units in spent.values() for parts in units.values())
    ]
    model = comparison.power_model.name
    seeds = len(comparison.seeds)
    means = f"means over {seeds} seeds" if seeds > 1 else "one seed"
    note = note_of(comparison, "Energy stack", f"{model} power; {means}")
    labels = [broken(f"{unit}, {name}", BAR_LINE) for name, unit in bars]
    names_in = max(text_width(name, NAME_PT) for name in labels)
    left = max(0.2, 0.025 + names_in / style.WIDTH)
    below = 0.74 + note.below
    height = 0.58 + note.above + 0.4 * len(bars) + below
    figure = Figure(figsize=(style.WIDTH, height))
    axes = figure.add_axes((left, below / height, 0.985 - left, (0.4 * len(bars)) / height))
    top = max(sum(spent[name][unit].values()) for name, unit in bars) * 1e3
    for row, (name, unit) in enumerate(bars):
        _bar(axes, row, {part: spent[name][unit].get(part, 0.0) for part in parts_shown}, top)
    bars_of(axes, labels, top, "energy of the window (mJ)")
    handles = [
        Patch(color=COLOURS[part], label=STACK_WORDS.get(part, part.replace("_", " ")))
        for part in parts_shown
    ]
    corner = (0.012, 1 - (0.25 + note.above) / height)
    legend(figure, handles, corner, 5, handlelength=1.2, handleheight=0.9, columnspacing=1.2)
    label(figure, note)
    return figure


def _bar(axes: Axes, row: int, parts: Mapping[str, float], top: float) -> None:
    """A bar of ``parts``, energies in J.

    :param top: of the longest bar, in mJ: what is short next to it has no figure in it.
    """
    begin = 0.0
    for part, joules in parts.items():
        value = joules * 1e3
        axes.barh(
            [row], [value], left=begin, height=0.66, color=COLOURS[part],
            edgecolor="white", linewidth=0.5, zorder=2,
        )  # fmt: skip
        if value > 0.06 * top:
            axes.text(
                begin + value / 2, row, f"{value:.1f}", ha="center", va="center",
                fontsize=6.5, color=style.ink_on(COLOURS[part]), zorder=3,
            )  # fmt: skip
        begin += value
    axes.text(begin + 0.012 * top, row, f"{begin:.1f} mJ", va="center", fontsize=7)


def _spent(comparison: Comparison) -> dict[str, dict[str, dict[str, float]]]:
    """Energy in J by variant, then cluster (or memory, where it was simulated), then part."""
    everywhere = all(mean.memory_j is not None for mean in comparison.means.values())
    spent = {}
    for name in comparison.names:
        mean = comparison.means[name]
        units = {
            part: dict(mean.energy_j.cluster_stack[part])
            for part in comparison.platform.energy_parts
        }
        if everywhere and mean.memory_j is not None:
            units[MEMORY] = {"controller": mean.memory_j.controller}
        spent[name] = units
    return spent
