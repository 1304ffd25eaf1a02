# SPDX-License-Identifier: GPL-2.0-or-later
"""A series patch by patch, from energies that are written down."""

import csv
import io
from collections.abc import Mapping
from dataclasses import replace

import pytest

from eascope.analysis.compare import comparison
from eascope.analysis.ladder import NO_CODE, WIDTH, Ladder, Rung, stated
from eascope.analysis.robust import AtValue
from eascope.configs.platform import Platform
from tests.support.stated import stated as written
from tests.support.varied import with_energy

RUNGS = (
    Rung(0, "without the series", "base"),
    Rung(1, "sched/fair: Write a comment", "idea-1", not_run=NO_CODE),
    Rung(2, "sched/fair: Save energy by a subject that is long, as subjects are", "idea-2", "base"),
    Rung(3, "sched/fair: Do nothing", "idea-3", "idea-2"),
    Rung(4, "sched/fair: Break the build", "idea-4", not_run="does not build: fair.c:7: error: x"),
    Rung(5, "sched/fair: Waste a little", "idea", "idea-3"),
)
SAVED = {"base": 1.0, "idea-2": 0.9, "idea-3": 0.9, "idea": 0.93}


def ladder(platform: Platform, factors: Mapping[str, float] = SAVED, seeds: int = 20) -> Ladder:
    runs = {}
    for name, factor in factors.items():
        made = [with_energy(written("mainline", seed), factor, work=1.0) for seed in range(seeds)]
        named = [replace(run, cell=replace(run.cell, variant=name)) for run in made]
        runs[name] = [stated(run, RUNGS) for run in named]
    return Ladder(RUNGS, comparison(platform, runs))


def test_the_step_that_changes_most_is_the_answer(juno: Platform) -> None:
    """Less by 10 %, the same, then 1/30 more: each against the step before, and all together."""
    text = ladder(juno).text
    answer, *_ = text.splitlines()
    assert answer.startswith("step 2 (sched/fair: Save energy by ")
    assert answer.endswith(
        ") changes energy per s of work most: -10.0 % (-10.0 .. -10.0), 20 seeds; "
        "all 5 steps: -7.0* %"
    )
    table = text[text.index("step  patch") :].splitlines()
    assert max(map(len, table)) <= WIDTH
    cells = [" ".join(line.split()) for line in table]
    assert cells[1].endswith("without the series 204.75 99.0")
    assert cells[2].endswith(NO_CODE)
    assert "..." in cells[3]
    assert cells[3].endswith("184.28 -10.0* (-10.0 .. -10.0) -10.0* 99.0")
    assert cells[4].endswith("184.28 0.0 (0.0 .. 0.0) -10.0* 99.0"), "nothing is no change"
    assert cells[5].endswith("does not build")
    assert cells[6].endswith("190.42 +3.3* (+3.3 .. +3.3) -7.0* 99.0")
    assert cells[7] == "step 4: does not build: fair.c:7: error: x"
    assert cells[9] == "p99: wake-up latency of decode"


@pytest.mark.parametrize(
    ("factors", "seeds", "words"),
    [
        (
            dict.fromkeys(SAVED, 1.0),
            20,
            "no step changes energy per s of work significantly, 20 seeds",
        ),
        (SAVED, 10, "-10.0 % (-10.0 .. -10.0), not tested (only 10 of the 20 seeds required)"),
        (SAVED, 1, "-10.0 %, not tested (only 1 of the 20 seeds required)"),
    ],
)
def test_what_is_not_significant_is_not_said(
    juno: Platform, factors: Mapping[str, float], seeds: int, words: str
) -> None:
    text = ladder(juno, factors, seeds).text
    assert words in text.splitlines()[0]
    assert "*" not in text.partition("*: significant")[0]


def test_a_change_that_depends_on_a_model_axis_is_not_significant(juno: Platform) -> None:
    """At another value of an axis the step saves nothing."""
    asked = ladder(juno)
    other = ladder(juno, dict.fromkeys(SAVED, 1.0)).compared
    assert asked.compared
    assert other
    at = AtValue("power", "derived", "assumed", 0, other)
    varied = Ladder(RUNGS, replace(asked.compared, assumed=[at]))
    text = varied.text
    assert text.startswith(
        "no step changes energy per s of work significantly over the whole model range"
    )
    assert "-10.0? (-10.0 .. -10.0)" in text
    steps = [line for line in varied.paper("md").splitlines() if line.startswith("| 2 |")]
    assert steps[0].count("~-10.0 |") == 2
    assert varied.paper("latex").count("textasciitilde{}") > 2


def test_a_series_without_code_is_not_run() -> None:
    text = Ladder(RUNGS[:2], None).text
    assert text.startswith("no step changes the code of the kernel: nothing was run\n")
    assert "sched/fair: Write a comment" in text


def test_the_record_has_each_step_with_its_verdicts_and_runs(juno: Platform) -> None:
    record = ladder(juno).record
    third = record["steps"][3]
    assert (third["step"], third["variant"], third["not_run"]) == (3, "idea-3", "")
    assert {other: found["verdict"] for other, found in third["against"].items()} == {
        "idea-2": "undecided",
        "base": "shown",
    }
    assert len(third["seeds"]) == 20
    assert record["steps"][1]["not_run"] == NO_CODE
    assert "seeds" not in record["steps"][1]


def test_the_steps_are_printed_for_a_paper_and_a_spreadsheet(juno: Platform) -> None:
    """Subjects are whole, and a change that is not significant is marked."""
    found = ladder(juno)
    rows = [*csv.DictReader(io.StringIO(found.paper("csv")))]
    assert [row["significant"] for row in rows] == ["", "", "yes", "no", "", "yes"]
    assert rows[2]["patch"] == RUNGS[2].subject
    assert float(rows[2]["change, %"]) == -10
    assert [row["n"] for row in rows] == ["20", "", "20", "20", "", "20"]
    assert "\\toprule" in found.paper("latex")
    few = ladder(juno, seeds=2).paper("md").splitlines()
    assert few[0].startswith("step 2 ")
    assert "| ~-10.0 |" in few[6]
    assert few[-1].startswith("~: not significant")
    assert few[-7] == "step 4: does not build: fair.c:7: error: x"
    assert few[-5].startswith("mJ: energy per s of work; change: from the step before")
    assert few[-3] == "p99: wake-up latency of decode"
