# SPDX-License-Identifier: GPL-2.0-or-later
"""The clock figure: one cluster's clock in each variant, and what the difference in energy is.

It shows the cluster whose clock changes most, over a few hundred milliseconds, in enough detail to
see every change. Bars below show how much of the difference each part is, since a clock does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from eascope.analysis.compare import Comparison
from eascope.analysis.derive import Derived
from eascope.analysis.figures import style
from eascope.analysis.figures.common import (
    LINE_HEIGHT,
    broken,
    clock_steps,
    label,
    legend,
    mark_events,
    note_of,
    text_width,
    wrapped,
)
from eascope.analysis.figures.parts import draw as draw_parts
from eascope.analysis.figures.parts import parts_by_variant
from eascope.analysis.parts import Parts
from eascope.configs.platform import Cluster

#: Length of the part of the window that is shown, in ms.
SHOWN_MS = 300
#: Smallest size of any text, in points: the figure stands at the top of pages.
FONT_PT = 8.0
#: Size of a panel's title; where a panel begins and ends, as shares of the figure's width.
TITLE_PT = 8.5
LEFT, RIGHT = 0.085, 0.985
#: Inches: a variant's panel, the space between two, and what lies above and below the panels.
PANEL_IN, GAP_IN, ABOVE_IN, BELOW_IN = 0.85, 0.32, 0.5, 0.85
#: Inches: the bar of a variant's difference, a further line of its name, a row of the legend, and
#: the label of the time's axis.
BAR_IN, NAME_IN, ROW_IN, TIME_IN = 0.24, 0.14, 0.19, 0.42
#: Entries in a row of the legend.
ENTRIES = 3


def draw(comparison: Comparison) -> Figure:
    """A panel for each variant, one above the other, and below them bars of the difference."""
    cluster = shown_cluster(comparison)
    names = comparison.names
    seed = comparison.variants[comparison.baseline][0].cell.seed
    means = "; the numbers are means over seeds" if len(comparison.seeds) > 1 else ""
    title = f"Clock of the {cluster.name} cluster (MHz)"
    note = note_of(comparison, title, f"seed {seed}{means}", pt=FONT_PT)
    width = (RIGHT - LEFT) * style.WIDTH
    titles = [wrapped(_words(comparison, name, cluster), width, TITLE_PT, "bold") for name in names]
    # A name that makes its title longer than the panel takes a second line.
    more = max(title.count("\n") for title in titles) * LINE_HEIGHT * TITLE_PT / 72
    above, gap = ABOVE_IN + note.above + more, GAP_IN + more
    parts = parts_by_variant(comparison)
    below, bars = BELOW_IN + note.below, _Bars.of(parts, width)
    height = above + len(names) * PANEL_IN + (len(names) - 1) * gap + bars.inches + below
    figure = Figure(figsize=(style.WIDTH, height))
    grid = figure.add_gridspec(
        len(names),
        1,
        left=LEFT,
        right=RIGHT,
        top=1 - above / height,
        bottom=(below + bars.inches) / height,
        hspace=gap / PANEL_IN,
    )
    for number, name in enumerate(names):
        axes = figure.add_subplot(grid[number, 0])
        _panel(axes, comparison.variants[name][0], cluster, f"clock-{name}")
        axes.set_title(titles[number], fontsize=TITLE_PT, pad=3)
        axes.tick_params(labelsize=FONT_PT, labelbottom=number == len(names) - 1)
    axes.set_xlabel("time since the window's start (ms)", fontsize=FONT_PT)
    if parts:
        _draw_parts(figure, parts, bars, below)
    label(figure, note)
    return figure


@dataclass(frozen=True)
class _Bars:
    """The place of the bars: their title, and inches above them and of them."""

    title: str = ""
    above: float = 0.0
    size: float = 0.0

    @property
    def inches(self) -> float:
        """Of all of it."""
        return self.above + self.size

    @staticmethod
    def of(parts: Mapping[str, Parts], width: float) -> _Bars:
        if not parts:
            return _Bars()
        kinds = {kind for of in parts.values() for kind in of.kinds}
        only = "".join(of.largest for of in parts.values()) if len(parts) == 1 else ""
        title = f"Difference in energy{f': {only}' if only else ' by part'}"
        title = wrapped(title, width, TITLE_PT, "bold")
        lines = LINE_HEIGHT * TITLE_PT / 72 * (1 + title.count("\n"))
        above = TIME_IN + lines + ROW_IN * -(-len(kinds) // ENTRIES) + 0.04
        lines_of = [broken(name).count("\n") for name in parts] if len(parts) > 1 else [0]
        return _Bars(title, above, (BAR_IN + NAME_IN * max(lines_of)) * len(parts))


def _draw_parts(figure: Figure, parts: Mapping[str, Parts], bars: _Bars, below: float) -> None:
    """The bars, with title and legend above them, ``below`` inches above the figure's edge."""
    height = figure.get_figheight()
    left = LEFT
    if len(parts) > 1:
        names = [broken(name) for name in parts]
        left = max(LEFT, 0.025 + max(text_width(name, FONT_PT) for name in names) / style.WIDTH)
    axes = figure.add_axes((left, below / height, RIGHT - left, bars.size / height))
    entries = draw_parts(axes, parts, FONT_PT)
    axes.set_xlabel("mJ", fontsize=FONT_PT)
    top = (below + bars.inches - TIME_IN) / height
    figure.text(LEFT, top, bars.title, fontsize=TITLE_PT, fontweight="bold", va="top")
    under = LINE_HEIGHT * TITLE_PT / 72 * (1 + bars.title.count("\n"))
    corner = (LEFT, top - under / height)
    legend(figure, entries, corner, ENTRIES, fontsize=FONT_PT, handlelength=1.3, columnspacing=1.4)


def shown_cluster(comparison: Comparison) -> Cluster:
    """The cluster whose clock changes most often in any variant; of equals, the fastest."""

    def most(cluster: Cluster) -> float:
        return max(_changes_per_s(comparison, name, cluster) for name in comparison.names)

    return max(reversed(comparison.platform.clusters), key=most)


def _changes_per_s(comparison: Comparison, name: str, cluster: Cluster) -> float:
    """Mean over seeds."""
    return comparison.means[name].opp_transitions_per_s[cluster.name]


def _words(comparison: Comparison, name: str, cluster: Cluster) -> str:
    """The message of a panel in words."""
    changes = _changes_per_s(comparison, name, cluster)
    mean_mhz = comparison.means[name].mean_mhz[cluster.name]
    rate = f"{changes:.0f} change{'' if round(changes) == 1 else 's'} per second"
    return f"{name}: {rate}, {mean_mhz:.0f} MHz on average"


def _panel(axes: Axes, run: Derived, cluster: Cluster, identity: str) -> None:
    """The clock of ``cluster`` as a line over its operating points, named ``identity`` in SVG."""
    length_ns = min(SHOWN_MS * 1_000_000, round(run.result.window_s * 1e9))
    x, y = clock_steps(run, cluster, length_ns, 1e6)
    colour = style.CLUSTERS[cluster.index % len(style.CLUSTERS)]
    axes.fill_between(x, y, color=style.lighter(colour, 0.75), linewidth=0, zorder=1)
    axes.plot(x, y, color=colour, linewidth=1.3, zorder=2, gid=identity)
    mark_events(axes, run, length_ns, 1e6)
    mhz = [opp.khz / 1000 for opp in cluster.opps]
    axes.set_yticks(mhz if len(mhz) <= 4 else [mhz[0], mhz[-1]])
    axes.set_ylim(0, mhz[-1] * 1.08)
    axes.set_xlim(0, length_ns / 1e6)
    axes.grid(axis="y", color=style.GRID, linewidth=0.5, zorder=0)
