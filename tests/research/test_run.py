# SPDX-License-Identifier: GPL-2.0-or-later
"""A new study is two files: its cells are run once, and its page is drawn from the record."""

import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from eascope.analysis.compare import comparison
from eascope.analysis.records.verdict import Effect, Verdict
from eascope.analysis.reply import Outcome
from eascope.analysis.robust import AtValue
from eascope.host.errors import Again, EascopeError, RequestError
from research import run
from research.draw import drawn, size
from research.plan import Study, asked, file_of, plan_from
from research.run import (
    TABLES,
    _group,
    main,
    only,
    record_of,
    renewed,
    table,
    verdict_row,
    without_release,
)
from tests.support.compared import compared_runs
from tests.support.repo import REPO
from tests.support.waiting import call

STUDY = """\
seeds = 20

[[comparison]]
platform = "juno-r2"
scenario = ["smoke"]
variant = ["mainline", "cas"]
"""
PAGE = "{{ record.cells | row(variant='cas') | change }}\n"


def compared(**keys: object) -> dict[str, object]:
    return {"platform": "juno-r2", "scenario": ["smoke"], "variant": ["mainline"], **keys}


def plan(**keys: object) -> Study:
    return plan_from({"comparison": [compared(**keys)]}, "study.toml")


def test_a_scenarios_source_has_conditions_of_its_own() -> None:
    """Only where it states some, and this platform is its source's board."""
    names = ["smoke", "uclamp/frequency-spike"]
    (source,) = asked(plan(scenario=names, source_conditions=True))
    assert (source.scenario, source.conditions) == ("uclamp/frequency-spike", "source")
    usual = list(asked(plan(scenario=names)))
    assert [group.conditions for group in usual] == ["platform"] * 2
    both = (group.requests[0].controls.dvfs for group in (source, usual[1]))
    assert [*both] == ["board", "model"]
    assert not [*asked(plan(platform="pixel6", scenario=names, source_conditions=True))]


def test_a_trace_that_did_not_fit_is_recorded_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the larger buffers that its cell then has, in the same command."""
    tried: list[object] = []

    def compare(groups: Sequence[object]) -> list[object]:
        tried.extend(groups)
        if len(tried) == 1:
            raise Again("seed 0: too small")
        return ["done"]

    monkeypatch.setattr("research.run.measure.compare", compare)
    [(_, done)] = run.compare(plan())
    assert str(done) == "done"
    assert tried[0] is not tried[1]
    assert "seed 0: too small" in capsys.readouterr().err


def test_statements_of_a_release_name_variants_without_it() -> None:
    variants = (["mainline@7.3", "cas@7.3"], ["cas", "cas@7.3"], ["mainline", "cas"])
    groups = [next(asked(plan(variant=names))) for names in variants]
    assert [group.release for group in groups] == ["@7.3", "", ""]


def test_runs_of_a_release_are_compared_without_it(tmp_path: Path) -> None:
    """A run says which variant it is of, and `comparison` refuses another name."""
    whole = compared_runs(tmp_path, 1)
    later = {
        name: [replace(run, cell=replace(run.cell, variant=f"{name}@7.3", expect=()))]
        for name, (run,) in whole.variants.items()
    }
    with pytest.raises(EascopeError, match=r"is a run of mainline@7\.3, not of mainline"):
        comparison(whole.platform, later)
    every = [entry for (run,) in whole.variants.values() for entry in run.cell.expect]
    assert every
    named = {name: [without_release(run, "@7.3", every)] for name, (run,) in later.items()}
    assert comparison(whole.platform, named).variants == whole.variants
    assert without_release(later["cas"][0], "", every) == later["cas"][0]


def test_a_record_has_the_model_range(tmp_path: Path) -> None:
    asked_values = compared_runs(tmp_path, 3)
    others = asked_values.primary.differences
    dear = SimpleNamespace(
        axis="power",
        value="dear",
        other_work={},
        difference=lambda name, _: replace(others[name], percent=200.0),
        verdict=lambda *_: None,
    )
    told = replace(asked_values, assumed=[])
    bare = AtValue("fair_server", "none", "a source", 3, told)
    group = next(asked(plan(robust=["fair_server"])))
    record = record_of([(group, replace(asked_values, assumed=[dear, bare]))], "trial")
    columns = record["cells"]["columns"]
    base, other = (dict(zip(columns, row, strict=True)) for row in record["cells"]["rows"])
    assert (base["assumed_by"], base["assumed_high"]) == ([], None)
    assert other["assumed_by"] == ["", "power"]
    assert other["assumed_low"] == other["change"]
    assert other["assumed_high"] == 200
    assert base["checked"] is None
    assert other["checked"] == Outcome(replace(asked_values, assumed=[dear, bare])).cells()[1:]
    rows = [
        dict(zip(record["axes"]["columns"], row, strict=True)) for row in record["axes"]["rows"]
    ]
    assert [(row["variant"], row["axis"], row["value"]) for row in rows] == [
        (name, "fair server", "none") for name in told.names
    ]
    assert [row["change"] for row in rows] == [None, other["change"]]


def test_an_axis_that_needs_runs_is_varied_where_the_plan_says_so() -> None:
    usual, more = (
        _group(next(asked(of)), of).cases.cases
        for keys in ({}, {"robust": ["fair_server"]})
        for of in (plan(variant=["mainline", "cas"], **keys),)
    )
    (case,) = (case for case in more if case not in usual)
    assert case.axis == "fair_server"
    assert [names.variant.name for names in case.resolved] == ["mainline", "cas"]


def test_a_comparison_on_another_engine_has_both() -> None:
    groups = list(asked(plan(engine="gem5")))
    assert [[request.engine for request in group.requests] for group in groups] == [
        *(["qemu"], ["gem5"])
    ]


def test_only_some_comparisons_are_made_again() -> None:
    """Rows of all others stay, each table in the plan's order, and with the old origin."""
    on_two = compared(engine="gem5", printed=["energy_j.total"])
    three = plan_from(
        {"comparison": [compared(scenario=["smoke", "eas/game"]), on_two]}, "study.toml"
    )
    assert [c.scenarios for c in only(three, ["eas/game"]).comparison] == [("eas/game",)]
    assert [c.engine for c in only(three, ["gem5"]).comparison] == ["gem5"]
    assert [c.engine for c in only(three, ["smoke"]).comparison] == [""]
    with pytest.raises(RequestError, match="unknown scenario or engine of the plan 'smkoe'"):
        only(three, ["smkoe"])

    def row(columns: Sequence[str], scenario: str, word: str) -> list[str | None]:
        return ["juno-r2", scenario, "platform", word, *[None] * (len(columns) - 4)]

    def record(word: str, *rows: tuple[str, str]) -> dict[str, object]:
        """Rows of ``(table, scenario)``, each of which has only ``word`` after its head."""
        return {
            **{
                "origins": [
                    {
                        "command": word,
                        "files": {file_of("experiments/scenarios", s): word for _, s in rows},
                    }
                ],
                "seeds": 1,
                "duration": "short",
                "power": {word: "p"},
            },
            **{
                name: table(columns, made)
                for name, columns in TABLES.items()
                if (made := [row(columns, s, word) for n, s in rows if n == name])
            },
        }

    every = [("cells", "smoke"), ("cells", "eas/game"), ("verdicts", "smoke"), ("engines", "smoke")]
    old = record("old", *every, ("cells", "eas/away"))
    mixed = renewed(old, record("new", ("cells", "smoke")), three)
    assert [row[1:4:2] for row in mixed["cells"]["rows"]] == [
        *(["smoke", "new"], ["eas/game", "old"])
    ]
    assert "verdicts" not in mixed, "its scenario was made again, and has none"
    assert mixed["engines"] == old["engines"]
    assert [made["command"] for made in mixed["origins"]] == ["old", "new"]
    assert "experiments/scenarios/smoke.toml" in mixed["origins"][0]["files"], (
        "of gem5's row, still the old"
    )
    both = renewed(mixed, record("all", ("cells", "smoke"), ("engines", "smoke")), three)
    assert "experiments/scenarios/smoke.toml" not in both["origins"][0]["files"]
    anew = record("anew", ("cells", "smoke"), ("cells", "eas/game"), ("engines", "smoke"))
    assert [made["command"] for made in renewed(mixed, anew, three)["origins"]] == ["anew"]
    assert mixed["power"] == {"old": "p", "new": "p"}
    again = renewed(mixed, record("new", ("engines", "smoke")), three)
    assert (again["cells"], again["engines"]["rows"][0][3]) == (mixed["cells"], "new")
    assert [made["command"] for made in again["origins"]] == ["old", "new"]
    fewer = [*TABLES["cells"][:4]]
    old["cells"] = {"columns": fewer, "rows": [["juno-r2", "eas/game", "platform", "old"]]}
    kept = renewed(old, record("new", ("cells", "smoke")), three)["cells"]["rows"]
    assert kept == [row(TABLES["cells"], *of) for of in (("smoke", "new"), ("eas/game", "old"))]
    old["cells"] = {"columns": ["platform", "gone"], "rows": [["juno-r2", "x"]]}
    with pytest.raises(RequestError, match="cells: gone: old columns; run it without --only"):
        renewed(old, record("new", ("cells", "smoke")), three)


def test_a_statement_on_what_was_not_measured_stays_in_the_record() -> None:
    absent = Verdict("feec-c", "pushes_per_s.moved > 1", "a source")
    assert verdict_row(absent)[3] == "not measured"
    assert verdict_row(replace(absent, met=False))[3] == absent.verdict == "undecided"
    depends = replace(absent, met=True, verdict="depends on", depends_on=("shared_power", "power"))
    assert verdict_row(depends)[3] == "depends on shared power and power model"


def test_the_effect_of_a_record_is_that_of_the_comparison_that_decides() -> None:
    """One of a size, the first that is refuted, else the first that is open."""

    def effect(value: float, stated: tuple[float | None, float | None] = (0.0, None)) -> Effect:
        return Effect(value, value - 1, value + 1, stated, "%", True, True, None)

    three = "energy_j.total > 1 and energy_j.total > 2 and energy_j.total > 3"
    of = partial(Verdict, "cas", three, "a source", met=True)
    for values, place in (
        *(((5, 6, 7), 0), ((5, 0.5, 7), 1), ((5, 0.5, -7), 2), ((-5, 6, -7), 0)),
    ):
        verdict = of(effects=tuple(effect(value) for value in values))
        assert verdict.decisive == place
        assert verdict_row(verdict)[4] == values[place]
    sized = of(effects=tuple(map(effect, (5, -6, 7))), size_percent=7.0, size_of=3)
    assert verdict_row(sized)[4] == 7
    few = Effect(1.0, None, None, (None, 3.0), "", False, True, None)
    assert (few.verdict, effect(1, (None, 3.0)).verdict) == ("undecided", "shown")


def test_the_size_of_a_statement_is_its_scenarios() -> None:
    of = {"scenario": "ui/video", "statement": "energy_j.total > energy_j.total[mainline]"}
    assert [size({**of, "variant": name}) for name in ("cas", "feec-b@7.3", "other")] == [
        *(18.5, 4.5, None)
    ]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"scenario": ["smkoe"]}, "unknown scenario 'smkoe'"),
        ({"platform": "juno"}, "unknown platform 'juno'"),
        (
            {"robust": ["weather"]},
            "study.toml: comparison[0].robust = ['weather']: allowed: a list",
        ),
        ({"scenarios": ["smoke"]}, "no such key (did you mean scenario?)"),
        ({"seeds": 0}, "study.toml: comparison[0].seeds = 0: allowed: an integer in 1..1000"),
    ],
)
def test_a_wrong_plan_is_one_line(keys: dict[str, object], words: str) -> None:
    with pytest.raises(RequestError, match=re.escape(words)) as error:
        list(asked(plan(**keys)))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("uclmap", "uclmap/study.toml: No such file or directory"),
        ("elision", "measured by: python -m research.elision"),
    ],
)
def test_what_is_not_run_is_one_line(
    name: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line


@pytest.mark.guest
def test_a_new_study_is_two_files(tmp_path: Path) -> None:
    folder, runs = tmp_path / "mine", tmp_path / "runs"
    folder.mkdir()
    (folder / "study.toml").write_text(STUDY)
    (folder / "page.md").write_text(PAGE)
    command = [sys.executable, "-m", "research.run", str(folder), "--seeds", "1"]
    environment = {**os.environ, "EASCOPE_RUNS": str(runs), "PYTHONPATH": str(REPO)}
    done = call(command, environment)
    assert done.returncode == 0, done.stderr
    record = json.loads((folder / "record.json").read_text())
    assert record["origins"][0]["command"] == f"python -m research.run {folder} --seeds 1"
    cells = record["cells"]
    assert tuple(cells["columns"]) == TABLES["cells"]
    assert [row[:5] for row in cells["rows"]] == [
        ["juno-r2", "smoke", "platform", variant, "mainline"] for variant in ("mainline", "cas")
    ]
    assert [len(row[-1]) for row in record["by_seed"]["rows"]] == [1, 1]
    assert re.fullmatch(r"[+-]\d+\.\d\n", drawn(folder))
    simulated = [item for item in runs.iterdir() if re.fullmatch("[0-9a-f]{64}", item.name)]
    assert len(simulated) == 2
    # The same again runs nothing.
    again = call(command, environment)
    assert again.returncode == 0, again.stderr
    assert "seed 0:" not in again.stderr
