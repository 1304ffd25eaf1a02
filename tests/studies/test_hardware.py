# SPDX-License-Identifier: GPL-2.0-or-later
"""The scoreboard: which comparison counts, what is right, and that page and README follow it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from analysis.records.cell import Expectation
from analysis.records.verdict import REFUTED, SHOWN, UNDECIDED, Effect, Verdict
from analysis.results.comparisons import (
    Change,
    Comparisons,
    ScenarioResult,
    Spread,
    VariantResult,
)
from analysis.results.findings import Finding
from analysis.results.hardware import Counts, Hardware, Quantified, counts_of
from analysis.results.origin import RESULTS, RUNS, Origin
from studies import front
from studies.draw import save
from studies.hardware import record as hardware_record
from studies.hardware.__main__ import main
from studies.hardware.page import parts
from studies.hardware.plan import NAME, PREDICTED_ON, Stated, quantified
from studies.hardware.record import record_of, records_of
from studies.pages.conditions import conditions_of

MORE = Expectation(
    *("cas", "energy_j.total > energy_j.total[mainline]", "Loehle: +18.5 %"),
    size_percent=18.5,
    measured="loehle",
)
SAME = Expectation(
    *("cas", "abs(energy_j.total / energy_j.total[mainline] - 1) < 2%", "Loehle: none"),
    size_percent=0,
    measured="loehle",
)


def verdict_of(
    entry: Expectation,
    word: str,
    effect: tuple[float, float, float],
    *,
    seeds: int = 20,
    unit: str = "%",
    relative: bool = True,
    also: tuple[str, ...] = (),
    bad: Mapping[str, str] = MappingProxyType({"cas-performance": REFUTED}),
) -> Verdict:
    """With an effect and the ends of its interval, and what is said of known-bad variants."""
    measured = Effect(*effect, (0.0, None), unit, relative, paired=False, correlation=None)
    return Verdict(
        *(entry.variant, entry.statement, entry.source, entry.size_percent, word),
        effects=(measured,),
        met=word != REFUTED,
        seeds=seeds,
        also_shown_of=also,
        known_bad=dict(bad),
    )


def result_of(judged: Sequence[Verdict], scenario: str = "x", controls: str = "") -> ScenarioResult:
    energy = Spread(1.0, 1.0, 1.0)
    change = Change(-3.0, -4.0, -2.0)
    variants = tuple(
        VariantResult(name, energy, from_mainline, None, None, None, None, None, None, {})
        for name, from_mainline in (("mainline", None), ("uclamp-sum", change))
    )
    return ScenarioResult(scenario, "", "", controls, "", variants, tuple(judged))


def page_of(*results: ScenarioResult, platform: str = "pixel6") -> Comparisons:
    return Comparisons(
        Origin("make results", RUNS),
        *(platform, "qemu", "published", "short", 20, "6.12.1", 250, 1000, 500),
        scenarios=results,
    )


def board(*verdicts: Verdict, stated: Sequence[Expectation] = (MORE, SAME)) -> Hardware:
    records = {"eas-pixel6": page_of(result_of(verdicts))}
    return record_of(records, "make hardware", stated=[Stated("x", each) for each in stated])


def only(verdict: Verdict, entry: Expectation = MORE) -> Quantified:
    (statement,) = board(verdict, stated=(entry,)).statements
    return statement


def test_a_difference_has_the_sources_sign_or_shows_the_other() -> None:
    right = only(verdict_of(MORE, SHOWN, (30.0, 20.0, 40.0)))
    assert (right.right, right.opposite, right.within_factor, right.close) == (
        *(True, False, True, False),
    )
    wrong = only(verdict_of(MORE, REFUTED, (-4.0, -6.0, -2.0)))
    assert (wrong.right, wrong.opposite, wrong.within_factor) == (False, True, False)
    unsure = only(verdict_of(MORE, UNDECIDED, (-4.0, -9.0, 1.0)))
    assert (unsure.right, unsure.opposite, unsure.decided) == (False, False, False)
    assert only(verdict_of(MORE, SHOWN, (40.0, 35.0, 45.0))).within_factor is False


def test_no_difference_is_right_where_it_is_shown() -> None:
    shown = only(verdict_of(SAME, SHOWN, (0.5, 0.1, 0.9)), SAME)
    assert (shown.right, shown.sized, shown.ratio) == (True, False, None)
    refuted = only(verdict_of(SAME, REFUTED, (5.0, 4.0, 6.0)), SAME)
    assert (refuted.right, refuted.opposite) == (False, False)


def test_levels_in_percent_have_no_size_but_rates_do() -> None:
    level = verdict_of(MORE, SHOWN, (17.0, 16.0, 18.0), relative=False)
    assert not only(level).sized
    rate = verdict_of(MORE, SHOWN, (17.0, 16.0, 18.0), relative=False, unit="1/s")
    stated = replace(MORE, size_percent=None, size=18.5)
    assert only(rate, stated).sized
    assert only(rate, stated).close


def test_a_size_in_percent_has_no_ratio_to_a_count() -> None:
    late = only(verdict_of(MORE, REFUTED, (0.5, 0.2, 0.8), unit=""))
    assert (late.ratio, late.sized, late.within_factor) == (None, False, False)
    shown = parts(board(verdict_of(MORE, REFUTED, (0.5, 0.2, 0.8), unit="")))["statements"]
    assert "| +18.5 % | +0.5 (+0.2 .. +0.8) | - |" in shown


def test_the_record_names_the_kernels_of_all_runs() -> None:
    first = page_of(result_of([]))
    second = replace(first, origin=replace(first.origin, versions={"kernel": "6.12.1, 7.3.4"}))
    record = record_of({"eas-pixel6": first, "push-pixel6": second}, "make hardware", stated=())
    assert record.origin.versions == {"kernel": "6.12.1, 7.3.4"}


def test_counts_and_order() -> None:
    record = board(
        verdict_of(MORE, REFUTED, (-4.0, -6.0, -2.0)), verdict_of(SAME, SHOWN, (0.5, 0.1, 0.9))
    )
    assert [each.theirs for each in record.statements] == [18.5, 0], "worst first"
    assert record.counts == Counts(
        *(2, 1, 1, 0),
        left_out=0,
        right=1,
        by_means=1,
        opposite=1,
        comparable=1,
        outside=1,
        sized=1,
        within_factor=0,
        close=0,
    )
    shown = parts(record)
    assert shown["answer"] == (
        "the source's size lies outside our interval in 1 of 1 differences of one unit, and our"
        " mean has the source's sign in 0 of 1. Of 2 figures of sources, 2 are decided: 1 as "
        "stated (none of them a difference), 1 refuted. 0 more are shown but not counted, "
        "because no known-bad variant refutes them. 1 is opposite to the stated effect. Goals "
        "missed: at least 80 % of the decided have the source's sign (1 of 2), none shows the "
        "other sign (1), at least 50 % of the decided sizes within a factor of 2 (0 of 1)"
    )
    assert "| a difference with a sign | 1 | 1 of 1 | 0 of 1 | 0 | 1 | 0 | 0 |" in shown["kinds"]
    assert "| no difference, within a margin | 1 | - | - | 1 | 0 | 0 | 0 |" in shown["kinds"]
    for words in ("| 1 of 2 | missed |", "| 1 | missed |", "| 0 of 1 | missed |"):
        assert words in shown["goals"]
    assert "**refuted**, **other sign**" in shown["statements"]


@pytest.mark.parametrize(
    ("interval", "unit", "outside"),
    [
        ((-4.5, 5.2), "%", True),
        ((-4.5, 20.0), "%", False),
        ((19.0, 30.0), "%", True),
        ((-4.5, 5.2), "", None),
    ],
)
def test_undecided_differences_are_counted_where_their_intervals_exclude_the_sources_size(
    interval: tuple[float, float], unit: str, outside: bool | None
) -> None:
    """Undecided is not only a matter of seeds: the interval may say that ours is another size."""
    record = board(verdict_of(MORE, UNDECIDED, (1.0, *interval), unit=unit), stated=(MORE,))
    (statement,) = record.statements
    assert (statement.outside, statement.decided) == (outside, False)
    counted = (int(outside or 0), int(outside is not None))
    assert (record.counts.outside, record.counts.comparable) == counted


def test_the_page_shows_intervals_within_what_a_measure_can_be() -> None:
    """The record keeps the ends as they were made."""
    stated = replace(MORE, statement="missed_deadlines < 1")
    judged = verdict_of(stated, UNDECIDED, (0.9, -0.1, 2.0), unit="", relative=False)
    record = board(judged, stated=(stated,))
    assert record.statements[0].low == -0.1
    assert "0.9 (0 .. 2)" in parts(record)["statements"]


def test_only_differences_have_a_size_to_be_outside_of() -> None:
    narrow = only(verdict_of(SAME, SHOWN, (0.5, 0.1, 0.9)), SAME)
    assert (narrow.kind, narrow.outside) == ("equivalence", None)
    share = replace(MORE, statement="run_share.a.little > 95% and fairness > 98%", size_of=2)
    judged = verdict_of(share, REFUTED, (88.0, 87.0, 89.0), relative=False)
    level = only(replace(judged, effects=judged.effects * 2), share)
    assert (level.kind, level.outside) == ("absolute", None)


def test_what_no_run_could_refute_is_shown_but_not_counted() -> None:
    shown = (30.0, 20.0, 40.0)
    for bad in ({}, {"feec-b": UNDECIDED}, {"mainline": REFUTED}):
        record = board(verdict_of(MORE, SHOWN, shown, bad=bad), stated=(MORE,))
        assert (record.counts.shown, record.counts.left_out, record.counts.decided) == (0, 1, 0)
        assert "| shown, not counted |" in parts(record)["statements"]
        assert "1 more is shown but not counted" in parts(record)["answer"]
    record = board(verdict_of(MORE, SHOWN, shown, bad={"feec-b": REFUTED}), stated=(MORE,))
    assert (record.counts.shown, record.counts.left_out) == (1, 0)
    assert record.statements[0].refuted_under == ("feec-b",)


def test_goals_are_met_by_figures_that_meet_them() -> None:
    shown = parts(board(verdict_of(MORE, SHOWN, (20.0, 19.0, 21.0)), stated=(MORE,)))["goals"]
    assert shown.count("| met |") == 3
    assert "missed" not in shown
    empty = parts(board(verdict_of(MORE, UNDECIDED, (20.0, -1.0, 41.0)), stated=(MORE,)))["goals"]
    assert empty.count("missed") == 2, "a share of nothing is no goal that is met"


def test_what_is_shown_of_a_variant_that_must_fail_decides_nothing() -> None:
    statement = only(verdict_of(MORE, SHOWN, (30.0, 20.0, 40.0), also=("mainline",)))
    assert (statement.decided, statement.reason) == (False, "shown of mainline, too")


def test_the_comparison_with_most_seeds_counts_and_the_first_of_equal_ones() -> None:
    few, many = (verdict_of(MORE, SHOWN, (30.0, 20.0, 40.0), seeds=seeds) for seeds in (10, 20))
    elsewhere = page_of(result_of([verdict_of(MORE, SHOWN, (1.0, 0.5, 2.0))]), platform="juno-r2")
    records = {
        "eas-juno-r2": elsewhere,
        "eas-pixel6": page_of(
            result_of([few], controls="few"),
            result_of([many], controls="the source's"),
            result_of([many], controls="defaults"),
        ),
    }
    (statement,) = record_of(records, "", stated=[Stated("x", MORE)]).statements
    assert (statement.page, statement.conditions, statement.seeds) == (
        "eas-pixel6",
        "the source's",
        20,
    )


def test_what_no_page_has_is_named_with_the_reason() -> None:
    server = replace(MORE, measured="latency-nice")
    record = board(verdict_of(SAME, SHOWN, (0.5, 0.1, 0.9)), stated=(MORE, server))
    assert [each.why for each in record.not_compared] == [
        "no comparison on pixel6 has cas",
        "no platform is like servers",
    ]
    assert "Why: no platform is like servers." in parts(record)["not-compared"]


def test_predictions_are_those_of_a_page_of_their_own() -> None:
    verdict = verdict_of(replace(MORE, variant="uclamp-sum"), SHOWN, (-3.0, -4.0, -2.0))
    records = {
        PREDICTED_ON: page_of(
            result_of([verdict], "uclamp/frequency-spike"), result_of([verdict], "ui/uibench")
        )
    }
    record = record_of(records, "", stated=())
    assert [(each.scenario, each.variant) for each in record.predictions] == [
        ("uclamp/frequency-spike", "mainline"),
        ("uclamp/frequency-spike", "uclamp-sum"),
    ]
    assert "-3.0 (-4.0..-2.0) (energy)" in parts(record)["predictions"]


def test_statements_that_survive_a_known_bad_variant_are_named() -> None:
    bad = {"feec-b": REFUTED, "cas-performance": UNDECIDED}
    fails = verdict_of(MORE, SHOWN, (20.0, 19.0, 21.0), bad=bad)
    survives = verdict_of(SAME, SHOWN, (0.5, 0.1, 0.9), bad={"feec-b": SHOWN})
    shown = parts(board(fails, survives))["mutants"]
    assert shown.startswith("3 judged: 1 refuted, 1 undecided, 1 shown.")
    assert shown.count("\n* ") == 1
    assert f"`{SAME.statement}` is shown of feec-b, too" in shown


def test_runs_that_meet_themselves_are_no_test() -> None:
    bad = {"mainline": REFUTED, "cas-performance": REFUTED}
    record = board(verdict_of(MORE, SHOWN, (20.0, 19.0, 21.0), bad=bad))
    assert [each.known_bad for each in record.mutants] == ["cas-performance"]


def test_findings_are_counted_by_the_conditions_of_their_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged = verdict_of(MORE, UNDECIDED, (1.0, -4.5, 5.2))
    of_runs = conditions_of(page_of(), result_of([]))
    for finding, words in (
        (Finding("", of_runs), "explain 1. For 0 there is only"),
        (Finding("", replace(of_runs, power="none")), "explain 0. For 1 there is only"),
        (None, "under other conditions, for 1 there is none"),
    ):
        known = {(MORE.variant, MORE.statement): finding} if finding else {}
        monkeypatch.setattr(hardware_record, "findings", lambda *_, known=known: known)
        shown = parts(board(judged, stated=(MORE,)))["findings"]
        assert shown.startswith("Of 1 figures that are not shown, ")
        assert words in shown


def test_the_record_reads_back_and_its_page_is_drawn(tmp_path: Path) -> None:
    record = board(verdict_of(MORE, SHOWN, (20.0, 19.0, 21.0)))
    page = save(NAME, record, tmp_path)
    assert Hardware.read(tmp_path / f"{NAME}.json") == record
    assert "{{" not in page.read_text()


def test_the_committed_scoreboard_is_what_the_committed_records_give() -> None:
    committed = Hardware.read(RESULTS / f"{NAME}.json")
    made = record_of(records_of(), committed.origin.command, committed.steps)
    assert made == committed, "run: make hardware"


def test_the_readme_quotes_the_counts(tmp_path: Path) -> None:
    readme = front.README.read_text(encoding="utf-8")
    counts = Hardware.read(RESULTS / f"{NAME}.json").counts
    assert f"Of {counts.compared} figures of sources, {counts.decided} are decided" in readme
    assert f"size lies outside our interval in {counts.outside} of {counts.comparable}" in readme
    shutil.copytree(RESULTS, tmp_path / "results")
    path = tmp_path / "results" / f"{NAME}.json"
    record = Hardware.read(path)
    replace(record, statements=record.statements[1:]).write(path)
    assert f"Of {counts.compared - 1} figures" in front.drawn(readme, tmp_path / "results")


def test_every_statement_with_a_size_is_compared_or_named() -> None:
    record = Hardware.read(RESULTS / f"{NAME}.json")
    known = [(each.scenario, each.variant, each.statement) for each in record.statements]
    known += [(each.scenario, each.variant, each.statement) for each in record.not_compared]
    asked = [
        (each.scenario, each.expectation.variant, each.expectation.statement)
        for each in quantified()
    ]
    assert sorted(known) == sorted(asked)
    assert counts_of(record.statements) == record.counts


@pytest.mark.parametrize("text", ["no sign", "=HEAD", "name=", "name=no-such-commit"])
def test_a_wrong_step_is_one_line(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--step", text, "--folder", str(tmp_path)]) == 2
    assert f"--step {text!r}: allowed: " in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
