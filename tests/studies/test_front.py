# SPDX-License-Identifier: GPL-2.0-or-later
"""The README's headline is what the demo prints, and its table of validity what records say."""

from __future__ import annotations

import math
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.results.agreement import Agreement
from analysis.results.cluster_power import MeasuredCluster
from analysis.results.comparisons import Comparisons
from analysis.results.demo import Demo
from analysis.results.findings import NO_CONTROLS
from analysis.results.origin import RESULTS
from studies import front
from studies.draw import FRONT, main

README = front.README.read_text(encoding="utf-8")


def test_the_readme_is_drawn_from_the_demo_and_the_records() -> None:
    assert front.drawn(README) == README, "run: make pages"


def test_the_readme_quotes_the_demo_s_command() -> None:
    makefile = (front.README.parent / "Makefile").read_text()
    (demo,) = re.findall(r"^DEMO = \$\(EASCOPE\) (.+)$", makefile, re.MULTILINE)
    assert f"What `eascope {demo}` prints" in README


def test_another_error_in_a_record_changes_the_readme(tmp_path: Path) -> None:
    shutil.copytree(RESULTS, tmp_path / "results")
    path = tmp_path / "results" / "engine-agreement.json"
    record = Agreement.read(path)
    first, *others = record.cells
    worse = replace(first.against["elided"], energy_percent=-43.2)
    replace(
        record, cells=(replace(first, against={**first.against, "elided": worse}), *others)
    ).write(path)
    assert "43.2 %" in front.drawn(README, tmp_path / "results")
    assert "43.2 %" not in README


def test_another_record_of_the_demo_changes_the_readme(tmp_path: Path) -> None:
    shutil.copytree(RESULTS, tmp_path / "results")
    path = tmp_path / "results" / "demo.json"
    record = Demo.read(path)
    total, *others = record.glance.rows
    (energy,) = total.measures
    total = replace(total, measures=(replace(energy, means={**energy.means, "mainline": 1.234}),))
    changes = {**record.changes_per_s, "mainline": 77.4}
    glance = replace(record.glance, rows=(total, *others))
    replace(record, glance=glance, changes_per_s=changes).write(path)
    other = front.drawn(README, tmp_path / "results")
    for words in (" 1.23 ", "changes its OPP 77 times"):
        assert (words in other, words in README) == (True, False)


@pytest.mark.parametrize(("error", "word"), [(16.48, "missed"), (14.2, "met")])
def test_the_error_of_a_whole_cluster_is_in_the_readme_with_its_goal(
    error: float, word: str, tmp_path: Path
) -> None:
    shutil.copytree(RESULTS, tmp_path / "results")
    path = tmp_path / "results" / "cluster-power.json"
    record = MeasuredCluster.read(path)
    every, *others = record.groups
    every = replace(every, mean_absolute_percent=error)
    replace(record, groups=(every, *others)).write(path)
    words = f"end to end, .*: {error:.1f} % \\(goal 15 %: {word}\\) for"
    assert re.search(words, front.drawn(README, tmp_path / "results"))


def test_figures_in_the_texts_come_from_records() -> None:
    """The texts have no digits but those of names: a word that has letters, too."""
    rows = (RESULTS / front.FRONT / "validity.md").read_text().splitlines()[2:]
    for row in rows:
        error = re.sub(r"\{\{.*?\}\}|\]\(.*?\)", "", row.split("|")[3])
        assert [word for word in error.split() if re.fullmatch(r"[\d.,%:]+", word)] == []


def test_the_page_of_the_scenario_says_what_the_figure_says() -> None:
    """Mainline's changes lie among the record's seeds, and the sum all but removes them."""
    record = Comparisons.read(RESULTS / "uclamp.json")
    (scenario,) = (
        each
        for each in record.scenarios
        if each.scenario == "uclamp/frequency-spike" and each.controls == NO_CONTROLS
    )
    shown = front.headline_parts()
    changes = {
        variant.name: transitions
        for variant in scenario.variants
        if (transitions := variant.clusters["big"].transitions_per_s) is not None
    }
    mainline = changes["mainline"]
    seen = range(math.floor(mainline.least), math.ceil(mainline.most) + 1)
    assert shown["changes.mainline"] in map(front.how_often, seen)
    few = range(round(mainline.mean / 20))
    assert shown["changes.uclamp-sum"] in map(front.how_often, few)
    assert changes["uclamp-sum"].mean < few.stop


def test_how_often_is_said_in_words() -> None:
    assert [front.how_often(count) for count in (0, 1, 2, 139)] == [
        *("0 times", "once", "twice", "139 times")
    ]


def test_a_readme_without_a_place_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"has no <!-- validity --> \.\. <!-- end of"):
        front.drawn(README.replace("<!-- validity -->", ""))


def test_only_the_readme_can_be_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "README.md"
    copy.write_text(
        re.sub(r"<!-- validity -->\n(.|\n)*<!-- end", "<!-- validity -->\n<!-- end", README)
    )
    monkeypatch.setattr(front, "README", copy)
    assert main([FRONT]) == 0
    assert capsys.readouterr().err.split() == [str(copy)]
    assert copy.read_text() == README
