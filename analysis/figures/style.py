# SPDX-License-Identifier: GPL-2.0-or-later
"""The style of figures: sizes, fonts, colours safe for colour-blind readers, stable bytes."""

from __future__ import annotations

import colorsys
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

#: Width of a figure over both columns of a paper, in inches.
WIDTH = 7.2
#: Okabe and Ito's palette, without yellow (too light for thin marks) and black.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C6D31", "#5A5A9C")
#: Threads that are not the scenario's.
REST = "#9A9A9A"
INK = "#1A1A1A"
MUTED = "#5F5F5F"
GRID = "#DDDDDD"
#: Clusters by their place in the platform: little, big or mid, big.
CLUSTERS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")

_RC: dict[str, object] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "hatch.linewidth": 0.5,
    "svg.hashsalt": "eascope",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "path.simplify": False,
}


@contextmanager
def styled() -> Iterator[None]:
    """Our settings on top of matplotlib's own defaults, whatever the user's configuration says."""
    settings: dict[Any, Any] = dict(mpl.rcParamsDefault)
    settings.update(_RC)
    settings["backend"] = mpl.rcParams["backend"]
    with mpl.rc_context(settings):
        yield


def compact(svg: str) -> str:
    """An SVG with half the bytes: paths in hundredths of a point, short outlines of glyphs."""
    outline = r'(<path id="DejaVu[^"]*" d=)"([^".]*)" transform="scale\(0\.015625\)"'
    svg = re.sub(outline, lambda of: f'{of[1]}"{_outline(of[2])}" transform="scale(.125)"', svg)
    svg = re.sub(r' d="([^"]*)"', lambda path: f' d="{_path(path[1])}"', svg)
    # Places of glyphs are in hundredths of the font's size; a space draws nothing.
    glyph = r'(<use xlink:href="#DejaVu[^"]*") transform="translate\(([\d.]+) 0\)"/>'
    svg = re.sub(glyph, lambda use: f'{use[1]} x="{round(float(use[2]))}"/>', svg)
    svg = re.sub(r' *<use xlink:href="#DejaVuSans-(?:Bold-)?3"[^>]*>\n', "", svg)
    svg = svg.replace("DejaVuSans-Bold-", "B").replace("DejaVuSans-", "D")
    return re.sub(r"^ +", "", svg.replace("xlink:href", "href"), flags=re.MULTILINE)


def _outline(data: str) -> str:
    """A glyph in units of eight, whose lines and curves begin where the one before ended."""
    x = y = 0
    words = []
    for command, text in re.findall(r"([MLQz])([-\d ]*)", data):
        numbers = [round(int(word) / 8) for word in text.split()]
        shown = numbers
        if command in "LQ":
            pairs = zip(numbers[::2], numbers[1::2], strict=True)
            shown = [number for px, py in pairs for number in (px - x, py - y)]
        letter = command if command == "M" else command.lower()
        words.append(letter + " ".join(map(str, shown)).replace(" -", "-"))
        x, y = numbers[-2:] or (x, y)
    return "".join(words)


def _path(data: str) -> str:
    return re.sub(r" ?([A-Za-z]) ?", r"\1", " ".join(map(_rounded, data.split())))


def _rounded(word: str) -> str:
    return f"{float(word):.2f}".rstrip("0").rstrip(".") if "." in word else word


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write ``name.svg`` and ``name.pdf``: vector, and the same bytes for the same figure."""
    folder.mkdir(parents=True, exist_ok=True)
    svg, pdf = folder / f"{name}.svg", folder / f"{name}.pdf"
    svg.write_text(svg_of(figure, name), encoding="utf-8")
    about = {"CreationDate": None, "Creator": "eascope", "Producer": None, "Title": name}
    FigureCanvasPdf(figure).print_pdf(pdf, metadata=about)  # type: ignore[no-untyped-call]
    return [svg, pdf]


def svg_of(figure: Figure, name: str) -> str:
    """The figure as SVG, the same text for the same figure."""
    dates: dict[str, Any] = {"Date": None, "Creator": "eascope", "Title": name}
    drawn = io.StringIO()
    FigureCanvasSVG(figure).print_svg(drawn, metadata=dates)  # type: ignore[no-untyped-call]
    return compact(drawn.getvalue())


def lighter(colour: str, amount: float) -> str:
    """``colour`` mixed with white; 0 leaves it, 1 is white."""
    red, green, blue = (part + (1 - part) * amount for part in to_rgb(colour))
    return str(to_hex((red, green, blue)))


def shade(colour: str, position: float) -> str:
    """From light (0) to the full, slightly darkened colour (1): for ordered things such as OPPs."""
    hue, _, saturation = colorsys.rgb_to_hls(*to_rgb(colour))
    return str(to_hex(colorsys.hls_to_rgb(hue, 0.86 - 0.56 * position, saturation * 0.85)))


def ink_on(colour: str) -> str:
    """Black or white, whichever reads better on ``colour``."""
    red, green, blue = to_rgb(colour)
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 else "#FFFFFF"
