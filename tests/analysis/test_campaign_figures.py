# SPDX-License-Identifier: GPL-2.0-or-later
"""Drawings of campaigns: nothing lies on anything else, and none says more than is clear."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.difference import Difference
from analysis.figures import differences, fronts, lines, style
from analysis.figures.common import note_with
from analysis.figures.differences import DifferenceGroup, DifferenceRow
from analysis.figures.fronts import FrontPanel, FrontPoint
from analysis.figures.lines import LineAxis, LineLevel, LinePanel, LinePoint, LineSeries
from analysis.figures.reach import beyond, possible, reach
from tests.support.figure_texts import check, texts

NOTE = note_with("sweep: A title of some length, juno-r2", "Engine: a note of many words. " * 12)
COUNTS = (2, 3, 4, 6, 8, 12)
AXIS = LineAxis(
    "OPPs of the cluster",
    tuple((float(count), str(count)) for count in COUNTS),
    logarithmic=True,
    common="2 OPPs: the same of all spacings",
)
NAMES = ("even", "geometric", "power")


def series(high: float = 0.4) -> tuple[LineSeries, ...]:
    return tuple(
        LineSeries(
            name,
            place,
            False,
            tuple(
                LinePoint(float(count), high, (0.0, 2 * high), common=count == COUNTS[0])
                for count in COUNTS
            ),
        )
        for place, name in enumerate(NAMES)
    )


def panel(title: str = "", **more: object) -> LinePanel:
    label = "response time of render, 95th percentile (ms)"
    return LinePanel(title, label, series(), **more)  # type: ignore[arg-type]


def drawn(rows: list[list[LinePanel]], axis: LineAxis = AXIS, *, alike: bool = False) -> Figure:
    with style.styled():
        return lines.draw(rows, axis, NOTE, alike=alike)


def marks(axes: Axes) -> list[Line2D]:
    """Single marks of a panel."""
    return [line for line in axes.lines if line.get_marker() not in ("", "None", None)]


def at(line: Line2D) -> tuple[float, float]:
    (x,), (y,) = np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist()
    return float(x), float(y)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_texts_of_lines(columns: int) -> None:
    level = LineLevel("the board's own OPPs", 0.3, (0.1, 0.5))
    title = "eas/video-playback with mainline, OPPs of the big cluster"
    row = [panel("" if place else title, levels=(level,)) for place in range(columns)]
    with style.styled():
        check(drawn([row, row[:1], row]))


def test_lines_at_the_same_number_stand_apart() -> None:
    (axes,) = drawn([[panel()]]).axes
    xs = sorted(at(mark)[0] for mark in marks(axes))
    assert len(xs) == 1 + 3 * 5
    assert len(set(xs)) == len(xs)
    assert xs.count(2.0) == 1, "the point that all have is drawn once"
    for place, count in enumerate(COUNTS[1:]):
        group = xs[1 + 3 * place : 4 + 3 * place]
        nearest = [min(COUNTS, key=lambda tick: abs(np.log(tick / x))) for x in group]
        assert nearest == [count] * 3, "a group is nearer to its number than to any other"


@pytest.mark.parametrize("many", [1, 2, 6, 20])
def test_groups_of_lines_do_not_meet(many: int) -> None:
    moves = lines.shifts(AXIS, many, 1.5)
    assert len(moves) == many
    assert sum(moves) == pytest.approx(0)
    places = np.log(COUNTS)
    gap = min(b - a for a, b in pairwise(places)) / (1.14 * (places[-1] - places[0]))
    assert moves[-1] - moves[0] < 0.7 * gap


def test_no_axis_of_means_begins_below_zero_and_none_exaggerates() -> None:
    assert lines.limits([panel()])[0] == 0.0
    assert lines.limits([panel(differences=True)])[0] < 0.0
    close = LinePanel("", "ms", (LineSeries("a", 0, False, (LinePoint(1.0, 13.62, None),)),))
    low, high = lines.limits([close])
    assert high - low > 0.05 * 13.62
    none_late = LinePanel(
        "", "frames", (LineSeries("a", 0, False, (LinePoint(1.0, 0.0, None),)),), least=1.0
    )
    low, high = lines.limits([none_late])
    assert low == 0.0
    assert high >= 1.0


def test_panels_of_one_measure_have_one_axis() -> None:
    other = LinePanel("", "ms", series(9.0))
    alike, apart = (drawn([[panel()], [other]], alike=each).axes for each in (True, False))
    assert alike[0].get_ylim() == alike[1].get_ylim()
    assert apart[0].get_ylim() != apart[1].get_ylim()


def test_noise_is_a_band_and_in_the_legend() -> None:
    figure = drawn([[panel(differences=True, noise=3.0)]])
    (band,) = figure.axes[0].patches
    extent = band.get_path().vertices
    assert sorted({round(float(y), 6) for y in np.asarray(extent)[:, 1]}) in ([-3, 3], [0, 1])
    assert "noise floor" in [text for text, _ in texts(figure)]
    assert not drawn([[panel(differences=True)]]).axes[0].patches


TOPOLOGIES = ("1+3", "2+2", "2+4", "4+2", "4+4", "6+2", "4+3+1", "4+2+2")


def points(beaten: str = "") -> tuple[FrontPoint, ...]:
    """Eight points almost on each other."""
    return tuple(
        FrontPoint(name, 13.5 + 0.001 * place, 8.0, (13.0, 14.0), (7.9, 8.1), name == beaten)
        for place, name in enumerate(TOPOLOGIES)
    )


def front_figure(beaten: str = "") -> Figure:
    panels = [
        FrontPanel(f"eas/game, {name}", "latency (ms)", "energy (mJ per frame)", points(beaten))
        for name in ("mainline", "cas")
    ]
    with style.styled():
        return fronts.draw([panels, panels], NOTE, "clearly less energy and latency")


def test_names_of_a_front_do_not_lie_on_each_other() -> None:
    figure = front_figure()
    check(figure)
    written = [text for text, _ in texts(figure)]
    assert [written.count(name) for name in TOPOLOGIES] == [1] * len(TOPOLOGIES)


def test_a_name_looks_the_same_in_all_panels_and_like_no_other() -> None:
    looks = [
        [(mark.get_color(), mark.get_marker()) for mark in marks(axes)]
        for axes in front_figure().axes
    ]
    assert all(each == looks[0] for each in looks)
    assert len(set(looks[0])) == len(TOPOLOGIES)
    assert len({fronts.looks(place) for place in range(64)}) == 64


def test_only_a_beaten_point_is_open() -> None:
    """The place of a mean among means decides nothing."""
    for axes in front_figure("2+4").axes:
        faces = [to_hex(mark.get_markerfacecolor()) for mark in marks(axes)]
        white = [name for name, face in zip(TOPOLOGIES, faces, strict=True) if face == "#ffffff"]
        assert white == ["2+4"]


def difference(percent: float, low: float, high: float) -> Difference:
    return Difference(percent, percent, low, high, 100.0, 10, percent_ends=(low, high))


def test_many_rows_of_differences() -> None:
    rows = tuple(
        DifferenceRow(name, (difference(-5, -6, -4), difference(1, -1, 3)))
        for name in ("cas", "feec-a", "feec-b", "feec-b-plus", "feec-d")
    )
    groups = [
        DifferenceGroup(f"uclamp/hidden-overutilization-{place}", (3.0, None), rows)
        for place in range(10)
    ]
    with style.styled():
        figure = differences.draw(groups, ("energy per unit of work", "latency"), NOTE)
        check(figure)
    for axes in figure.axes:
        assert len(marks(axes)) == 50
        rows_at = sorted(at(mark)[1] for mark in marks(axes))
        height = axes.get_window_extent().height / figure.dpi
        low, high = axes.get_ylim()
        assert min(b - a for a, b in pairwise(rows_at)) * height / abs(high - low) > 0.15
    energy, latency = figure.axes
    assert len(energy.patches) == len(groups)
    assert not latency.patches


@pytest.mark.parametrize(("noise", "filled"), [(None, True), (4.0, True), (5.5, False)])
def test_a_difference_within_the_noise_is_open(noise: float | None, filled: bool) -> None:
    group = DifferenceGroup("x", (noise,), (DifferenceRow("cas", (difference(-5, -6, -4),)),))
    with style.styled():
        (axes,) = differences.draw([group], ("energy",), NOTE).axes
    (mark,) = marks(axes)
    assert (to_hex(mark.get_markerfacecolor()) != "#ffffff") is filled


def test_a_measure_without_differences_has_no_panel() -> None:
    group = DifferenceGroup("x", (1.0, 1.0), (DifferenceRow("a", (difference(1, 0, 2), None)),))
    with style.styled():
        figure = differences.draw([group], ("energy", "latency"), NOTE)
    assert [axes.get_xlabel() for axes in figure.axes] == ["energy, difference (%)"]


ORDINARY = [(2.0 * place, (2.0 * place - 3, 2.0 * place + 3)) for place in range(-5, 6)]


def test_a_huge_interval_stretches_no_axis() -> None:
    axis = reach([*ORDINARY, (1.0, (-90.0, 900.0))], [400.0])
    assert axis == (-26.0, 26.0), "twice what nine in ten intervals need"
    assert beyond((-90.0, 900.0), axis) == (True, True)
    assert not any(any(beyond(ends, axis)) for _, ends in ORDINARY)


def test_an_axis_shows_all_means_and_one_interval() -> None:
    assert reach([*ORDINARY, (300.0, None)])[1] == 300.0
    assert reach([(-2.0, (-30.0, 26.0))], [10.0]) == (-30.0, 26.0)
    assert reach([(0.0, None)], [10.0]) == (-10.0, 10.0)
    assert reach([]) == (0.0, 0.0)


def test_no_bar_goes_below_what_a_measure_can_be() -> None:
    assert possible((-140.0, 20.0)) == (-100.0, 20.0)
    group = DifferenceGroup("x", (None,), (DifferenceRow("a", (difference(-60, -140, 20),)),))
    with style.styled():
        (axes,) = differences.draw([group], ("energy",), NOTE).axes
    bar = next(line for line in axes.lines if len(np.asarray(line.get_xdata())) == 2)
    assert np.asarray(bar.get_xdata()).tolist() == [-100.0, 20.0]
    assert axes.get_xlim()[0] > -120


def test_arrows_say_that_bars_go_on() -> None:
    rows = [difference(mean, *ends) for mean, ends in (*ORDINARY, (1.0, (-90.0, 900.0)))]
    group = DifferenceGroup("x", (None,), tuple(DifferenceRow("a", (row,)) for row in rows))
    calm = DifferenceGroup("x", (None,), group.rows[:-1])
    with style.styled():
        (axes,) = differences.draw([group], ("energy",), NOTE).axes
        (without,) = differences.draw([calm], ("energy",), NOTE).axes
    arrows = [mark for mark in marks(axes) if mark.get_marker() in ("<", ">")]
    assert [at(arrow) for arrow in arrows] == [(end, len(rows)) for end in axes.get_xlim()]
    assert not [mark for mark in marks(without) if mark.get_marker() in ("<", ">")]
    assert (differences.goes_on([group]), differences.goes_on([calm])) == (True, False)


def test_lines_of_differences_have_arrows_too() -> None:
    points = tuple(
        LinePoint(float(count), 1.0, (-1.0, 900.0 if count == COUNTS[-1] else 3.0))
        for count in COUNTS
    )
    shown = LinePanel("", "%", (LineSeries("a", 0, False, points),), differences=True)
    (axes,) = drawn([[shown]]).axes
    assert lines.goes_on(shown)
    assert not lines.goes_on(replace(shown, series=(LineSeries("a", 0, False, points[:-1]),)))
    assert axes.get_ylim()[1] < 10
    assert [mark.get_marker() for mark in marks(axes)].count("^") == 1
