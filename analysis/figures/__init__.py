# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of a comparison: placement, clock, frequency, energy, its stack, model axes; SVG and PDF.

One module per figure; each draws from a comparison's tables and needs no other state. Every figure
names platform, scenario, engine and that engine's error.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from eascope.analysis.compare import Comparison
from eascope.analysis.figures import clock, energy, frequency, placement, robust, stack, style

FIGURES: dict[str, Callable[[Comparison], Figure]] = {
    "placement": placement.draw,
    "clock": clock.draw,
    "frequency": frequency.draw,
    "energy": energy.draw,
}


def write(comparison: Comparison, folder: Path) -> dict[str, list[Path]]:
    """Write all figures that have data below ``folder``: ``{name: [svg, pdf]}``."""
    drawn = {}
    with style.styled():
        for name, draw in FIGURES.items():
            drawn[name] = style.save(draw(comparison), folder, name)
        if stack.known(comparison):
            drawn["stack"] = style.save(stack.draw(comparison), folder, "stack")
        if comparison.assumed:
            drawn["axes"] = style.save(robust.draw(comparison), folder, "axes")
    return drawn
