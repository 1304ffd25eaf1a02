# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands that pages print can be typed: their names and options exist.

``test_typed_pages.py`` runs them.
"""

from pathlib import Path

import pytest

from tests.support.markdown import code_lines, pages
from tests.support.printed import commands, problem, unknown_words
from tests.support.repo import REPO

#: Pages that people type from; others quote the commands that made them.
PAGES = [page for page in pages() if REPO / "docs" / "results" not in page.parents]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPO)))
def test_commands_of_a_page(page: Path) -> None:
    """`make setup` puts no eascope on PATH; command-line.md has the forms of commands alone."""
    text = page.read_text()
    assert [
        (command.line, why) for command in commands(page, text) if (why := problem(command))
    ] == []
    assert unknown_words(text) == []
    bare = [line for _, line in code_lines(text) if line.strip().startswith("eascope ")]
    assert not bare or page.name == "command-line.md"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("make no-such-target", "no target no-such-target"),
        (".venv/bin/python -m no_such_module", "no module no_such_module"),
        (".venv/bin/eascope no-such-command", "no-such-command"),
        (".venv/bin/eascope list no-such-kind", "no kind no-such-kind"),
        ("GEM5=x .venv/bin/eascope compare cas eas --platform pixel6 --scenario smoke", "eas"),
    ],
)
def test_a_wrong_command_is_found(text: str, words: str) -> None:
    parsed = commands(REPO / "PAGE.md", f"    {text}  # (gem5)")
    assert [(item.gem5, words in problem(item)) for item in parsed] == [(True, True)]


def test_an_unknown_command_or_option_in_a_sentence_is_found() -> None:
    right = "`eascope show` `eascope compare --decisions` `eascope COMMAND --help` `--seeds 3`"
    assert unknown_words(right) == []
    wrong = ["eascope look", "eascope show --seeds 3", "eascope --no-such", "--no-such X"]
    assert [code for _, code in unknown_words(" ".join(f"`{w}`" for w in wrong))] == wrong
