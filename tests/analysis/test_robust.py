# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison at every value of the model axes."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.text import Text
from syrupy.assertion import SnapshotAssertion

from eascope.analysis import figures, report
from eascope.analysis.answer import answers
from eascope.analysis.compare import Comparison
from eascope.analysis.figures import robust as figure
from eascope.analysis.figures import style
from eascope.analysis.glance import glance
from eascope.analysis.overall import LESS, MORE, NO_TEST, SAME, sign
from eascope.analysis.records.cell import Expectation
from eascope.analysis.records.verdict import DEPENDS, HOLDS
from eascope.analysis.robust import AtValue
from eascope.analysis.robust_text import expectation_lines, robust_json, robust_text
from eascope.analysis.verdict_text import counts
from eascope.configs.platform import Platform
from tests.support.varied import SEEDS, at

SIGN = "cas vs mainline: energy"


def robust(
    platform: Platform, *factors: float, asked: float = 1.0, seeds: int = SEEDS
) -> Comparison:
    """Asked at one factor, and an axis each with the factors."""
    values = [
        AtValue(f"axis{number}", "other", "assumed: other", number * 40, at(platform, item, seeds))
        for number, item in enumerate(factors)
    ]
    left_out = ["dvfs (the platform states no other value)"]
    return replace(at(platform, asked, seeds), assumed=values, not_varied=left_out)


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
    other = result.assumed[0].difference("cas", ("energy_j", "total"))
    assert other is not None
    assert sign(other) == SAME
    words = "depends on axis0 (more as configured, no significant difference with other)"
    assert result.overall("cas").words == words
    by_axis = "more as configured, no significant difference with axis0 other"
    assert answers(result)[0].endswith(f"; 20 seeds); sign unknown: {by_axis}")
    alike = robust(platform, equal, asked=equal)
    assert alike.overall("cas").word == SAME
    assert answers(alike) == answers(at(platform, equal))


def test_few_seeds_give_no_verdict_but_a_range(platform: Platform) -> None:
    two = robust(platform, 0.6, seeds=2)
    assert two.overall("cas").word == NO_TEST
    (answer,) = answers(two)
    assert "% (model range -24.9 .. +25.1 (axis0); 2 seeds, not tested: use --seeds 20)" in answer
    (answer,) = answers(robust(platform, 1.1, seeds=1))
    assert "+25.0 % (model range +25.0 .. +37.5 (axis0); one seed, not tested" in answer
    (answer,) = answers(robust(platform, 1.1, seeds=10))
    assert answer.endswith("; 10 seeds, a verdict needs 20)")


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        ((), ""),
        ((1.0,), ""),
        ((1.1,), "; model range +{0} .. +{1} (axis0); 20"),
        ((0.9,), "; model range +{1} .. +{0} (axis0); 20"),
        ((1.1, 1.2), "; model range +{0} .. +{2} (axis1); 20"),
        ((1.1, 0.9), "; model range +{2} (axis1) .. +{1} (axis0); 20"),
    ],
    ids=["no axis", "no change", "above", "below", "the farther", "both"],
)
def test_the_answer_has_both_intervals(
    platform: Platform, factors: Sequence[float], words: str
) -> None:
    """Seeds and model range stand beside each other; where no axis matters, seeds alone."""
    every = [at(platform, factor).total.differences["cas"].percent for factor in (1.0, *factors)]
    (answer,) = answers(robust(platform, *factors))
    assert words.format(*(f"{percent:.1f}" for percent in every)) in answer
    assert ("model range" in answer) is bool(words)
    assert answer.startswith(f"{SIGN} {every[0]:+.1f} % (95 % CI +")
    assert answer in glance(robust(platform, *factors))


def test_expectations_are_judged_at_every_value(platform: Platform) -> None:
    """The first expectation says that cas uses more energy; the second needs no energy."""
    result = robust(platform, 1.1, 0.6)
    more, misses = result.verdicts
    assert [verdict.verdict for verdict in result.as_asked] == ["shown", "refuted"]
    assert (more.verdict, misses.verdict) == (DEPENDS, "refuted")
    assert (more.depends_on, misses.depends_on) == (("axis1",), ())
    assert more.reason == "holds as configured, refuted with other"
    assert counts(result.verdicts) == "0 hold, 1 refuted, 0 undecided, 1 depends on a model axis"
    statement = "claim (cas): energy_j.total > energy_j.total[mainline] -- depends on axis1"
    assert f"{statement}: 0.251 against 0.2047, +" in glance(result)
    assert expectation_lines(result) == [
        f"1: {statement} (holds as configured, refuted with other)",
        "2: claim (cas): missed_deadlines < 1 -- refuted at every value",
    ]
    refuted, _ = robust(platform, 1.0, asked=0.6).verdicts
    assert (refuted.verdict, refuted.reason) == (DEPENDS, "refuted as configured, holds with other")


@pytest.mark.parametrize(("factor", "also"), [(1.0, ("bad",)), (0.7, ())])
def test_a_known_bad_variant_is_so_at_every_value(
    platform: Platform, factor: float, also: tuple[str, ...]
) -> None:
    """``bad`` shows the statement as asked; at a value at which it does not, the test can fail."""
    statement = "energy_j.total > energy_j.total[mainline]"

    def compared(of_bad: float) -> Comparison:
        both, bad = at(platform, 1.0).variants, at(platform, of_bad).variants["cas"]
        expect = (Expectation("cas", statement, "s", fails_under=("bad",)),)
        runs = {**both, "bad": [replace(r, cell=replace(r.cell, variant="bad")) for r in bad]}
        runs["cas"] = [replace(run, cell=replace(run.cell, expect=expect)) for run in runs["cas"]]
        runs["bad"] = [replace(run, cell=replace(run.cell, expect=())) for run in runs["bad"]]
        return replace(at(platform, 1.0), variants=runs)

    other = AtValue("power", "derived", "assumed: x", 0, compared(factor))
    (verdict,) = replace(compared(1.0), assumed=[other]).verdicts
    assert verdict.verdict == HOLDS
    assert verdict.also_shown_of == also
    assert verdict.known_bad == {"bad": HOLDS if also else DEPENDS}


def test_work_that_differs_anywhere_counts_everywhere(platform: Platform) -> None:
    asked = at(platform, 1.0, work=1.0)
    other = AtValue("speeds", "measured", "assumed: x", 40, at(platform, 1.0, work=2.0))
    assert asked.primary is asked.total
    result = replace(asked, assumed=[other])
    assert result.primary.row.path == ("energy_per_work_j",)
    words = "depends on speeds (more as configured, less with measured)"
    assert result.overall("cas").words == words
    assert answers(result)[0].startswith(f"{SIGN} per s of work +22.6 % (95 % CI +")
    by_axis = "more as configured, less with speeds measured"
    assert answers(result)[0].endswith(f"; sign unknown: {by_axis}")


def test_the_table_has_a_row_per_value(platform: Platform, snapshot: SnapshotAssertion) -> None:
    assert robust_text(robust(platform, 1.1, 0.6)) == snapshot


def test_json_carries_the_same(platform: Platform) -> None:
    record = json.loads(json.dumps(robust_json(robust(platform, 1.1, 0.6))))
    assert record["measure"] == "energy_j.total"
    (energy,) = record["energy"]
    assert (energy["verdict"], energy["depends_on"]) == (DEPENDS, ["axis1"])
    assert [end["axis"] for end in energy["range"]] == ["axis1", "axis0"]
    assert [item["verdict"] for item in record["expect"]] == [DEPENDS, "refuted"]
    values = record["values"]
    assert [(item["axis"], item["own_runs"]) for item in values] == [("axis0", 0), ("axis1", 40)]
    difference = values[1]["differences"][0]
    assert difference["variant"] == "cas"
    assert difference["confidence_95"][0] < difference["difference"] < 0
    assert values[1]["expect"][0]["verdict"] == "refuted"


def axes_of(compared: Comparison) -> Comparison:
    """The comparison with itself as another value."""
    other = AtValue("power", "derived", "assumed: x & y", 0, compared)
    return replace(compared, assumed=[other])


def test_the_figure_is_labelled_and_vector(
    compared: Callable[[int], Comparison], tmp_path: Path
) -> None:
    axes = axes_of(compared(3))
    with style.styled():
        artists = figure.draw(axes).findobj(Text)
    shown = "\n".join(artist.get_text() for artist in artists if isinstance(artist, Text))
    label = "energy per s of work, difference from mainline (%)"
    for words in (label, "power  derived", "as configured", "cas: not tested"):
        assert words in shown
    first = figures.write(axes, tmp_path / "a")["axes"]
    second = figures.write(axes, tmp_path / "b")["axes"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert "<image" not in first[0].read_text()
    assert len({mark for mark in figure.MARKS.values()}) == len(figure.MARKS)


def test_the_report_has_table_figure_and_sources(
    compared: Callable[[int], Comparison], tmp_path: Path
) -> None:
    axes = axes_of(compared(3))
    drawn = figures.write(axes, tmp_path)
    page = report.page(axes, drawn)
    section = page[page.index('<section id="axes">') :]
    section = section[: section.index("</section>")]
    assert "assumed: x &amp; y" in section
    assert '<svg role="img" aria-label="axes"' in section
    assert page.count('aria-label="axes"') == 1
    assert "extra runs" in section
    assert '<section id="axes">' not in report.page(compared(3), drawn)
