# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of results: drawn from records, short, and with answers whose numbers are measured."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2
import pytest

from eascope.analysis.compare import OTHER_WORK_PERCENT
from eascope.analysis.difference import difference
from eascope.analysis.known.origin import DATA, Origin
from eascope.analysis.records.verdict import ENOUGH_FOR_VERDICT, NOT_CURRENT
from eascope.configs.platform_file import load_platform
from eascope.experiments.runs.request import resolve
from eascope.experiments.scenario.names import names
from eascope.experiments.scenario.sources import stated
from eascope.experiments.scenario_file import load_scenario
from eascope.host.errors import RequestError
from research.draw import (
    INDEX,
    PAGE,
    PAGES,
    RECORD,
    as_stated,
    drawn,
    every_page,
    main,
    of_sources,
    origin,
    records_of,
    section,
    studies,
    verb,
)
from research.plan import (
    ROOT,
    STUDIES,
    asked,
    files_of,
    meaning,
    plan_from,
    plan_of,
    planned_statements,
)
from research.run import TABLES

#: perf is in no package of Debian's arm64 that the guest could have; the other is an example that
#: tests/experiments/scenario/test_interrupts_guest.py runs.
NOT_RUN = ("eas/sched-pipe-perf", "eas/interrupted-big")
#: Studies that `research.run` measures.
COMPARED = [
    name
    for name in studies()
    if (plan := plan_of(STUDIES / name)).comparison and not plan.measured_by
]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return every_page()


def test_every_page_is_what_its_record_gives(pages: dict[str, str]) -> None:
    committed = {path.stem: path.read_text() for path in PAGES.glob("*.md")}
    assert committed == pages, "make generate"


def answer(name: str) -> str:
    """The answer as a person wrote it."""
    text = (STUDIES / name / PAGE).read_text()
    return text[text.index("## Answer") : text.index("## Evidence")]


@pytest.mark.parametrize("name", studies())
def test_every_number_of_an_answer_is_a_records(name: str) -> None:
    """Names such as `juno-r2` aside, digits stand only in placeholders, and these name a record."""
    written = re.sub(r"{{.*?}}|{%.*?%}|`[^`]*`|\]\([^)]*\)", "", answer(name), flags=re.DOTALL)
    assert re.findall(r"(?<![\w-])\d[\d.]*", written) == []
    parsed = jinja2.Environment(autoescape=False).parse(answer(name))
    placeholders = [
        node
        for output in parsed.find_all(jinja2.nodes.Output)
        for node in output.nodes
        if not isinstance(node, jinja2.nodes.TemplateData)
    ]
    assert [node for node in placeholders if node.find(jinja2.nodes.Name) is None] == []


@pytest.mark.parametrize("name", studies())
def test_an_answer_begins_with_twenty_words(name: str, pages: dict[str, str]) -> None:
    assert len(section(pages[name], "Answer").split()) <= 20
    titles = re.findall(r"^## (.*)$", pages[name], re.MULTILINE)
    assert titles == ["Question", "Answer", "Evidence", "Limits"]


def origins() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted([*STUDIES.glob(f"*/{RECORD}"), *DATA.glob("*.json")]):
        record = json.loads(path.read_text())
        for item in record.get("origins") or [record["origin"]]:
            yield path.relative_to(ROOT).as_posix(), item


@pytest.mark.parametrize(("file", "stated"), list(origins()))
def test_a_record_names_command_versions_and_commit(file: str, stated: dict[str, Any]) -> None:
    origin = Origin.decode(stated, file)
    assert "python -m " in origin.command
    assert origin.versions
    commit = r"\([0-9a-f]{12}(, changed)?\)|page of commit [0-9a-f]{7}"
    assert re.search(commit, f"{origin.versions.get('eascope', '')} {origin.made_from}")


def test_no_recorded_run_takes_less_than_its_loads_floor() -> None:
    """Of all pages, in the setup of the bounds: a run that did the load's work, but for 1 %."""
    bounds = records_of(STUDIES / "bounds")["record"]
    floors = {(load["platform"], load["scenario"]): load["floor_mj"] for load in bounds["loads"]}
    compared = 0
    for name in COMPARED:
        record = records_of(STUDIES / name)["record"]
        keys = ("platform", "scenario", "conditions", "variant")
        work = {tuple(cell[key] for key in keys): cell["work"] for cell in record["cells"]}
        for row in record["by_seed"]:
            where = tuple(row[key] for key in keys)
            if where[:2] in floors and where[2] == "source" and (work[where] or 0) > -1:
                compared += 1
                assert min(row["energy_mj"]) >= 0.99 * floors[where[:2]], where
    assert compared > len(floors)


def test_a_page_says_which_files_are_others_than_its_runs_had(tmp_path: Path) -> None:
    file = "experiments/scenarios/smoke.toml"
    text, own = (ROOT / file).read_text(), tmp_path / "own.toml"
    first = text.splitlines()[0]
    own.write_text(text.replace(first, f'{first[:-1]} and more"'))
    assert meaning(own) == meaning(ROOT / file)
    stated = {"command": "x", "made_from": "runs", "files": {file: meaning(ROOT / file)}}
    assert "Changed since" not in origin(stated)
    (tmp_path / "other.toml").write_text(f"{text}\n[more]\nloops = 1\n")
    other = {file: meaning(tmp_path / "other.toml"), "configs/platforms/gone.toml": "0"}
    assert "Changed since then: smoke, gone." in origin({**stated, "files": other})


@pytest.mark.parametrize("name", COMPARED)
def test_a_record_has_the_cells_of_its_plan(name: str, pages: dict[str, str]) -> None:
    """Or its page says that what it lacks has no current runs."""
    record = records_of(STUDIES / name)["record"]
    planned: dict[str, set[tuple[str, ...]]] = {"cells": set(), "engines": set()}
    for group in asked(plan_of(STUDIES / name)):
        for request in group.requests:
            if group.compared.engine:
                planned["engines"].add((*group.head, request.engine, request.variant))
            else:
                planned["cells"].add((*group.head, request.variant, group.compared.variants[0]))
    for of, expected in planned.items():
        found = {tuple(row[key] for key in TABLES[of][:5]) for row in record.get(of, [])}
        if found != expected:
            assert NOT_CURRENT in pages[name].lower()
            assert {row[:2] for row in found} <= {row[:2] for row in expected}


@pytest.mark.parametrize("name", COMPARED)
def test_loads_that_settle_under_mainline_have_variants_that_switch_from_it(name: str) -> None:
    for group in asked(plan_of(STUDIES / name)):
        request = group.requests[0]
        scenario = load_scenario(request.scenario, load_platform(request.platform))
        for each in group.requests if scenario.window.mainline_ms else ():
            resolve(each)


def test_every_statement_is_in_a_plan() -> None:
    """Of every scenario, under the conditions of its source where it states any."""
    had = {
        (scenario, entry["statement"])
        for name in COMPARED
        for (_, scenario, _), _, entry in planned_statements(plan_of(STUDIES / name))
    }
    left = {
        (name, entry.statement)
        for name in names()
        for entry in load_scenario(name, load_platform("juno-r2")).expect
        if name not in NOT_RUN
    }
    assert left - had == set()


def test_a_sentence_of_a_source_has_the_seeds_that_a_verdict_needs() -> None:
    for name in COMPARED:
        plan = plan_of(STUDIES / name)
        seeds = {
            group.head: min(group.compared.seeds or plan.seeds, plan.seeds)
            for group in asked(plan)
            if not group.compared.engine
        }
        for head, _, entry in planned_statements(plan):
            assert not entry.get("states") or seeds[head] >= ENOUGH_FOR_VERDICT, (head, entry)


def test_every_sentence_of_a_source_is_stated_or_has_a_reason() -> None:
    """And a statement that is no source's says that it is ours."""
    said = set()
    own = [f"research/latency-nice/{name}.toml" for name in ("polling", "polling-44")]
    for name in [*names(), *own]:
        for entry in load_scenario(name, load_platform("juno-r2")).expect:
            assert (entry.states == 0) == entry.source.startswith("ours"), entry
            said.add(entry.states)
    assert said - {0} == {number for number, each in stated().items() if not each.untested}


FILE = "experiments/scenarios/uclamp/intro-example.toml"


def test_a_reworded_statement_has_no_verdict_yet(tmp_path: Path) -> None:
    """Verdicts on other words or another setup are left out; others have today's source.

    So are those without the variant under which the statement must fail.
    """
    compared = {
        **{"platform": "juno-r2", "scenario": ["uclamp/intro-example"]},
        **{"variant": ["mainline", "uclamp-sum"]},
    }
    both = [{**compared, "source_conditions": True}, compared]
    plan = plan_from({"comparison": both}, "study.toml")
    row: dict[str, Any] = dict(
        zip(TABLES["verdicts"], ["juno-r2", "uclamp/intro-example"], strict=False)
    )
    row |= {"conditions": "source", "variant": "mainline", "verdict": "holds", "effect": 60.0}
    today, before = (
        {**row, "statement": f"opp_transitions_per_s.big > {bound} and top_opp.big > 10%"}
        | {"source": "the old words"}
        for bound in (50, 70)
    )
    cells = [{**row, "variant": "uclamp-sum"}]
    verdicts = as_stated({"verdicts": [today, before], "cells": cells}, plan)["verdicts"]
    assert [(each["conditions"], each["variant"], each["verdict"]) for each in verdicts] == [
        ("source", "mainline", "holds"),
        ("source", "uclamp-sum", NOT_CURRENT),
        ("platform", "mainline", NOT_CURRENT),
        ("platform", "uclamp-sum", NOT_CURRENT),
    ]
    assert verdicts[0]["source"].startswith("introduction, maximum")
    assert {each["states"] for each in verdicts} == {1}
    for digest, word in ((files_of(plan)[FILE], "holds"), ("of another setup", NOT_CURRENT)):
        record = {"verdicts": [today], "cells": cells, "origins": [{"files": {FILE: digest}}]}
        assert as_stated(record, plan)["verdicts"][0]["verdict"] == word
    assert as_stated({"verdicts": [today]}, plan)["verdicts"][0]["verdict"] == NOT_CURRENT


def test_a_sentence_holds_where_all_of_its_statements_do() -> None:
    def said(*rows: tuple[str, str], states: int = 1) -> dict[str, int]:
        keys = ("verdict", "conditions")
        more = {"states": states, "also_shown_of": []}
        return of_sources("uclamp-sum", [dict(zip(keys, row, strict=True)) | more for row in rows])

    none = said()
    assert none["all"] == sum(each.document == "uclamp-sum" for each in stated().values())
    assert none["all"] == none[NOT_CURRENT] + none["untested"]
    source, usual = ("holds", "source"), ("refuted", "platform")
    for rows, word in (
        ([source], "holds"),
        ([source, usual], "holds"),
        ([usual], "refuted"),
        ([source, ("undecided", "source")], "undecided"),
        ([source, ("refuted", "source"), (NOT_CURRENT, "source")], "refuted"),
        ([source, (NOT_CURRENT, "source")], NOT_CURRENT),
    ):
        found = said(*rows)
        changed = {key for key in found if found[key] != none[key]} - {NOT_CURRENT}
        assert changed == {word} - {NOT_CURRENT}, rows


@pytest.mark.parametrize("name", COMPARED)
def test_means_and_intervals_are_those_of_the_seeds(name: str) -> None:
    record = records_of(STUDIES / name)["record"]
    keys = TABLES["by_seed"][:4]
    seeds = {tuple(row[key] for key in keys): row["energy_mj"] for row in record.get("by_seed", [])}
    for cell in record["cells"]:
        key = tuple(cell[key] for key in keys)
        if not seeds.get(key):
            continue
        own = seeds[key]
        assert cell["energy_mj"] == pytest.approx(sum(own) / len(own), rel=1e-5)
        if cell["per"] or cell["variant"] == cell["baseline"]:
            continue
        diff = difference(seeds[*key[:3], cell["baseline"]], own)
        assert cell["change"] == pytest.approx(diff.percent, abs=1e-2)
        ends = diff.in_percent() or (None, None)  # too few seeds for an interval
        assert (cell["low"], cell["high"]) == pytest.approx(ends, abs=0.2)


@pytest.mark.parametrize("name", COMPARED)
def test_statements_allow_for_other_work(name: str) -> None:
    """Energy is that of a unit of it, or a source's power; frames that are not drawn are lost."""
    record = records_of(STUDIES / name)["record"]
    keys = TABLES["verdicts"][:4]
    work = {tuple(row[key] for key in keys): row["work"] or 0.0 for row in record["cells"]}
    wrong = [
        verdict["statement"]
        for verdict in record.get("verdicts", [])
        for key in [tuple(verdict[key] for key in keys)]
        for other in re.findall(r"(?:energy_j\.total|frames\.late)\[(.*?)\]", verdict["statement"])
        if verdict["verdict"] != NOT_CURRENT
        and abs(work[key] - work.get((*key[:3], other), 0.0)) > OTHER_WORK_PERCENT
        and not re.search(r"frames\.skipped|\bpower\b|\bW\b", " ".join(map(str, verdict.values())))
    ]
    assert wrong == []


def study(folder: Path, page: str, record: object = None) -> Path:
    (folder / "study.toml").write_text("")
    (folder / PAGE).write_text(page)
    (folder / RECORD).write_text(json.dumps(record or {}))
    return folder


def test_a_page_sees_a_table_as_rows(tmp_path: Path) -> None:
    table = {"columns": ["name", "change", "low", "high"], "rows": [["a", -0.04, None, None]]}
    page = "{{ record.cells | row(name='a') | change }} {{ 2.345 | signed(2) }}\n"
    assert drawn(study(tmp_path, page, {"cells": table})) == "+0.0 +2.35\n"


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("{{ record.nothing }}", "has no attribute 'nothing'"),
        ("{{ nothing }}", "'nothing' is undefined"),
        ("{{ [] | row(name='a') }}", "0 rows have {'name': 'a'}; expected one"),
        ("one\n{% if %}", "line 2"),
    ],
)
def test_what_no_record_has_is_one_line(page: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=re.escape(words)) as error:
        drawn(study(tmp_path, page))
    assert "\n" not in str(error.value)


def test_an_unknown_page_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["uclmap"]) == 2
    assert "unknown page 'uclmap'" in capsys.readouterr().err
    assert INDEX in every_page()


def test_a_verb_carries_the_sign_of_a_change() -> None:
    assert verb(-56.24) == "falls by 56.2 %"
    assert verb({"change": 4.8, "low": 4.4, "high": 5.1}) == "rises by 4.8 % (+4.4..+5.1)"
    assert verb("2571.0") == "rises 27-fold"
    unclear = {"change": -23.4, "low": -68.9, "high": 0.2}
    assert verb(unclear) == "does not change clearly (-23.4 %, -68.9..+0.2)"
    assert verb(-8.9, "cuts", "raises") == "cuts by 8.9 %"
