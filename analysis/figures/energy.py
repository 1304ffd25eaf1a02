# SPDX-License-Identifier: GPL-2.0-or-later
"""The energy figure: the energy of each variant, by cluster and component.

Its bars show the energy that the comparison uses: of the window, or per unit of work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from eascope.analysis.answer import answers
from eascope.analysis.compare import Comparison
from eascope.analysis.figures import style
from eascope.analysis.figures.common import (
    NAME_PT,
    Note,
    bars_of,
    broken,
    label,
    legend,
    note_of,
    text_width,
)
from eascope.analysis.records.result import Tables
from eascope.configs.billing import CHIP
from eascope.power.model import TRANSITIONS


@dataclass(frozen=True)
class Layer:
    """A component of a cluster's energy, as a part of every bar."""

    cluster: str
    component: str
    colour: str
    hatch: str


def draw(comparison: Comparison) -> Figure:
    """Energy by cluster and component, one bar per variant."""
    names = comparison.names
    energies = {name: _energy_mj(comparison, name) for name in names}
    layers = _layers(comparison, energies)
    clusters = len({layer.cluster for layer in layers})
    note = _note(comparison)
    labels = [broken(name) for name in names]
    names_in = max(text_width(name, NAME_PT) for name in labels)
    left = max(0.125, 0.025 + names_in / style.WIDTH)
    below = 0.74 + note.below
    height = 0.59 + note.above + 0.17 * clusters + 0.52 * len(names) + below
    figure = Figure(figsize=(style.WIDTH, height))
    axes = figure.add_axes(
        (left, below / height, 0.985 - left, (0.52 * len(names) + 0.06) / height),
    )
    top = max(
        sum(value for parts in energy.values() for value in parts.values())
        for energy in energies.values()
    )
    # The energy of a unit of work may be far below 1 mJ.
    digits = 1 if comparison.primary is comparison.total or top >= 100 else 3
    for row, name in enumerate(names):
        total = _bar(axes, layers, energy=energies[name], row=row, top=top, digits=digits)
        text = f"{total:.{digits}f} mJ{_difference(comparison, name)}"
        axes.text(total + 0.012 * top, row, text, va="center", ha="left", fontsize=7.5)
        _seed_marks(axes, comparison, name, row)
    bars_of(axes, labels, top, _axis(comparison))
    handles = _handles(layers)
    corner = (0.12, 1 - (0.27 + note.above) / height)
    sizes = {"handlelength": 1.3, "handleheight": 0.9, "columnspacing": 1.4}
    legend(figure, handles, corner, len(handles) // clusters, **sizes)
    label(figure, note)
    return figure


def _note(comparison: Comparison) -> Note:
    """The answer above, where there is one; power and seeds below."""
    power = comparison.power_model.name
    seeds = len(comparison.seeds)
    means = f"means over {seeds} seeds (dots: each seed)" if seeds > 1 else "one seed"
    headline = answers(comparison)[0] if len(comparison.names) == 2 else ""
    return note_of(comparison, "Energy", f"{power} power; {means}", headline)


def _energy_mj(comparison: Comparison, name: str) -> Tables:
    """Means over seeds by cluster and component, in mJ: of the window, or per unit of work."""
    results = comparison.results[name].values()
    if comparison.primary is comparison.total:
        shares = [(result.energy_j.cluster_component, 1e3) for result in results]
    else:
        # A run that did no work has no energy per unit of it.
        shares = [
            (result.energy_j.cluster_component, 1e3 / result.work)
            for result in results
            if result.work
        ]
    energy: dict[str, dict[str, float]] = {}
    for by_cluster, factor in shares:
        for cluster, parts in by_cluster.items():
            sums = energy.setdefault(cluster, {})
            for component, value in parts.items():
                sums[component] = sums.get(component, 0.0) + value * factor / len(shares)
    return energy


def _axis(comparison: Comparison) -> str:
    primary = comparison.primary
    if primary is comparison.total:
        window_s = comparison.variants[comparison.baseline][0].result.window_s
        return f"energy of the {window_s:.3g} s window (mJ)"
    return f"energy {primary.row.label} (mJ)"


def _bar(
    axes: Axes, layers: list[Layer], *, energy: Tables, row: int, top: float, digits: int
) -> float:
    """Draw one variant's bar; returns its length in mJ.

    :param top: length of the longest bar, in mJ; parts that are short compared with it have no
        number.
    """
    begin = 0.0
    for layer in layers:
        part = energy.get(layer.cluster, {}).get(layer.component, 0.0)
        axes.barh(
            [row], [part], left=begin, height=0.62, color=layer.colour,
            hatch=layer.hatch, edgecolor="white", linewidth=0.5, zorder=2,
        )  # fmt: skip
        if part > 0.055 * top:
            axes.text(
                begin + part / 2, row, f"{part:.{digits}f}", ha="center", va="center",
                fontsize=7, color=style.ink_on(layer.colour), zorder=3,
                bbox={"facecolor": layer.colour, "edgecolor": "none", "pad": 1.2},
            )  # fmt: skip
        begin += part
    return begin


def _difference(comparison: Comparison, name: str) -> str:
    """Lines below a bar's total: the difference in percent, and whether the seeds decide it."""
    difference = comparison.primary.differences.get(name)
    if difference is None or difference.percent is None:
        return ""
    return f"\n{difference.percent:+.1f} %" + ("\nundecided" if difference.clear is False else "")


def _layers(comparison: Comparison, energies: Mapping[str, Tables]) -> list[Layer]:
    """The layers from left to right; parts that are 0 everywhere go."""
    layers = []
    for number, cluster in enumerate(comparison.platform.energy_parts):
        colour = style.INK if cluster == CHIP else style.CLUSTERS[number % len(style.CLUSTERS)]
        present = {
            component
            for energy in energies.values()
            for component, value in energy.get(cluster, {}).items()
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
    """A dot per seed at its energy, when there are several."""
    if len(comparison.seeds) < 2:
        return
    energies = list(comparison.primary.values[name].values())
    axes.plot(
        energies,
        [row + 0.38] * len(energies),
        linestyle="none",
        marker="o",
        markersize=2.2,
        color=style.INK,
        zorder=4,
        clip_on=False,
    )


def _words(component: str) -> str:
    return component.replace("_", " ")
