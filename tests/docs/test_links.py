# SPDX-License-Identifier: GPL-2.0-or-later
"""Every relative link of every page leads to a file that exists, and to a heading in it."""

from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.support.markdown import anchors, links, pages
from tests.support.repo import REPO


def broken(page: Path, text: str) -> list[str]:
    """The links of ``page`` that lead nowhere, as ``line: target: why``."""
    problems = []
    for number, target in links(text):
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / unquote(name)).resolve() if name else page
        if not path.is_relative_to(REPO) or (name and not path.exists()):
            problems.append(f"{number}: {target}: no such file")
        elif (
            anchor
            and path.suffix == ".md"
            and anchor not in anchors(text if path == page else path.read_text())
        ):
            problems.append(f"{number}: {target}: no such heading")
    return problems


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(REPO)))
def test_links_of_a_page(page: Path) -> None:
    assert broken(page, page.read_text()) == []


def test_a_broken_link_is_found() -> None:
    text = "# One `x`\n# One `x`\n[a](#one-x-1) ![b](no.svg) [c](README.md#no) `[d](no)` [e](#two)"
    assert [line.split(": ")[1] for line in broken(REPO / "PAGE.md", text)] == [
        *("no.svg", "README.md#no", "#two"),
    ]
