# SPDX-License-Identifier: GPL-2.0-or-later
"""The results pages: what they are made of, and how comparisons become text."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.compare import Comparison, comparison
from analysis.compare_text import text as text_of
from analysis.derive import derive
from analysis.records.cell import Expectation
from analysis.results.comparisons import Change, ScenarioResult
from analysis.results.findings import Finding
from configs.activity import Activity
from configs.platform import Platform
from configs.platform_file import load_platform
from experiments.controls import AS_IT_IS, Controls
from experiments.request import resolve
from experiments.scenario_file import load_scenario
from experiments.scenario_names import names
from host.errors import RequestError
from kernels import variants
from kernels.variants import load_variants
from studies.pages.__main__ import main
from studies.pages.page import changes, parts
from studies.pages.plan import EAS, FIVE, OF_THE_PHONE, PageGroup, only, pages, sourced
from studies.pages.record import record_of
from studies.pages.run import requests
from studies.wakeup_cost.run import lines_changed
from tests.support.records import kernel_record
from tests.support.synthetic import make_run


def test_pages_name_what_there_is() -> None:
    known = load_variants()
    assert len({page.name for page in pages()}) == len(pages())
    for page in pages():
        for group in page.groups:
            assert group.variants[0] == "mainline"
            assert {name.partition("@")[0] for name in group.variants} <= set(known)
            for request in requests(page, group, False):
                assert resolve(request).platform.name == page.platform


def test_every_scenario_of_the_issue_has_its_page() -> None:
    on = {page.name: {group.scenario for group in page.groups} for page in pages()}
    assert on["uclamp"] == set(FIVE)
    assert len(FIVE) == 5
    assert on["eas-pixel6"] == on["eas-juno-r2"] == set(EAS)
    perf = {"eas/sched-pipe-perf"}  # a binary that the person brings
    elsewhere = {"smoke", "busy", "eas/sched-pipe-pinned"}  # checks of engines; the page of costs
    elsewhere |= on["push-pixel6"]
    elsewhere |= {name for name in names() if name.startswith("programs/")}
    # No source measured them: workloads of the rework with a part of their time in memory.
    elsewhere |= {name for name in names() if name.startswith("memory/")}
    assert not on["clamps"] & on["clamps-weight"]
    assert (
        on["clamps"] | on["clamps-weight"] == set(names()) - set(FIVE) - set(EAS) - perf - elsewhere
    )
    assert on["uclamp-pixel6"] == {*FIVE, *OF_THE_PHONE}
    assert on["controls"] >= {"uclamp/frequency-spike", "uclamp/eight-capped-tasks"}
    assert "eas/video-playback" in on["controls"]


def test_every_statement_that_names_a_bad_variant_is_run_with_it() -> None:
    """On one page at least, so that a statement that cannot fail is found by real runs."""
    tested = {
        (group.scenario, entry.variant, entry.statement)
        for page in pages()
        for group in page.groups
        for entry in load_scenario(group.scenario, load_platform(page.platform)).expect
        if entry.variant in group.variants and {*entry.fails_under} & {*group.variants}
    }
    on_pages = {group.scenario for page in pages() for group in page.groups}
    asked = {
        (name, entry.variant, entry.statement)
        for name in on_pages
        for entry in load_scenario(name, load_platform("juno-r2")).expect
        if {*entry.fails_under} & {*load_variants()}
    }
    assert asked <= tested


@pytest.fixture
def compared(tmp_path: Path, juno: Platform, juno_activity: Activity) -> Comparison:
    """Made-up runs of two variants with two seeds; one expectation is not met."""
    runs_by_variant = {}
    for variant in ("mainline", "cas"):
        runs = [make_run(tmp_path, juno, variant, seed) for seed in range(2)]
        runs_by_variant[variant] = [derive(run, juno, juno_activity) for run in runs]
    kernel = kernel_record("base", "6.12.1")
    wrong = Expectation("cas", "energy_j.total < 0", "nobody")
    for variant, runs_of in runs_by_variant.items():
        more = (wrong,) if variant == "cas" else ()
        runs_by_variant[variant] = [
            replace(run, cell=replace(run.cell, kernel=kernel, expect=(*run.cell.expect, *more)))
            for run in runs_of
        ]
    return comparison(juno, runs_by_variant)


def test_a_page_has_spread_difference_verdict_and_finding(
    compared: Comparison, juno: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {
        ("cas", "energy_j.total < 0"): Finding("energy is never negative", compared.conditions)
    }
    monkeypatch.setattr("studies.pages.page.findings", lambda *_: known)
    group = PageGroup("eas/video-playback", ("mainline", "cas"))
    scenario = load_scenario(group.scenario, juno)
    record = record_of([(group, scenario, compared)], "make results")
    assert record == record_of([(group, scenario, compared)], "make results")
    shown = parts(record)
    assert "juno-r2, engine qemu (busy loops elided), short windows, 2 seeds" in shown["conditions"]
    assert "Linux 6.12.1, HZ 250" in shown["conditions"]
    assert "Fewer than 10 seeds: no test is made." in shown["conditions"]
    assert "Made by `make results`, from runs (kernel 6.12.1, qemu 1:10.0.0" in shown["conditions"]
    text = shown["scenarios"]
    assert text.count("### eas/video-playback") == 1
    assert scenario.source in text
    totals = [
        [run.result.energy_j.total * 1e3 for run in runs] for runs in compared.variants.values()
    ]
    assert record.scenarios[0].variants[1].energy_mj_by_seed == tuple(totals[1])
    mean = [sum(values) / len(values) for values in totals]
    per_work = [
        sum(values) / len(values)
        for runs in compared.variants.values()
        for values in ([run.result.energy_per_work_j or 0 for run in runs],)
    ]
    line = next(row for row in text.splitlines() if row.startswith("| cas |"))
    assert f"| cas | {mean[1]:.1f}" in line
    assert f" | {100 * (per_work[1] / per_work[0] - 1):+.1f} | " in line
    assert "| mJ per s of work |" in text
    assert f"| {100 * (mean[1] / mean[0] - 1):+.1f} |" in line
    assert "* **undecided**: cas: `missed_deadlines < 1`: 0, stated below 1; met in 2 of 2" in text
    assert "* **undecided**: cas: `energy_j.total < 0`: " in text
    assert "met in 0 of 2 seeds; 2 seeds, a verdict needs 20. Source: nobody." in text
    assert "  Finding: energy is never negative" in text
    assert shown["verdicts"] == "0 shown, 0 refuted, 3 undecided"
    assert "| 0 shown, 0 refuted, 3 undecided |" in shown["summary"]
    assert (
        f"cas {100 * (per_work[1] / per_work[0] - 1):+.1f} per s of work; noise" in shown["summary"]
    )


def test_controls_are_named_where_a_scenario_stands_more_than_once(
    compared: Comparison, juno: Platform
) -> None:
    groups = [
        PageGroup("eas/video-playback", ("mainline", "cas"), controls)
        for controls in (AS_IT_IS, Controls(rate_limit_us=2000))
    ]
    scenario = load_scenario("eas/video-playback", juno)
    shown = parts(record_of([(group, scenario, compared) for group in groups], "make results"))
    assert shown["scenarios"].count("### eas/video-playback\n") == 1
    assert "#### eas/video-playback: rate limit 2000 us" in shown["scenarios"]
    assert "| eas/video-playback, rate limit 2000 us |" in shown["summary"]


def test_the_answer_lists_what_is_shown_and_what_is_refuted(
    compared: Comparison, juno: Platform
) -> None:
    scenario = load_scenario("eas/video-playback", juno)
    groups = [
        PageGroup("eas/video-playback", ("mainline", "cas"), controls)
        for controls in (AS_IT_IS, Controls(rate_limit_us=2000))
    ]
    record = record_of([(group, scenario, compared) for group in groups], "make results")
    assert parts(record)["decided"] == "* shown: none\n* refuted: none"
    first, other = record.scenarios

    def judged(result: ScenarioResult, *words: str) -> ScenarioResult:
        verdicts = zip(result.judged, ("mainline", "cas"), words, strict=False)
        return replace(
            result,
            judged=tuple(
                replace(verdict, variant=variant, verdict=word)
                for verdict, variant, word in verdicts
            ),
        )

    record = replace(
        record, scenarios=(judged(first, "shown", "refuted"), judged(other, "undecided", "refuted"))
    )
    assert parts(record)["decided"].splitlines() == [
        "* shown: eas/video-playback (mainline with 1 of 2 settings)",
        "* refuted: eas/video-playback (cas with 2 of 2 settings)",
    ]
    record = replace(record, scenarios=record.scenarios[:1])
    assert parts(record)["decided"].splitlines() == [
        "* shown: eas/video-playback (mainline)",
        "* refuted: eas/video-playback (cas)",
    ]


def test_changes_of_energy_have_their_range_over_controls(
    compared: Comparison, juno: Platform
) -> None:
    scenario = load_scenario("eas/video-playback", juno)
    groups = [
        PageGroup("eas/video-playback", ("mainline", "cas"), controls)
        for controls in (AS_IT_IS, Controls(rate_limit_us=2000))
    ]
    record = record_of([(group, scenario, compared) for group in groups], "make results")
    first, other = record.scenarios
    base, variant = other.variants
    other = replace(
        other, variants=(base, replace(variant, per_work_change=Change(-0.04, None, None)))
    )
    shown = changes(replace(record, scenarios=(first, other)))
    percent = first.variants[1].per_work_change
    assert percent is not None
    assert shown["eas/video-playback/cas"] == f"{percent.percent:+.1f} % per s of work"
    ends = sorted([percent.percent, 0.0])
    assert shown["eas/video-playback/cas/range"] == f"{ends[0]:+.1f} to {ends[1]:+.1f} %"


def test_a_finding_is_not_that_of_other_controls(
    compared: Comparison, juno: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page of controls and a comparison show a finding only where its conditions hold."""
    statement = ("cas", "energy_j.total < 0")
    known = {statement: Finding("energy is never negative", compared.conditions)}
    for module in ("studies.pages.page", "analysis.compare"):
        monkeypatch.setattr(f"{module}.findings", lambda *_: known)
    assert "finding: energy is never negative" in text_of(compared)
    controls = Controls(speeds="measured")
    changed = comparison(
        juno,
        {
            name: [
                replace(
                    run,
                    cell=replace(
                        run.cell,
                        set_otherwise=tuple(controls.words),
                        controls=replace(run.cell.controls, speeds="measured"),
                    ),
                )
                for run in runs
            ]
            for name, runs in compared.variants.items()
        },
    )
    text = " ".join(text_of(changed).split())
    assert "energy is never negative" not in text
    assert "finding: none under these conditions; there is one for speeds board instead of" in text
    scenario = load_scenario("eas/video-playback", juno)
    group = PageGroup("eas/video-playback", ("mainline", "cas"), controls)
    shown = parts(record_of([(group, scenario, changed)], "make results"))["scenarios"]
    assert "energy is never negative" not in shown
    assert "Finding: none under these conditions; there is one for speeds board" in shown


def test_the_sources_conditions_stand_first_on_its_board() -> None:
    by_name = {page.name: page.groups for page in pages()}
    had = load_scenario("eas/game", load_platform("pixel6")).source_conditions
    assert had is not None
    first, second = (group for group in by_name["eas-pixel6"] if group.scenario == "eas/game")
    assert (first.controls, second.controls) == (had.controls, AS_IT_IS)
    assert first.words == "the source's conditions (board dvfs, no ni random)"
    # On another board they are none; where the source had the defaults, there is nothing to add.
    others = [group for group in by_name["eas-juno-r2"] if group.scenario == "eas/game"]
    assert [group.controls for group in others] == [AS_IT_IS]
    assert not any(group.of_source for group in by_name["controls"])


def test_a_group_of_the_sources_conditions_says_whose_they_are(
    compared: Comparison, juno: Platform
) -> None:
    scenario = load_scenario("eas/sched-pipe", juno)
    had = scenario.source_conditions
    assert had is not None
    variants = ("mainline", "cas")
    groups = [
        PageGroup("eas/sched-pipe", variants, had.controls, of_source=True),
        PageGroup("eas/sched-pipe", variants),
    ]
    record = record_of([(group, scenario, compared) for group in groups], "make results")
    shown = parts(record)["scenarios"]
    assert f"#### eas/sched-pipe: the source's conditions (no ni random)\n\n{had.source}." in shown
    assert shown.count(had.source) == 1


def test_only_some_variants_of_a_page() -> None:
    page = only(pages()[0], ["mainline", "feec-b"])
    assert {group.variants for group in page.groups} == {("mainline", "feec-b")}
    assert not only(pages()[0], ["push-only"]).groups
    with pytest.raises(RequestError, match=r"unknown variant 'feec-e'"):
        only(page, ["feec-e"])


def test_the_sources_conditions_alone_where_they_are_known() -> None:
    every = {page.name: page for page in pages()}
    for name in ("uclamp", "eas-pixel6"):
        page = sourced(every[name])
        assert [group.scenario for group in page.groups] == list(
            dict.fromkeys(group.scenario for group in every[name].groups)
        )
        assert any(group.of_source for group in page.groups)
    # No source, nothing to leave out.
    assert sourced(every["controls"]) == every["controls"]


def test_unknown_page_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["uclmap"]) == 2
    assert "unknown page 'uclmap' (did you mean uclamp?)" in capsys.readouterr().err


def test_lines_of_a_queue() -> None:
    """As the statistics at the head of the patches say."""
    for queue in ("base", "feec"):
        stated = [0, 0]
        for patch in (variants.SERIES / queue).glob("*.patch"):
            line = re.search(r"^ \d+ files? changed(.*)$", patch.read_text(), re.MULTILINE)
            assert line is not None
            for place, word in enumerate(("insertion", "deletion")):
                number = re.search(rf"(\d+) {word}", line[1])
                stated[place] += int(number[1]) if number else 0
        assert lines_changed(queue) == tuple(stated)
