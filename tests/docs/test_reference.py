# SPDX-License-Identifier: GPL-2.0-or-later
"""Reference pages say what the code says: command line, environment; and all can be reached."""

import re
from pathlib import Path

import pytest

from eascope.analysis.measures import MEASURES
from eascope.analysis.measures.__main__ import table
from eascope.configs.knobs import AXES, KNOBS
from eascope.experiments.cli.reference import (
    CONTROLS_PAGE,
    KEYS_PAGES,
    PAGE,
    controls_page,
    page,
    with_keys,
)
from eascope.experiments.cli.verbs import VERBS, make_parser
from tests.support.repo import REPO

REFERENCE = REPO / "docs" / "reference"


def test_the_command_line_is_what_the_parsers_say() -> None:
    assert PAGE.read_text() == page(), "make generate"


@pytest.mark.parametrize("name", VERBS)
def test_a_command_leads_to_each_of_its_options(name: str) -> None:
    """In its own section, by name, or by a link to the section of a group."""
    text = PAGE.read_text()
    own = text.partition(f"\n## `eascope {name}`\n")[2].partition("\n## ")[0]
    for title in re.findall(r"\[(\w[\w ]+)\]\(#", own):
        own += text.partition(f"\n### {title[0].upper()}{title[1:]}")[2].partition("\n## ")[0]
    parser = make_parser()._subparsers._group_actions[0].choices[name]  # type: ignore[union-attr,index]
    options = {option for action in parser._actions for option in action.option_strings}
    assert {it for it in options - {"-h", "--help", "--json"} if it not in own} == set()


def test_the_controls_are_what_is_declared() -> None:
    text = CONTROLS_PAGE.read_text()
    assert text == controls_page(), "make generate"
    for name in (*KNOBS, *AXES):
        assert f"\n| `{name}` |" in text, name


@pytest.mark.parametrize("page", KEYS_PAGES, ids=lambda page: page.stem)
def test_tables_of_keys_are_what_is_declared(page: Path) -> None:
    text = page.read_text()
    assert text.count("<!-- keys: ") > 1
    assert text == with_keys(text), "make generate"


def test_the_page_of_measures_has_their_needs() -> None:
    markdown = table().markdown()
    assert markdown.count("| `") >= len(MEASURES)
    assert markdown in (REFERENCE / "measures.md").read_text(), "make generate"
