# SPDX-License-Identifier: GPL-2.0-or-later
"""The pages of programs: what they print stands there with its differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.compare import Comparison, comparison
from analysis.derive import derive
from analysis.programs import is_measure
from analysis.records.cell import ProgramRecord
from analysis.results.comparisons import KERNELS_RATE, OWN_RATE, Change, Comparisons
from analysis.results.origin import RESULTS
from analysis.rows import unit_of
from analysis.statistics import ENOUGH
from configs.activity import Activity
from configs.platform import Platform
from experiments.scenario_file import load_scenario
from experiments.scenario_names import names
from studies.draw import DRAWINGS
from studies.hardware.plan import PAGES
from studies.notes import page_of
from studies.pages.page import changes, parts, parts_of_programs
from studies.pages.plan import OF_PROGRAMS, PROGRAMS, PageGroup, pages
from studies.pages.record import record_of
from studies.program_speed import plan as program_speed
from tests.support.records import kernel_record
from tests.support.synthetic import make_run

SCENARIO = "programs/hackbench"
#: What the made-up runs printed, by variant and seed.
TIMES = {"mainline": (0.010, 0.030), "cas": (0.015, 0.035)}
#: Two programs of the image, one of them without a rate of its own, and one of the usual image.
IN_THE_CELL = (
    ProgramRecord("hackbench", "hackbench", 1, "program-hackbench.log", command="hackbench"),
    ProgramRecord("noise", "stress-ng", 1, "program-noise.log", command="stress-ng"),
    ProgramRecord("pipe", "ping-pong", 1, "program-pipe.log"),
)
ASSUMED = ("program stress-ng: its code runs at the kernel's rate",)


def made(folder: Path, platform: Platform, activity: Activity) -> Comparison:
    """Runs of two variants, each of which prints its time and a count."""
    runs = {}
    for variant, times in TIMES.items():
        derived = [
            derive(make_run(folder, platform, variant, seed), platform, activity)
            for seed in range(len(times))
        ]
        kernel = kernel_record("base", "6.12.1")
        runs[variant] = [
            replace(
                each,
                cell=replace(each.cell, kernel=kernel, programs=IN_THE_CELL, assumed=ASSUMED),
                result=replace(each.result, program={"hackbench": printed(time)}),
            )
            for each, time in zip(derived, times, strict=True)
        ]
    return comparison(platform, runs)


def printed(time: float) -> Mapping[str, float]:
    return {"time_s": time, "operations": 100}


@pytest.fixture
def record(tmp_path: Path, juno: Platform, juno_activity: Activity) -> Comparisons:
    """The record of a page with those runs."""
    group = PageGroup(SCENARIO, ("mainline", "cas"))
    compared = made(tmp_path, juno, juno_activity)
    return record_of([(group, load_scenario(SCENARIO, juno), compared)], "make results")


def test_programs_are_on_their_pages() -> None:
    wanted = {name for name in names() if name.startswith("programs/")}
    # Compared between engines, on a page of its own.
    wanted -= {program_speed.SCENARIO}
    on = {page.name: page for page in pages() if page.name in OF_PROGRAMS}
    assert set(on) == {"programs-juno-r2", "programs-pixel6"}
    for page in on.values():
        assert page.platform == page.name.removeprefix("programs-")
        assert {group.scenario for group in page.groups} == wanted
        for group in page.groups:
            assert group.variants == ("mainline", "cas", "uclamp-sum", "feec-b")
    assert not set(OF_PROGRAMS) & set(PAGES), "none of their statements is judged"


def test_the_answers_measures_are_some_that_the_programs_print(juno: Platform) -> None:
    for scenario, measures in PROGRAMS.items():
        kinds = {each.name: each.run for each in load_scenario(scenario, juno).programs}
        for measure in measures:
            program, name = measure.split(".")
            assert is_measure(kinds[program], name), measure
            assert unit_of(name), measure


def test_what_programs_print_is_in_the_record_and_on_the_page(
    record: Comparisons, tmp_path: Path
) -> None:
    first, other = record.scenarios[0].variants
    assert list(first.printed) == ["hackbench.time_s"], "a count without a unit is left out"
    assert first.printed["hackbench.time_s"].change is None
    change = other.printed["hackbench.time_s"].change
    assert change is not None
    assert change.percent == pytest.approx(25)
    row = "| hackbench time (s) | 0.020 (0.010..0.030) | +25.0 |"
    shown = parts_of_programs(record)
    assert f"| {SCENARIO} {row}" in shown["printed"]
    assert "| printed | mainline | cas, % |" in shown["scenarios"]
    assert row in shown["scenarios"]
    assert changes(record)[f"{SCENARIO}/cas/hackbench.time_s"] == "+25.0 %"
    record.write(tmp_path / "record.json")
    assert record == Comparisons.read(tmp_path / "record.json")


def test_a_page_says_at_what_rates_its_programs_executed(record: Comparisons) -> None:
    (result,) = record.scenarios
    assert result.programs == {"hackbench": OWN_RATE, "stress-ng": KERNELS_RATE}
    shown = parts_of_programs(record)["rates"]
    own, _, kernels = shown.partition("; ")
    assert own.endswith(": hackbench")
    assert kernels == "at the rate of system code: stress-ng"


def test_without_statements_none_is_undecided(record: Comparisons) -> None:
    shown = parts_of_programs(replace(record, seeds=ENOUGH))["conditions"]
    assert "95 % interval" in shown
    assert "undecided" not in shown


def test_the_answer_lists_what_differs_clearly(record: Comparisons) -> None:
    (result,) = record.scenarios
    first, other = result.variants
    assert parts_of_programs(record)["clear"].startswith("With 2 seeds nothing is decided")
    measure = "hackbench.time_s"
    for low, high, energy, count, line in (
        (5.0, 40.0, (-1.0, 2.0), 1, "\n* cas: hackbench: hackbench time (s) +25.0 (+5.0..+40.0)"),
        (-5.0, 40.0, (-1.0, 2.0), 0, "\n* cas: nothing"),
        (-5.0, 40.0, (1.0, 2.0), 1, "\n* cas: hackbench: energy +1.5 (+1.0..+2.0)"),
        # Clear, but less than what is shown.
        (-5.0, 40.0, (0.01, 0.03), 0, "\n* cas: nothing"),
    ):
        printed = replace(other.printed[measure], change=Change(25.0, low, high))
        changed = replace(
            other, printed={measure: printed}, energy_change=Change(sum(energy) / 2, *energy)
        )
        same_work = replace(result, variants=(first, changed), other_work=False)
        made = replace(record, scenarios=(same_work,))
        shown = parts_of_programs(replace(made, seeds=ENOUGH))["clear"]
        assert shown.startswith(f"{count} of 2 differences are at least 0.1 % and have")
        assert shown.endswith(line)


def test_every_page_of_programs_has_notes_with_its_parts(record: Comparisons) -> None:
    for name in OF_PROGRAMS:
        # The notes speak of scenarios that the made record lacks.
        known = changes(Comparisons.read(RESULTS / f"{name}.json"))
        text = page_of(name, parts_of_programs(record), also={**known, **changes(record)})
        assert text.startswith(f"# Real programs on {name.removeprefix('programs-')}\n")
        if name in DRAWINGS:
            assert DRAWINGS[name].parts is parts_of_programs


def test_a_page_without_programs_has_no_such_table(record: Comparisons) -> None:
    (result,) = record.scenarios
    bare = replace(result, variants=tuple(replace(each, printed={}) for each in result.variants))
    assert "printed" not in parts(replace(record, scenarios=(bare,)))["scenarios"]
    assert all("printed" not in each for each in bare.encode()["variants"])
