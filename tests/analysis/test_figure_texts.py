# SPDX-License-Identifier: GPL-2.0-or-later
"""Texts of figures: within the page, and none on another; bars are of the answer's energy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from eascope.analysis import figures
from eascope.analysis.compare import Comparison, comparison
from eascope.analysis.derive import Derived, derive
from eascope.analysis.figures import robust as axes_figure
from eascope.analysis.figures import stack, style
from eascope.analysis.robust import AtValue, Robust
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.power.model import DerivedPower
from tests.support.figure_texts import check, texts
from tests.support.synthetic import make_run
from tests.support.varied import at

Compared = Callable[[int], Comparison]

SHORT = ("mainline", "cas")
LONG = ("mainline@7.3", "uclamp-sum-ou-unclamped")
LONGER = ("the-base-of-my-series-before-v2@7.3", "a_name_without_any_hyphen_in_it")


def renamed(run: Derived, name: str) -> Derived:
    return replace(run, cell=replace(run.cell, variant=name))


def repeated(run: Derived, name: str, seeds: int, work: float) -> list[Derived]:
    """``run`` under ``name`` with some seeds, whose energies differ a little."""
    made = []
    for seed in range(seeds):
        energy = run.result.energy_j
        total = energy.total
        done = work * (1 + 0.001 * seed)
        result = replace(run.result, work=done, energy_per_work_j=total / done)
        cell = replace(run.cell, seed=seed)
        made.append(renamed(replace(run, result=result, cell=cell), name))
    return made


def many(
    compared: Compared, names: tuple[str, ...], seeds: int = 20, work: float = 1.0
) -> Comparison:
    """Over seeds, with an answer in percent and its interval; all but the first do ``work``."""
    made = compared(1)
    first, second = (made.variants[name][0] for name in made.names)
    return comparison(
        made.platform,
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
        made = at(platform, factor)
        runs = {"mainline@7.3": [renamed(run, "mainline@7.3") for run in made.variants["mainline"]]}
        for name in others:
            runs[name] = [renamed(run, name) for run in made.variants["cas"]]
        return comparison(platform, runs)

    # 0.8 gives cas the energy of mainline.
    made = Robust(named(0.8), [AtValue("speeds", "measured", "assumed: x", 40, named(0.8))])
    with style.styled():
        check(axes_figure.draw(made))


@pytest.mark.parametrize("names", [SHORT, LONG, LONGER])
def test_texts_of_a_stack(
    platform: Platform, activity: Activity, tmp_path: Path, names: tuple[str, str]
) -> None:
    model = DerivedPower(platform, replace(activity, measured=()))
    path = make_run(tmp_path, platform, "mainline", 0)
    run = derive(path, platform, replace(activity, measured=()), model)
    made = comparison(platform, {name: [renamed(run, name)] for name in names})
    with style.styled():
        check(stack.draw(made))


def bars(figure: Figure) -> dict[int, float]:
    """Where each row of bars ends, in mJ."""
    ends: dict[int, float] = {}
    for container in figure.axes[0].containers:
        for bar in container:
            row = round(bar.get_y() + bar.get_height() / 2)
            ends[row] = max(ends.get(row, 0.0), bar.get_x() + bar.get_width())
    return ends


def test_bars_are_of_the_energy_that_is_answered_for(compared: Compared) -> None:
    made = many(compared, SHORT, work=2.0)
    assert made.primary is not made.total
    with style.styled():
        figure = figures.FIGURES["energy"](made)
    shown = [text for text, _ in texts(figure)]
    ends = bars(figure)
    for row, name in enumerate(SHORT):
        mean = made.primary.mean(name)
        assert mean is not None
        assert ends[row] == pytest.approx(mean)
    percent = made.primary.differences["cas"].percent
    (total,) = (text for text in shown if text.startswith(f"{ends[1]:.1f} mJ"))
    assert total.endswith(f"\n{percent:+.1f} %")
    assert "energy per s of work (mJ)" in shown
    for line in figure.axes[0].lines:
        along, row_of = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert len(along) == 20
        assert max(along) == pytest.approx(ends[round(row_of[0])], rel=0.02)


def test_bars_are_of_the_window_where_the_same_was_done(compared: Compared) -> None:
    with style.styled():
        figure = figures.FIGURES["energy"](many(compared, SHORT))
    assert any(text.startswith("energy of the ") for text, _ in texts(figure))
