# SPDX-License-Identifier: GPL-2.0-or-later
"""What a page says of its conditions is true of every scenario, or stands under the scenario."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.results.comparisons import Comparisons, ScenarioResult
from analysis.results.noise import NoiseFloor
from analysis.results.origin import RESULTS
from experiments.scenario_names import names
from studies.draw import DRAWINGS, INDEX
from studies.notes import PAGES
from studies.pages import conditions
from studies.pages.conditions import noise_floor
from studies.pages.page import parts
from studies.pages.plan import pages

OF_COMPARISONS = [name for name, drawing in DRAWINGS.items() if drawing.kind is Comparisons]


def read(name: str) -> Comparisons:
    return Comparisons.read(RESULTS / f"{name}.json")


def said(result: ScenarioResult) -> str:
    """The controls that the record has of a scenario, as its line names them."""
    dequeue = "off" if "no-delay-dequeue" in result.set_otherwise else "on"
    return (
        f"Controls: {result.controls}. Rate limit of schedutil {result.rate_limit_us} us, "
        f"transitions of {result.transition_latency_us} us, delayed dequeue {dequeue}."
    )


@pytest.mark.parametrize("name", OF_COMPARISONS)
def test_every_scenario_of_a_page_names_its_controls(name: str) -> None:
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("Controls: ")]
    assert lines == [said(result) for result in read(name).scenarios]


@pytest.mark.parametrize("name", OF_COMPARISONS)
def test_general_lines_name_no_control_that_a_scenario_may_have_otherwise(name: str) -> None:
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    general = text[text.index("## Evidence") : text.index("\n### ")]
    assert "delayed dequeue" not in general
    assert "rate limit" not in general


def test_board_dvfs_has_its_own_times_on_the_page_of_the_phone() -> None:
    shown = parts(read("eas-pixel6"))["scenarios"]
    playback, pipe = (
        shown[shown.index(f"### {name}") :] for name in ("eas/video-playback", "eas/sched-pipe")
    )
    assert "(board dvfs, no ni random). Rate limit of schedutil 10000 us" in playback[:1500]
    assert "(no ni random). Rate limit of schedutil 500 us" in pipe[:1500]


def test_a_page_has_the_remarks_of_its_record() -> None:
    record = read("eas-pixel6")
    remark = "Intervals are those of an earlier method"
    assert remark not in parts(record)["conditions"]
    remarked = replace(record, origin=replace(record.origin, remarks=(remark,)))
    assert f"\n* {remark}." in parts(remarked)["conditions"]


def test_a_record_without_times_of_its_scenarios_has_those_of_all() -> None:
    record = read("eas-juno-r2")
    bare = replace(record.scenarios[0], rate_limit_us=None, transition_latency_us=None)
    assert conditions.of_scenario(record, bare) == said(record.scenarios[0])


def test_a_page_of_sources_conditions_says_that_todays_defaults_were_not_run() -> None:
    lines = parts(read("eas-pixel6"))["conditions"].splitlines()
    (line,) = (line for line in lines if "today's defaults" in line)
    assert all(result.scenario in line for result in read("eas-pixel6").scenarios)
    assert "today's defaults" not in parts(read("uclamp"))["conditions"]


def test_every_difference_has_its_floor_or_says_that_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record = read("uclamp")
    result = record.scenarios[0]
    percents = {"energy_j.total": 1.25, "energy_per_work_j": 0.5}
    floor = NoiseFloor("juno-r2", result.scenario, "mainline", {}, 10, {}, percents)
    monkeypatch.setattr(conditions, "recorded", lambda *_: floor)
    assert noise_floor(record, result, per_work=False) == "+-1.2 %"
    shown = parts(record)
    assert "% of mainline's (noise floor +-1.2 %)" in shown["scenarios"]
    assert "noise floor +-0.5 %" in shown["summary"]
    assert "not measured" not in shown["summary"]
    assert "They are of 10 seeds on each side; this page has 20." in shown["conditions"]
    monkeypatch.setattr(conditions, "recorded", lambda *_: None)
    shown = parts(record)
    assert shown["summary"].count("noise floor not measured") == len(record.scenarios)
    assert "% of mainline's (noise floor not measured)" in shown["scenarios"]
    assert "known for 0 of 10 comparisons here" in shown["conditions"]


@pytest.mark.parametrize("name", OF_COMPARISONS)
def test_every_row_of_a_page_speaks_of_its_noise_floor(name: str) -> None:
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| variant | energy (mJ)")]
    assert len(rows) == len(read(name).scenarios)
    assert all("(noise floor " in row for row in rows)


#: Loads that were set after the first runs, and what was set there.
SET_LATER = {"eas/false-overloaded": "0.2873", "ui/jank-calibrated": "1.95"}


@pytest.mark.parametrize("name", OF_COMPARISONS)
def test_a_page_names_loads_that_were_set_after_the_first_runs(name: str) -> None:
    limits = (PAGES / f"{name}.md").read_text(encoding="utf-8").partition("\n## Limits\n")[2]
    for scenario, value in SET_LATER.items():
        on_page = scenario in {result.scenario for result in read(name).scenarios}
        assert (f"`{scenario}`" in limits and value in limits) is on_page


def test_the_index_says_which_scenarios_are_on_no_page() -> None:
    on_pages = {group.scenario for page in pages() for group in page.groups}
    assert not [name for name in names() if name.startswith("memory/") and name in on_pages]
    assert "The scenarios `memory/*` are on no page" in (PAGES / f"{INDEX}.md").read_text()
