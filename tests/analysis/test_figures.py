# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures: the same bytes each time, vector only, and labelled with their engine."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from matplotlib.axis import Tick
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from eascope.analysis import figures
from eascope.analysis.compare import Comparison, comparison
from eascope.analysis.derive import Derived, derive
from eascope.analysis.engine import error_words
from eascope.analysis.figures import clock, stack, style
from eascope.analysis.figures import robust as axes_figure
from eascope.analysis.robust import AtValue
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.power.derived import DerivedPower
from tests.support.synthetic import make_run
from tests.support.varied import at

Compared = Callable[[int], Comparison]


def words_of(figure: Figure) -> str:
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
        shown = words_of(figures.FIGURES[name](compared(1)))
    error = error_words(compared(1).variants["mainline"][0])
    assert f"Engine: qemu ({error})" in " ".join(shown.split())
    assert "test/bursts on juno-r2" in " ".join(shown.split())
    for variant in ("mainline", "cas"):
        assert variant in shown
    assert re.search(r"\((mJ|MHz|ms|%)\)", shown), "axes carry units"


def test_clock_shows_the_cluster_that_changes_most_and_every_change(compared: Compared) -> None:
    shown = compared(1)
    cluster = clock.shown_cluster(shown)
    changes = {
        name: [shown.results[variant][0].opp_transitions_per_s[name] for variant in shown.names]
        for name in (cluster.name for cluster in shown.platform.clusters)
    }
    assert max(changes[cluster.name]) == max(max(rates) for rates in changes.values())
    with style.styled():
        figure = clock.draw(shown)
    for axes, variant in zip(figure.axes[:-1], shown.names, strict=True):
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


def test_timelines_have_a_line_at_each_event(compared: Compared) -> None:
    shown = compared(1)
    for runs in shown.variants.values():
        more = {**runs[0].result.more, "stage_ms": {"0": 3.0, "1": 9996.0, "2": 1.0}}
        runs[0] = replace(runs[0], result=replace(runs[0].result, more=more))
    with style.styled():
        for name, panels in (("clock", 2), ("frequency", 4), ("placement", 2)):
            figure = figures.FIGURES[name](shown)
            lines = [line for line in figure.findobj(Line2D) if line.get_gid() == "event"]
            assert [np.array(line.get_xdata(), dtype=float)[0] for line in lines] == panels * [3]


def test_no_text_of_the_clock_figure_is_small(compared: Compared) -> None:
    """It stands at the top of pages: 8 points and more."""
    with style.styled():
        figure = clock.draw(compared(1))
    written = [text for text in figure.findobj(Text) if isinstance(text, Text)]
    shown = [text for text in written if text.get_text() and text.get_visible()]
    assert min(float(text.get_fontsize()) for text in shown) >= 8


def test_colours_differ_in_lightness_or_hue() -> None:
    assert len(set(style.PALETTE)) == len(style.PALETTE)
    assert style.ink_on("#FFFFFF") != style.ink_on("#0072B2")
    shades = [style.shade(style.CLUSTERS[0], step / 4) for step in range(5)]
    assert len(set(shades)) == 5


SHORT = ("mainline", "cas")
LONG = ("mainline@7.3", "uclamp-sum-ou-unclamped")
LONGER = ("the-base-of-my-series-before-v2@7.3", "a_name_without_any_hyphen_in_it")


def renamed(run: Derived, name: str) -> Derived:
    return replace(run, cell=replace(run.cell, variant=name))


def repeated(run: Derived, name: str, seeds: int, work: float) -> list[Derived]:
    """``run`` under ``name`` with some seeds, whose energies differ a little."""
    outcome = []
    for seed in range(seeds):
        energy = run.result.energy_j
        total = energy.total
        done = work * (1 + 0.001 * seed)
        result = replace(run.result, work=done, energy_per_work_j=total / done)
        cell = replace(run.cell, seed=seed)
        outcome.append(renamed(replace(run, result=result, cell=cell), name))
    return outcome


def many(
    compared: Compared, names: tuple[str, ...], seeds: int = 20, work: float = 1.0
) -> Comparison:
    """Over seeds, with an answer in percent and its interval; all but the first do ``work``."""
    result = compared(1)
    first, second = (result.variants[name][0] for name in result.names)
    return comparison(
        result.platform,
        {
            name: repeated(second if number else first, name, seeds, work if number else 1.0)
            for number, name in enumerate(names)
        },
    )


@pytest.mark.parametrize("names", [SHORT, LONG, LONGER])
@pytest.mark.parametrize("name", list(figures.FIGURES))
def test_texts_of_a_comparison(compared: Compared, name: str, names: tuple[str, ...]) -> None:
    with style.styled():
        check(figures.FIGURES[name](many(compared, names, work=1.1)))


@pytest.mark.parametrize("name", list(figures.FIGURES))
def test_texts_of_four_variants(compared: Compared, name: str) -> None:
    with style.styled():
        check(figures.FIGURES[name](many(compared, (*LONG, *LONGER))))


def test_the_text_below_has_room_for_its_lines(
    compared: Compared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much is known of an engine's error."""
    monkeypatch.setattr(
        "eascope.analysis.figures.common.error_words", lambda run: "as far as known " * 30
    )
    for name, draw in figures.FIGURES.items():
        with style.styled():
            figure = draw(many(compared, SHORT))
        assert max(text.count("\n") for text, _ in texts(figure)) >= 3, name
        check(figure)


@pytest.mark.parametrize("others", [LONG[1:], LONG[1:] + LONGER[:1], LONG[1:] + LONGER])
def test_texts_of_model_axes(platform: Platform, others: tuple[str, ...]) -> None:
    def named(factor: float) -> Comparison:
        result = at(platform, factor)
        runs = {
            "mainline@7.3": [renamed(run, "mainline@7.3") for run in result.variants["mainline"]]
        }
        for name in others:
            runs[name] = [renamed(run, name) for run in result.variants["cas"]]
        return comparison(platform, runs)

    # 0.8 gives cas the energy of mainline.
    other = AtValue("speeds", "measured", "assumed: x", 40, named(0.8))
    with style.styled():
        check(axes_figure.draw(replace(named(0.8), assumed=[other])))


@pytest.mark.parametrize("names", [SHORT, LONG, LONGER])
def test_texts_of_a_stack(
    platform: Platform, activity: Activity, tmp_path: Path, names: tuple[str, str]
) -> None:
    model = DerivedPower(platform, replace(activity, measured=()))
    path = make_run(tmp_path, platform, "mainline", 0)
    run = derive(path, platform, replace(activity, measured=()), model)
    result = comparison(platform, {name: [renamed(run, name)] for name in names})
    with style.styled():
        check(stack.draw(result))


def bars(figure: Figure) -> dict[int, float]:
    """Where each row of bars ends, in mJ."""
    ends: dict[int, float] = {}
    for container in figure.axes[0].containers:
        for bar in container:
            row = round(bar.get_y() + bar.get_height() / 2)
            ends[row] = max(ends.get(row, 0.0), bar.get_x() + bar.get_width())
    return ends


def test_bars_are_of_the_energy_that_is_answered_for(compared: Compared) -> None:
    result = many(compared, SHORT, work=2.0)
    assert result.primary is not result.total
    with style.styled():
        figure = figures.FIGURES["energy"](result)
    shown = [text for text, _ in texts(figure)]
    ends = bars(figure)
    for row, name in enumerate(SHORT):
        mean = result.primary.mean(name)
        assert mean is not None
        assert ends[row] == pytest.approx(mean)
    percent = result.primary.differences["cas"].percent
    (total,) = (text for text in shown if text.startswith(f"{ends[1]:.1f} mJ"))
    assert total.endswith(f"\n{percent:+.1f} %")
    assert "energy per s of work (mJ)" in shown
    for line in figure.axes[0].lines:
        along, row_of = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert len(along) == 20
        assert max(along) == pytest.approx(ends[round(row_of[0])], rel=0.02)


def test_the_clock_has_bars_of_the_parts(compared: Compared) -> None:
    """Less to the left of zero, more to the right; the title and the numbers are the answer's."""
    result = compared(1)
    parts = result.parts("cas", per_work=result.primary is not result.total)
    assert parts is not None
    with style.styled():
        figure = clock.draw(result)
    drawn = {
        number: bar.get_width()
        for number, container in enumerate(figure.axes[-1].containers)
        for bar in container
    }
    kinds = [1000 * float(value) for value in parts.kinds.values()]
    assert list(drawn.values()) == pytest.approx(kinds)
    reached = {True: 0.0, False: 0.0}
    for container in figure.axes[-1].containers:
        (bar,) = container
        assert bar.get_x() == pytest.approx(reached[bar.get_width() > 0])
        reached[bar.get_width() > 0] += bar.get_width()
    shown = [" ".join(text.split()) for text, _ in texts(figure)]
    assert f"Difference in energy: {parts.largest}" in shown
    for kind, value in parts.shown.kinds.items():
        assert (f"{kind} {parts.number(value)}" in shown) is bool(value)
    alone = comparison(result.platform, {"mainline": result.variants["mainline"]})
    with style.styled():
        assert len(clock.draw(alone).axes) == 1


def test_the_clock_is_a_small_file(compared: Compared, tmp_path: Path) -> None:
    """It stands in the README: 60 kB at most, of which texts are the most."""
    (svg, _) = figures.write(compared(1), tmp_path)["clock"]
    assert svg.stat().st_size <= 60_000
    # A glyph is one outline; curves go on where they are.
    assert style._outline("M80 8Q84 16 88 24L80 8z") == "M10 1q0 1 1 2l-1-2z"


def test_bars_are_of_the_window_where_the_same_was_done(compared: Compared) -> None:
    with style.styled():
        figure = figures.FIGURES["energy"](many(compared, SHORT))
    assert any(text.startswith("energy of the ") for text, _ in texts(figure))


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
