# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists that people keep: each names every record of ``results/`` and every page of results."""

from __future__ import annotations

import re

import pytest

from analysis.results.origin import RESULTS
from studies.draw import ALL, DRAWINGS, ELSEWHERE, INDEX, PLANNED
from tests.support.markdown import ROOT

RECORDS = {path.stem for path in RESULTS.glob("*.json")}
NAMED = re.compile(r"`([a-z0-9-]+)(?:\.json)?`")
LINKED = re.compile(r"\]\((?:results/)?([\w-]+)\.md\)")


@pytest.mark.parametrize("page", ["results/README.md", "studies/README.md"])
def test_a_list_of_records_has_every_record(page: str) -> None:
    named = set(NAMED.findall((ROOT / page).read_text()))
    assert {*RECORDS, *PLANNED} <= named


def test_the_recipe_says_how_every_page_is_made() -> None:
    rows = re.findall(r"^\|.*$", (ROOT / "docs/recipes/results.md").read_text(), re.MULTILINE)
    named = set(NAMED.findall("\n".join(rows)))
    by_text = {"hardware", "model-axes"}
    assert {*RECORDS, *ELSEWHERE} - by_text <= named
    text = (ROOT / "docs/recipes/results.md").read_text()
    for name in by_text:
        assert f"`make {name}` makes" in text


def test_the_index_of_the_documentation_links_every_page_of_results() -> None:
    linked = set(LINKED.findall((ROOT / "docs/README.md").read_text()))
    assert {*DRAWINGS, *ELSEWHERE} <= linked
    assert {*ALL} == {*DRAWINGS, *ELSEWHERE, INDEX}


def test_every_phony_target_is_a_target_and_is_described() -> None:
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    (phony,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    described = re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE)
    assert sorted(phony.split()) == sorted(described)


def test_every_study_has_a_target_that_runs_it() -> None:
    """Those that make their record from other records' runs, or by another command, aside."""
    makefile = (ROOT / "Makefile").read_text()
    studies = {path.parent.name for path in ROOT.glob("studies/*/__main__.py")}
    assert {name for name in studies if f"-m studies.{name}" not in makefile} == set()
