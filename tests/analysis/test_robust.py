# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison at every value of the model axes."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from matplotlib.text import Text

from eascope.analysis import figures, report
from eascope.analysis.compare import Comparison
from eascope.analysis.figures import robust as figure
from eascope.analysis.figures import style
from eascope.analysis.robust import DEPENDS, LESS, MORE, NO_TEST, SAME, AtValue, Robust, sign
from eascope.analysis.robust_text import (
    all_answers,
    expectation_lines,
    robust_answers,
    robust_json,
    robust_table,
    robust_text,
)
from eascope.configs.platform import Platform
from tests.support.varied import SEEDS, at


def robust(platform: Platform, *factors: float, asked: float = 1.0, seeds: int = SEEDS) -> Robust:
    """Asked at one factor, and an axis each with the factors."""
    values = [
        AtValue(f"axis{number}", "other", "assumed: other", number * 40, at(platform, item, seeds))
        for number, item in enumerate(factors)
    ]
    return Robust(at(platform, asked, seeds), values, ["dvfs: the platform states no other value"])


@pytest.mark.parametrize(
    ("asked", "factors", "word", "axes"),
    [
        (1.0, (1.1, 1.05), MORE, ()),
        (0.7, (0.6, 0.75), LESS, ()),
        (1.0, (1.1, 0.6), DEPENDS, ("axis1",)),
        (1.0, (0.6, 0.6), DEPENDS, ("axis0", "axis1")),
    ],
)
def test_a_verdict_needs_one_sign_at_all_values(
    platform: Platform, asked: float, factors: Sequence[float], word: str, axes: tuple[str, ...]
) -> None:
    overall = robust(platform, *factors, asked=asked).overall("cas")
    assert (overall.word, overall.axes) == (word, axes)


def test_no_difference_at_one_value_is_no_verdict(platform: Platform) -> None:
    """The interval of that value has zero in it."""
    base, cas = (
        [run.result.energy_j.total for run in at(platform, 1.0).variants[name]]
        for name in ("mainline", "cas")
    )
    equal = sum(base) / sum(cas)
    result = robust(platform, equal)
    assert sign(result.difference(result.values[0].compared, "cas")) == SAME
    assert result.overall("cas").words == "depends on axis0 (other: cannot be told apart)"
    alike = robust(platform, equal, asked=equal)
    assert alike.overall("cas").word == SAME
    assert (
        "cannot be told apart by their energy at any of 1 other values"
        in (robust_answers(alike)[0])
    )


def test_few_seeds_give_no_verdict(platform: Platform) -> None:
    assert robust(platform, 0.6, seeds=2).overall("cas").word == NO_TEST
    assert robust_answers(robust(platform, 0.6, seeds=2)) == [
        "model axes: no test (--seeds 20 gives one)"
    ]
    (answer,) = robust_answers(robust(platform, 1.1, seeds=10))
    assert answer.endswith("; too few seeds for a verdict (20)")


def test_expectations_are_judged_at_every_value(platform: Platform) -> None:
    """The first expectation says that cas uses more energy; the second needs no energy."""
    result = robust(platform, 1.1, 0.6)
    more, misses = result.asked.verdicts
    assert (more.verdict, misses.verdict) == ("shown", "refuted")
    assert result.judged(more).words == "depends on axis1 (other: refuted)"
    assert result.judged(misses).word == "refuted"
    assert expectation_lines(result) == [
        "1: expected of cas: energy_j.total > energy_j.total[mainline]: "
        "depends on axis1 (other: refuted)",
        "2: expected of cas: missed_deadlines < 1: refuted at every value",
    ]


def test_work_that_differs_anywhere_counts_everywhere(platform: Platform) -> None:
    asked = at(platform, 1.0, work=1.0)
    other = AtValue("speeds", "measured", "assumed: x", 40, at(platform, 1.0, work=2.0))
    result = Robust(asked, [other])
    assert asked.primary is asked.total
    assert result.path == ("energy_per_work_j",)
    assert result.overall("cas").words == "depends on speeds (measured: less)"


def test_the_answer_states_the_range(platform: Platform) -> None:
    (answer,) = robust_answers(robust(platform, 1.1, 0.9))
    assert answer.startswith(
        "cas uses more energy than mainline at all 2 other values of the model axes, too: +"
    )
    percents = [float(word) for word in answer.split() if word[0] in "+-" and word[1:2].isdigit()]
    result = robust(platform, 1.1, 0.9)
    every = [result.difference(value.compared, "cas").percent for value in result.values]
    assert percents == [round(item, 1) for item in sorted(p for p in every if p is not None)]


def test_the_answer_as_asked_says_that_it_is(platform: Platform) -> None:
    result = robust(platform, 1.1, 0.6)
    first, second = all_answers(result.asked, result)
    assert first.startswith("cas against mainline, energy: depends on axis1")
    assert second == f"as asked: {all_answers(result.asked, None)[0]}"


def test_the_table_has_a_row_per_value(platform: Platform) -> None:
    table = robust_table(robust(platform, 1.1, 0.6))
    assert [column.title for column in table.columns] == [
        *("axis", "value", "own runs", "cas (%)", "1", "2"),
    ]
    rows = [[str(cell) for cell in row] for row in table.rows if isinstance(row, tuple)]
    assert [row[:3] for row in rows] == [
        ["as asked", "", "-"],
        ["axis0", "other", "0"],
        ["axis1", "other", "40"],
        ["all", "", "40"],
    ]
    assert [row[4:] for row in rows] == [
        *(["shown", "refuted"], ["shown", "refuted"], ["refuted", "refuted"]),
        ["depends", "refuted"],
    ]
    assert rows[2][3].startswith("-")
    assert " .. " in rows[2][3]
    assert rows[3][3] == "depends"


def test_text_and_json_carry_the_same(platform: Platform) -> None:
    result = robust(platform, 1.1, 0.6)
    assert "not varied: dvfs: the platform states no other value" in robust_text(result)
    record = json.loads(json.dumps(robust_json(result)))
    assert record["measure"] == "energy_j.total"
    assert record["energy"] == [{"variant": "cas", "verdict": "depends", "depends_on": ["axis1"]}]
    assert [item["verdict"] for item in record["expect"]] == ["depends", "refuted"]
    assert [(item["axis"], item["own_runs"]) for item in record["values"]] == [
        *(("axis0", 0), ("axis1", 40)),
    ]
    difference = record["values"][1]["differences"][0]
    assert difference["variant"] == "cas"
    assert difference["confidence_95"][0] < difference["difference"] < 0
    assert record["values"][1]["expect"][0]["verdict"] == "refuted"


def axes_of(compared: Comparison) -> Robust:
    """The comparison with itself as another value."""
    return Robust(compared, [AtValue("power", "derived", "assumed: x & y", 0, compared)])


def test_the_figure_is_labelled_and_vector(
    compared: Callable[[int], Comparison], tmp_path: Path
) -> None:
    axes = axes_of(compared(3))
    with style.styled():
        artists = figure.draw(axes).findobj(Text)
    shown = "\n".join(artist.get_text() for artist in artists if isinstance(artist, Text))
    label = "energy per s of work, difference from mainline (%)"
    for words in (label, "power  derived", "as asked", "cas: no test"):
        assert words in shown
    first = figures.write(axes.asked, tmp_path / "a", axes)["axes"]
    second = figures.write(axes.asked, tmp_path / "b", axes)["axes"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert "<image" not in first[0].read_text()
    assert len({mark for mark in figure.MARKS.values()}) == len(figure.MARKS)


def test_the_report_has_table_figure_and_sources(
    compared: Callable[[int], Comparison], tmp_path: Path
) -> None:
    axes = axes_of(compared(3))
    drawn = figures.write(axes.asked, tmp_path, axes)
    page = report.page(axes.asked, drawn, robust=axes)
    section = page[page.index('<section id="axes">') :]
    section = section[: section.index("</section>")]
    assert "assumed: x &amp; y" in section
    assert '<svg role="img" aria-label="axes"' in section
    assert page.count('aria-label="axes"') == 1
    assert "own runs" in section
    assert '<section id="axes">' not in report.page(axes.asked, drawn)
