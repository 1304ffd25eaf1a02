# SPDX-License-Identifier: GPL-2.0-or-later
"""Bars of what each difference in energy is made of: left of zero is less, right of it more."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from eascope.analysis.compare import Comparison
from eascope.analysis.figures import style
from eascope.analysis.figures.common import broken
from eascope.analysis.parts import Parts

#: Colour and hatch of the parts, the biggest first: each differs by lightness or hatch as well.
LOOKS = (
    ("#0072B2", ""),
    ("#E69F00", "////"),
    ("#56B4E9", ""),
    ("#D55E00", "\\\\\\\\"),
    ("#9A9A9A", ""),
    ("#CC79A7", "----"),
    ("#DDDDDD", "||||"),
)


def parts_by_variant(comparison: Comparison) -> dict[str, Parts]:
    """The parts of the answer's energy by further variant, where any differs."""
    per_work = comparison.primary is not comparison.total
    parts = {name: comparison.parts(name, per_work=per_work) for name in comparison.names[1:]}
    return {name: of for name, of in parts.items() if of and of.largest}


def draw(axes: Axes, parts: Mapping[str, Parts], pt: float) -> list[Patch]:
    """A bar for each variant; returns the legend's entries, the biggest part of all first."""
    sizes: dict[str, float] = {}
    for of in parts.values():
        for kind, value in of.kinds.items():
            sizes[kind] = max(sizes.get(kind, 0.0), abs(float(value)))
    order = sorted(sizes, key=lambda kind: (-sizes[kind], kind))
    looks = {kind: LOOKS[number % len(LOOKS)] for number, kind in enumerate(order)}
    for row, of in enumerate(parts.values()):
        reached = {True: 0.0, False: 0.0}
        for kind, value in of.kinds.items():
            size = 1000 * float(value)
            colour, hatch = looks[kind]
            axes.barh(
                [row], [size], left=reached[size > 0], height=0.66, color=colour, hatch=hatch,
                edgecolor="white", linewidth=0.5, zorder=2, gid=f"part-{row}-{order.index(kind)}",
            )  # fmt: skip
            reached[size > 0] += size
    axes.axvline(0, color=style.INK, linewidth=0.8, zorder=3)
    axes.set_yticks(range(len(parts)), map(broken, parts) if len(parts) > 1 else [""])
    axes.set_ylim(len(parts) - 0.5, -0.5)
    axes.margins(x=0.02)
    axes.tick_params(labelsize=pt)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=style.GRID, linewidth=0.5, zorder=0)
    only = next(iter(parts.values())) if len(parts) == 1 else None
    entries = []
    for kind in order:
        number = f" {only.number(only.shown.kinds[kind])}" if only else ""
        if only is None or only.shown.kinds[kind]:
            colour, hatch = looks[kind]
            text = f"{kind}{number}"
            entries.append(Patch(facecolor=colour, hatch=hatch, edgecolor="white", label=text))
    return entries
