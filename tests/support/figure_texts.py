# SPDX-License-Identifier: GPL-2.0-or-later
"""The texts of a figure: where they lie, and whether they lie apart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from matplotlib.axis import Tick
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox


def texts(figure: Figure) -> Iterator[tuple[str, Bbox]]:
    """What is written in a figure and where, in points."""
    canvas = FigureCanvasAgg(figure)
    figure.set_dpi(72)
    canvas.draw()  # type: ignore[no-untyped-call]
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    unseen = _unseen(figure)
    for artist in figure.findobj(Text):
        assert isinstance(artist, Text)
        if artist.get_visible() and artist.get_text().strip() and artist not in unseen:
            yield artist.get_text(), artist.get_window_extent(renderer)


def _unseen(figure: Figure) -> set[Text]:
    """Labels of ticks that an axis has and does not draw: they lie outside its limits."""
    labels = {
        label
        for tick in figure.findobj(Tick)
        if isinstance(tick, Tick)
        for label in (tick.label1, tick.label2)
    }
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if low <= tick.get_loc() <= high:
                    labels -= {tick.label1, tick.label2}
    return labels


def check(figure: Figure) -> None:
    """All texts within the page; the lines above and below and what an axis is called lie apart."""
    written = list(texts(figure))
    width, height = (72 * inches for inches in figure.get_size_inches())
    for text, box in written:
        inside = box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width + 0.5 and box.y1 <= height
        assert inside, f"{text!r} reaches to {box} on a page of {width:.0f} x {height:.0f} points"
    for (first, box), (second, other) in combinations(written, 2):
        apart = (
            min(box.x1, other.x1) - max(box.x0, other.x0) < 0.5
            or min(box.y1, other.y1) - max(box.y0, other.y0) < 0.5
        )
        assert apart, f"{first!r} lies on {second!r}: {box}, {other}"
