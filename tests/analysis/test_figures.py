# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures: the same bytes each time, vector only, and labelled with their engine."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from eascope.analysis import figures
from eascope.analysis.compare import Comparison
from eascope.analysis.engine import error_words
from eascope.analysis.figures import clock, style

Compared = Callable[[int], Comparison]


def texts(figure: Figure) -> str:
    artists = figure.findobj(Text)
    return "\n".join(entry.get_text() for entry in artists if isinstance(entry, Text))


def test_the_same_comparison_gives_the_same_bytes(compared: Compared, tmp_path: Path) -> None:
    first = figures.write(compared(1), tmp_path / "a")
    with mpl.rc_context({"font.size": 20, "svg.hashsalt": None, "axes.grid": True}):
        second = figures.write(compared(1), tmp_path / "b")  # a user's own settings do not matter
    assert set(first) == {"placement", "clock", "frequency", "energy"}
    for name, paths in first.items():
        assert [path.suffix for path in paths] == [".svg", ".pdf"]
        assert [path.read_bytes() for path in paths] == [path.read_bytes() for path in second[name]]


def test_files_hold_vectors_and_no_date(compared: Compared, tmp_path: Path) -> None:
    for svg, pdf in figures.write(compared(1), tmp_path).values():
        text = svg.read_text()
        assert "<image" not in text
        assert "<dc:date>" not in text
        data = pdf.read_bytes()
        assert data.startswith(b"%PDF")
        assert b"CreationDate" not in data
        assert b"/Subtype /Image" not in data
        assert b"/Type3" not in data.replace(b" ", b"")


@pytest.mark.parametrize("name", list(figures.FIGURES))
def test_every_figure_names_engine_platform_and_scenario(compared: Compared, name: str) -> None:
    with style.styled():
        shown = texts(figures.FIGURES[name](compared(1)))
    error = error_words(compared(1).variants["mainline"][0])
    assert f"Engine: qemu ({error})" in " ".join(shown.split())
    assert "test/bursts on juno-r2" in " ".join(shown.split())
    for variant in ("mainline", "cas"):
        assert variant in shown
    assert re.search(r"\((mJ|MHz|ms|%)\)", shown), "axes carry units"


def test_energy_bars_end_at_the_total(compared: Compared) -> None:
    with style.styled():
        figure = figures.FIGURES["energy"](compared(1))
    axes = figure.axes[0]
    ends: dict[int, float] = {}
    for bars in axes.containers:
        for bar in bars:
            row = round(bar.get_y() + bar.get_height() / 2)
            ends[row] = max(ends.get(row, 0.0), bar.get_x() + bar.get_width())
    means = [compared(1).primary.mean(name) for name in ("mainline", "cas")]
    assert [ends[0], ends[1]] == pytest.approx(means)


def test_clock_shows_the_cluster_that_changes_most_and_every_change(compared: Compared) -> None:
    shown = compared(1)
    cluster = clock.shown_cluster(shown)
    changes = {
        name: [shown.results[variant][0].opp_transitions_per_s[name] for variant in shown.names]
        for name in (each.name for each in shown.platform.clusters)
    }
    assert max(changes[cluster.name]) == max(max(rates) for rates in changes.values())
    with style.styled():
        figure = clock.draw(shown)
    for axes, variant in zip(figure.axes, shown.names, strict=True):
        (line,) = axes.lines
        run = shown.variants[variant][0]
        begin = int(run.table("frequency")["t0_ns"].min())  # type: ignore[arg-type]
        rows = run.table("frequency").filter(
            (pl.col("cluster") == cluster.index)
            & (pl.col("t0_ns") < begin + clock.SHOWN_MS * 1_000_000)
        )
        along, clocks = np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist()
        assert clocks == [khz / 1000 for khz in rows["khz"] for _ in range(2)]
        assert along == sorted(along)
        assert axes.get_title(loc="left").startswith(f"{variant}: ")


def test_no_text_of_the_clock_figure_is_small(compared: Compared) -> None:
    """It stands at the top of pages: 8 points and more."""
    with style.styled():
        figure = clock.draw(compared(1))
    texts = [text for text in figure.findobj(Text) if isinstance(text, Text)]
    shown = [text for text in texts if text.get_text() and text.get_visible()]
    assert min(float(text.get_fontsize()) for text in shown) >= 8


def test_colours_differ_in_lightness_or_hue() -> None:
    assert len(set(style.PALETTE)) == len(style.PALETTE)
    assert style.ink_on("#FFFFFF") != style.ink_on("#0072B2")
    shades = [style.shade(style.CLUSTERS[0], step / 4) for step in range(5)]
    assert len(set(shades)) == 5
