# SPDX-License-Identifier: GPL-2.0-or-later
"""The energy figure: what each variant used, by cluster and component."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from analysis.answer import answers
from analysis.compare import Comparison
from analysis.figures import style
from analysis.figures.common import label
from analysis.records.result import Energy
from configs.billing import CHIP
from power.billed import TRANSITIONS


@dataclass(frozen=True)
class Layer:
    """A component of a cluster's energy, as a part of every bar."""

    cluster: str
    component: str
    colour: str
    hatch: str


def draw(comparison: Comparison) -> Figure:
    """Energy of the window by cluster and component, one bar per variant."""
    names = comparison.names
    energies = {name: comparison.means[name].energy_j for name in names}
    layers = _layers(comparison, energies)
    clusters = len({layer.cluster for layer in layers})
    height = 0.55 + 0.17 * clusters + 0.52 * len(names) + 0.78
    figure = Figure(figsize=(style.WIDTH, height))
    axes = figure.add_axes(
        (0.125, 0.74 / height, 0.86, (0.52 * len(names) + 0.06) / height),
    )
    top = max(energy.total for energy in energies.values()) * 1e3
    for row, name in enumerate(names):
        total = _bar(axes, layers, energies[name], row, top)
        text = f"{total:.1f} mJ{_difference(comparison, name)}"
        axes.text(total + 0.012 * top, row, text, va="center", ha="left", fontsize=7.5)
        _seed_marks(axes, comparison, name, row)
    axes.set_yticks(range(len(names)))
    axes.set_yticklabels(names, fontsize=8)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, top * 1.14)
    axes.set_xlabel(f"energy of the {_window_s(comparison):.3g} s window (mJ)")
    axes.grid(axis="x", color=style.GRID, linewidth=0.5, zorder=0)
    handles = _handles(layers)
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.12, 1 - 0.27 / height),
        ncols=len(handles) // clusters,
        borderaxespad=0,
        handlelength=1.3,
        handleheight=0.9,
        columnspacing=1.4,
    )
    power = comparison.power_model.name
    seeds = len(comparison.seeds)
    note = f"{power} power; " + (
        f"means over {seeds} seeds (dots: each seed)" if seeds > 1 else "one seed"
    )
    headline = answers(comparison)[0] if len(names) == 2 else ""
    label(figure, comparison, "Energy", note, height, headline)
    return figure


def _bar(axes: Axes, layers: list[Layer], energy: Energy, row: int, top: float) -> float:
    """One variant's bar; how long it is, in mJ.

    :param top: of the longest bar, in mJ: what is short next to it has no figure in it.
    """
    begin = 0.0
    for layer in layers:
        part = energy.cluster_component[layer.cluster].get(layer.component, 0.0) * 1e3
        axes.barh(
            [row], [part], left=begin, height=0.62, color=layer.colour,
            hatch=layer.hatch, edgecolor="white", linewidth=0.5, zorder=2,
        )  # fmt: skip
        if part > 0.055 * top:
            axes.text(
                begin + part / 2, row, f"{part:.1f}", ha="center", va="center",
                fontsize=7, color=style.ink_on(layer.colour), zorder=3,
                bbox={"facecolor": layer.colour, "edgecolor": "none", "pad": 1.2},
            )  # fmt: skip
        begin += part
    return begin


def _difference(comparison: Comparison, name: str) -> str:
    """Lines below a bar's total: the difference in percent, and whether the seeds decide it."""
    difference = comparison.total.differences.get(name)
    if difference is None or difference.percent is None:
        return ""
    return f"\n{difference.percent:+.1f} %" + ("\nundecided" if difference.clear is False else "")


def _window_s(comparison: Comparison) -> float:
    """Length of the window in s."""
    return comparison.variants[comparison.baseline][0].result.window_s


def _layers(comparison: Comparison, energies: Mapping[str, Energy]) -> list[Layer]:
    """The layers from left to right; parts that are 0 everywhere go."""
    layers = []
    for number, cluster in enumerate(comparison.platform.energy_parts):
        colour = style.INK if cluster == CHIP else style.CLUSTERS[number % len(style.CLUSTERS)]
        present = {
            component
            for energy in energies.values()
            for component, value in energy.cluster_component[cluster].items()
            if value > 0
        }
        idle = sorted(name for name in present - {*TRANSITIONS} if name.startswith("idle_"))
        order = [("active", 0.0, ""), ("idle_entry", 0.25, "...."), ("idle_exit", 0.25, "////")]
        order += [(name, 0.45 + 0.15 * number, "") for number, name in enumerate(idle)]
        order += [("shared", 0.78, "")]
        for component, amount, hatch in order:
            if component in present:
                layers.append(Layer(cluster, component, style.lighter(colour, amount), hatch))
    return layers


def _handles(layers: list[Layer]) -> list[Patch]:
    """Legend entries, a row per cluster: the legend is filled by columns, short rows are padded."""
    by_cluster: dict[str, list[Patch]] = {}
    for layer in layers:
        patch = Patch(
            facecolor=layer.colour,
            hatch=layer.hatch,
            edgecolor="white",
            label=f"{layer.cluster} {_words(layer.component)}",
        )
        by_cluster.setdefault(layer.cluster, []).append(patch)
    longest = max(len(patches) for patches in by_cluster.values())
    return [
        patches[column] if column < len(patches) else Patch(alpha=0, label=" ")
        for column in range(longest)
        for patches in by_cluster.values()
    ]


def _seed_marks(axes: Axes, comparison: Comparison, name: str, row: int) -> None:
    """A dot per seed at its total, when there are several."""
    if len(comparison.seeds) < 2:
        return
    totals = [comparison.results[name][seed].energy_j.total for seed in comparison.seeds]
    axes.plot(
        [1e3 * total for total in totals],
        [row + 0.38] * len(totals),
        linestyle="none",
        marker="o",
        markersize=2.2,
        color=style.INK,
        zorder=4,
        clip_on=False,
    )


def _words(component: str) -> str:
    return component.replace("_", " ")
