# SPDX-License-Identifier: GPL-2.0-or-later
"""Every committed page is what its record and its notes say, and nothing else."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from analysis.results.first_figure import FirstFigure
from analysis.results.origin import RESULTS
from host.errors import RequestError
from host.record import RecordError
from studies.agreement.plan import NAMES as AGREEMENT
from studies.demo import plan as demo
from studies.draw import ALL, DRAWINGS, INDEX, PLANNED, drawn, main, save
from studies.notes import NOTES, PAGES, page_of


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A copy of all records and notes."""
    shutil.copytree(RESULTS, tmp_path / "results")
    return tmp_path / "results"


@pytest.mark.parametrize("name", ALL)
def test_a_page_is_drawn_from_its_record_and_notes(name: str) -> None:
    assert (PAGES / f"{name}.md").read_text(encoding="utf-8") == drawn(name)


def test_every_record_and_every_note_has_its_page() -> None:
    assert {path.stem for path in RESULTS.glob("*.json")} == {*DRAWINGS, demo.NAME}
    assert {path.stem for path in NOTES.glob("*.md")} == {*ALL, *PLANNED}
    assert not {path.stem for path in PAGES.glob("*.md")} & set(PLANNED)


@pytest.mark.parametrize("name", [name for name in ALL if name != INDEX])
def test_a_page_asks_answers_shows_and_limits(name: str) -> None:
    heads = re.findall(r"^## (.*)$", (PAGES / f"{name}.md").read_text(), re.MULTILINE)
    assert heads == ["Question", "Answer", "Evidence", "Limits"]


def numbers(value: Any, where: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the numbers of a record stand."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in pairs:
            yield from numbers(part, (*where, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield where


#: A key whose numbers a page has, where it has not all of its record.
SHOWN = {"noise": "energy_j.total", "campaign-samples": "energy"}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_changed_number_changes_the_page(name: str, results: Path) -> None:
    path = results / f"{name}.json"
    data = json.loads(path.read_text())
    shown = [where for where in numbers(data) if SHOWN.get(name, where[-1]) == where[-1]]
    *outer, last = shown[-1]
    part = reduce(lambda value, key: value[key], outer, data)
    part[last] += 1
    path.write_text(json.dumps(data))
    assert drawn(name, results) != (PAGES / f"{name}.md").read_text()


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_record_without_a_key_is_one_line(name: str, results: Path) -> None:
    path = results / f"{name}.json"
    data = json.loads(path.read_text())
    del data["origin"]["command"]
    path.write_text(json.dumps(data))
    with pytest.raises(RecordError) as error:
        drawn(name, results)
    assert str(error.value) == f"{path}: origin.command is missing: allowed: a text"


def test_the_index_names_every_page() -> None:
    linked = set(re.findall(r"\]\(([\w-]+)\.md\)", (PAGES / f"{INDEX}.md").read_text()))
    assert linked == {path.stem for path in PAGES.glob("*.md")} - {INDEX}


def test_every_record_over_seeds_states_what_its_seeds_drew() -> None:
    for name, drawing in DRAWINGS.items():
        record = drawing.kind.read(RESULTS / f"{name}.json")
        over_seeds = getattr(record, "seeds", None) or "by_seed" in record.to_bytes().decode()
        if over_seeds or name in AGREEMENT.values():
            assert record.replicates is not None, name


def test_the_index_lists_pages_whose_seeds_draw_starts_alone(results: Path) -> None:
    def listed() -> set[str]:
        (line,) = re.findall(r"^.*replicates\.md\): (.*)\.$", drawn(INDEX, results), re.MULTILINE)
        return set(re.findall(r"\]\((.*?)\.md\)", line))

    assert not listed() & {"hardware", "cluster-power", "memory-time"}, "no figure over seeds"
    for replicates in (False, True):
        path = results / "first-figure.json"
        record = FirstFigure.read(path)
        replace(record, origin=replace(record.origin, replicates=replicates)).write(path)
        assert ("first-figure" in listed()) is not replicates


def test_a_record_of_a_changed_checkout_is_written_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = FirstFigure.read(RESULTS / "first-figure.json")
    for words, warned in (("0.1.0 (abc, changed)", True), ("0.1.0 (abc)", False)):
        origin = replace(record.origin, versions={"eascope": words})
        save("first-figure", replace(record, origin=origin), tmp_path)
        warnings = [line for line in capsys.readouterr().err.splitlines() if "warning:" in line]
        assert bool(warnings) is warned
        assert all("first-figure.json: eascope 0.1.0 (abc, changed)" in line for line in warnings)


def test_the_index_follows_the_records(results: Path) -> None:
    path = results / "first-figure.json"
    record = FirstFigure.read(path)
    total, *others = record.measures
    replace(record, measures=(replace(total, percent=12.3), *others)).write(path)
    assert "+12.3 %" in drawn(INDEX, results)
    assert "+12.3 %" not in drawn(INDEX)


def test_parts_stand_where_the_notes_say(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("# X\n\nAt most {{ most }}.\n\n{{ table }}\n")
    text = page_of("x", {"most": "3 %", "table": "| a |"}, tmp_path)
    assert text == "# X\n\nAt most 3 %.\n\n| a |\n"


def test_lines_about_pages_that_are_not_there_yet_are_left_out(tmp_path: Path) -> None:
    rows = "{{#planned a}}| {{ a/b }} | [c](c.md) |\n{{#planned c}}| {{ c/d }} | x |\n"
    (tmp_path / "x.md").write_text(f"# X\n{rows}")
    text = page_of("x", {}, tmp_path, {"a/b": "3 %"}, planned=("c",))
    assert text == "# X\n| 3 % | [c](c.md) |\n"


def test_the_index_has_a_row_for_every_planned_page() -> None:
    """Each with its mark, and marks name pages that there are or may be."""
    noted = (NOTES / f"{INDEX}.md").read_text()
    marked = dict(re.findall(r"^\{\{#planned ([\w-]+)\}\}.*\]\(([\w-]+)\.md\) \|$", noted, re.M))
    assert set(PLANNED) <= set(marked) <= {*ALL, *PLANNED}
    assert all(linked == name for name, linked in marked.items())


def test_parts_and_places_match(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("# X\n\nAt most {{ mots }}.\n")
    with pytest.raises(
        RequestError, match=r"x.md: line 3 = '{{ mots }}': allowed: one of most \(d"
    ):
        page_of("x", {"most": "3 %"}, tmp_path)
    (tmp_path / "x.md").write_text("# X\n")
    with pytest.raises(RequestError, match=r"x.md: {{ most }} is missing"):
        page_of("x", {"most": "3 %"}, tmp_path)
    with pytest.raises(RequestError, match=r"y.md: No such file or directory: allowed: notes"):
        page_of("y", {}, tmp_path)


def test_an_unknown_page_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["elison"]) == 2
    assert "unknown page 'elison' (did you mean elision?)" in capsys.readouterr().err
