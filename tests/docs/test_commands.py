# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands that pages print can be typed: their names and options exist.

``test_typed_pages.py`` runs them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.markdown import ROOT, lines, pages
from tests.support.printed import (
    Command,
    commands,
    known_options,
    mentions,
    options,
    problem,
    wrong_mention,
)

RESULTS = ROOT / "docs" / "results"
#: Pages that people type from; others quote the commands that made them.
PAGES = [page for page in pages() if RESULTS not in page.parents]
#: Options of other programs than eascope that sentences name.
OTHERS = {"--debug-flags", "--metrics"}


def all_commands(page: Path) -> list[Command]:
    return list(commands(page, page.read_text()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_a_page(page: Path) -> None:
    wrong = [(command.line, command.text, problem(command)) for command in all_commands(page)]
    assert [entry for entry in wrong if entry[2]] == []
    wrong_words = [
        (line, mention, wrong_mention(mention)) for line, mention in mentions(page.read_text())
    ]
    assert [entry for entry in wrong_words if entry[2]] == []
    unknown = [entry for entry in options(page.read_text()) if entry[1] not in known_options()]
    assert [entry for entry in unknown if entry[1] not in OTHERS] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_command_can_be_typed_as_it_stands(page: Path) -> None:
    """`make setup` puts no eascope on PATH; command-line.md has the forms of commands alone."""
    if page.name == "command-line.md":
        assert "`.venv/bin/eascope`" in page.read_text()
        return
    bare = [line.text for line in lines(page.read_text()) if line.code]
    assert [text for text in bare if text.strip().startswith("eascope ")] == []


def test_there_are_commands() -> None:
    commands_of_pages = [command for page in PAGES for command in all_commands(page)]
    assert len(commands_of_pages) > 50
    assert any(command.gem5 for command in commands_of_pages)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("    make no-such-target", "no target no-such-target"),
        ("    .venv/bin/python -m no_such_module", "no module no_such_module"),
        ("    .venv/bin/eascope no-such-command", "no-such-command"),
        ("    .venv/bin/eascope list scenarios --no-such-option", "--no-such-option"),
        ("    .venv/bin/eascope list no-such-kind", "no kind no-such-kind"),
        (
            "    .venv/bin/eascope run --platform nowhere --variant cas --scenario smoke",
            "no platform nowhere",
        ),
        (
            "    GEM5=x .venv/bin/eascope compare cas eas --platform pixel6 --scenario smoke  # hm",
            "no variants eas",
        ),
    ],
)
def test_a_wrong_command_is_found(text: str, words: str) -> None:
    parsed = commands(ROOT / "PAGE.md", text)
    assert [words in problem(command) for command in parsed] == [True]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("`eascope show`", ""),
        ("`eascope compare --decisions`", ""),
        ("`eascope COMMAND --help`", ""),
        ("`eascope look`", "no command look"),
        ("`eascope show --seeds 3`", "no option --seeds"),
        ("`eascope --no-such-option`", "no option --no-such-option"),
    ],
)
def test_a_command_in_a_sentence(text: str, words: str) -> None:
    assert [wrong_mention(code) for _, code in mentions(text)] == [words]


def test_commands_that_need_gem5_are_recognized() -> None:
    text = "    make power-expressions   # measure (gem5)\n    make test   # all but gem5's\n"
    assert [command.gem5 for command in commands(ROOT / "PAGE.md", text)] == [True, False]
