"""Figures of a comparison: placement, frequency and energy, as SVG and PDF.

One module per figure; each draws from a comparison's tables and needs no other state. Every figure
names platform, scenario, engine and that engine's error.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from analysis.compare import Comparison
from analysis.figures import energy, frequency, placement, style

FIGURES: dict[str, Callable[[Comparison], Figure]] = {
    "placement": placement.draw,
    "frequency": frequency.draw,
    "energy": energy.draw,
}


def write(comparison: Comparison, folder: Path) -> dict[str, list[Path]]:
    """Write all figures below ``folder``: ``{name: [svg, pdf]}``."""
    drawn = {}
    with style.styled():
        for name, draw in FIGURES.items():
            drawn[name] = style.save(draw(comparison), folder, name)
    return drawn
