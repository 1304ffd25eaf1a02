# SPDX-License-Identifier: GPL-2.0-or-later
"""The record and the page of verdicts at every value of the model axes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.conditions import control_text
from analysis.results.axes import ModelAxes
from analysis.robust import AtValue, Robust
from configs.axes import AXES
from configs.platform import Platform
from configs.platform_file import load_platform
from experiments.axes import alternatives
from host.errors import RequestError
from studies.axes.page import parts
from studies.axes.plan import NAME, PAGES, only, plan
from studies.axes.record import added, record_of
from studies.draw import save
from studies.pages.plan import pages
from tests.support.repo import REPO
from tests.support.varied import at


@pytest.fixture
def record(juno: Platform) -> ModelAxes:
    """Asked, cas uses more; with the second value it uses less."""
    values = [
        AtValue("power", "derived", "computed: so", 0, at(juno, 1.1)),
        AtValue("speeds", "measured", "measured: so", 40, at(juno, 0.6)),
    ]
    return record_of([Robust(at(juno, 1.0), values, ["dvfs: none"])], "python -m studies.axes")


def test_what_is_decided_and_what_survives(record: ModelAxes) -> None:
    """Two statements are decided; one of them, and the energy, depend on the second value."""
    (scenario,) = record.scenarios
    assert [(over.asked, over.all) for over in scenario.statements] == [
        *(("shown", "depends"), ("refuted", "refuted")),
    ]
    assert parts(record)["answer"].endswith(
        ", 1 of 2 verdicts and 0 of 1 differences in energy are the same at every value."
    )
    assert "depends on speeds (measured: less)" in parts(record)["energies"]
    assert "| refuted | refuted |" in parts(record)["statements"]
    values = parts(record)["values"]
    for words in ("| as asked |", "| speeds | measured | 40 |", "Not varied: dvfs: none."):
        assert words in values
    assert "* speeds measured: measured: so." in values


def test_the_record_reads_back_and_its_page_is_drawn(record: ModelAxes, tmp_path: Path) -> None:
    page = save(NAME, record, tmp_path)
    assert ModelAxes.read(tmp_path / f"{NAME}.json") == record
    text = page.read_text()
    assert "{{" not in text
    head = (
        f"In 1 of {len(plan())} planned scenarios (eas/video-playback on juno-r2), 1 of 2 verdicts"
    )
    assert head in text.replace("\n", " ")


def test_scenarios_without_some_axes_are_counted_apart(record: ModelAxes, juno: Platform) -> None:
    """They have not shown that they survive the others."""
    robust = Robust(at(juno, 1.0), [AtValue("power", "derived", "so", 0, at(juno, 1.1))], [])
    (billed,) = record_of([robust], "python -m studies.axes", ["power"]).scenarios
    assert billed.not_asked == tuple(name for name in AXES if name != "power")
    both = replace(record, scenarios=(replace(billed, scenario="eas/game"), *record.scenarios))
    planned = len(plan())
    assert parts(both)["answer"] == (
        f"In 1 of {planned} planned scenarios (eas/video-playback on juno-r2), 1 of 2 verdicts and "
        "0 of 1 differences in energy are the same at every value. "
        f"In 1 of {planned} planned scenarios (eas/game on juno-r2), with these axes alone: power, "
        "2 of 2 verdicts and 1 of 1 differences in energy are the same at every value."
    )
    assert "* Not run: shared_power, " in parts(both)["values"]


def test_scenarios_are_added_to_a_record(record: ModelAxes) -> None:
    """Each keeps the command that made it; the same scenario is replaced."""
    (video,) = record.scenarios
    game = replace(video, scenario="eas/game", origin=replace(video.origin, command="another"))
    both = added(replace(record, scenarios=(game,)), record)
    assert sorted(each.scenario for each in both.scenarios) == [game.scenario, video.scenario]
    assert added(both, record) == both
    sourced = next(each for each in plan() if "board dvfs" in each.conditions)
    words = control_text(sourced.controls.words)
    varied = replace(video, scenario=sourced.scenario, platform=sourced.platform, conditions=words)
    under = replace(record, scenarios=(varied,))
    assert len(added(record, under).scenarios) == len(record.scenarios) + 1
    gone = replace(video, scenario="eas/gone")
    assert added(replace(record, scenarios=(gone,)), record) == record
    for command in ("`another`", "`python -m studies.axes`"):
        assert command in parts(both)["conditions"]
    with pytest.raises(RequestError, match="--add: hz is 1000 in the record and 250 now"):
        added(replace(record, hz=1000), record)


def test_the_record_has_todays_values() -> None:
    """A value that the axes no longer have says nothing of today's model."""
    record = ModelAxes.read(REPO / "results" / f"{NAME}.json")
    for scenario in record.scenarios:
        platform = load_platform(scenario.platform)
        for each in scenario.values[1:]:
            allowed = [value.name for value in alternatives(platform, each.axis)]
            assert each.value in allowed, (scenario.scenario, each.axis)


def test_the_plan_has_every_scenario_with_statements() -> None:
    every = plan()
    assert all(each.variants[0] == "mainline" and len(each.variants) > 1 for each in every)
    scenarios = {
        (page.platform, group.scenario)
        for page in pages()
        if page.name in PAGES
        for group in page.groups
    }
    assert {(each.platform, each.scenario) for each in every} <= scenarios
    spike = only(every, ["uclamp/frequency-spike"])
    assert [each.variants for each in spike] == [("mainline", "uclamp-sum")] * 2
    assert [bool(each.conditions) for each in spike] == [True, False]
    assert only(every, ["uclamp/frequency-spike"], defaults=True) == spike[1:]
    assert only(every, ["uclamp/frequency-spike"], from_sources=True) == spike[:1]
    asked = only(every, from_sources=True)
    assert {each.scenario for each in asked} == {each.scenario for each in every}
    assert len(every) == len(set(every))
    assert {each.platform for each in only(every, [], "pixel6")} == {"pixel6"}
    with pytest.raises(RequestError, match="unknown scenario 'uclamp/frequency-spik'"):
        only(every, ["uclamp/frequency-spik"])
