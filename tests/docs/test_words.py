# SPDX-License-Identifier: GPL-2.0-or-later
"""Words that pages, messages, comments and names of the product do without."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.repo import REPO

#: Names that say nothing of what they hold.
NAMES = {
    "one",
    "found",
    "told",
    "beside",
    "Beside",
    "Side",
    "Sides",
    "Starts",
    "Ran",
    "Apart",
}
#: A phrase, and what to say instead. Words that have another, plain meaning are not here.
PHRASES = {
    r"told(?! apart)": "given, or say what differs",
    r"beside": "compared with, next to, besides",
    r"hangs? on": "depends on",
    r"parts by": "differs by",
    r"takes what it takes": "say which model decides",
    r"by forty": "with forty seeds",
    r"cannot tell them apart": "show no difference",
    r"before there were": "say what the file has, or lacks",
    r"what is not (?:known|there|built)": "what is unknown, missing, not built: name the thing",
}
_PHRASE = re.compile(rf"\b({'|'.join(PHRASES)})\b", re.IGNORECASE)
#: Texts of ours; patches of the kernel and quoted sources of figures follow other rules.
TEXTS = (
    *("*.md", "*.py", "*.c", "*.h", "*.S", "*.rs", "Makefile"),
    "analysis/known/data/findings/*.toml",
)
ELSEWHERE = (":!tests/docs/test_words.py", ":!kernels/series", ":!LICENSE")


def tracked(*patterns: str) -> list[Path]:
    command = ["git", "ls-files", "-z", "--", *patterns]
    listing = subprocess.run(command, cwd=REPO, check=True, capture_output=True).stdout
    paths = [REPO / name for name in listing.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


def phrases_in(text: str) -> list[str]:
    """``told: given, or say what differs``, each with the line that it is on."""
    return [
        f"line {text.count(chr(10), 0, match.start()) + 1}: {match[0]}: "
        + next(more for rule, more in PHRASES.items() if re.fullmatch(rule, match[0], re.I))
        for match in _PHRASE.finditer(text)
    ]


def names_in(text: str) -> set[str]:
    """The `NAMES` that the Python file ``text`` gives to variables, arguments and classes."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
    return names & NAMES


def test_pages_messages_and_comments_use_plain_words() -> None:
    texts = tracked(*TEXTS, *ELSEWHERE)
    assert len(texts) > 300, "the patterns no longer meet the product's files"
    wrong = [
        f"{path.relative_to(REPO)}: {phrase}"
        for path in texts
        for phrase in phrases_in(path.read_text(encoding="utf-8"))
    ]
    assert not wrong, "\n".join(wrong)


def test_names_say_what_they_hold() -> None:
    wrong = {
        str(path.relative_to(REPO)): names
        for path in tracked("*.py")
        if (names := names_in(path.read_text(encoding="utf-8")))
    }
    assert not wrong


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("it is told\n", ["line 1: told: given, or say what differs"]),
        ("a\nHangs on it", ["line 2: Hangs on: depends on"]),
        ("besides, it hangs; untold", []),
    ],
)
def test_phrases_are_seen_as_words(text: str, phrases: list[str]) -> None:
    assert phrases_in(text) == phrases


def test_names_are_seen_where_they_are_given() -> None:
    source = "class Side: ...\ndef told(one): found = 1; return [x.beside for x in one]\n"
    assert names_in(source) == {"Side", "told", "one", "found"}
    assert names_in("print(one.told, 'found')") == set()
