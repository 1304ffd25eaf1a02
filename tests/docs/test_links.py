# SPDX-License-Identifier: GPL-2.0-or-later
"""Every relative link of every page leads to a file that exists, and to a heading in it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.support.markdown import ROOT, anchors, links, pages


def broken(page: Path, text: str) -> list[str]:
    """The links of ``page`` that lead nowhere, as ``line: target: why``."""
    problems = []
    for number, target in links(text):
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / unquote(name)).resolve() if name else page
        if path != page and not path.exists():
            problems.append(f"{number}: {target}: no such file")
        elif not path.is_relative_to(ROOT):
            problems.append(f"{number}: {target}: outside the repository")
        elif anchor and path.suffix == ".md":
            content = text if path == page else path.read_text()
            if anchor not in anchors(content):
                problems.append(f"{number}: {target}: no such heading")
    return problems


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page(page: Path) -> None:
    assert broken(page, page.read_text()) == []


def test_there_are_pages_and_links() -> None:
    assert len(pages()) > 20
    assert sum(len(list(links(page.read_text()))) for page in pages()) > 100


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[a](no-such-file.md)", "no such file"),
        ("[a link that goes on\nin the next line](no-such-file.md)", "no such file"),
        ("![a](docs/figures/no-such.svg)", "no such file"),
        ("[a](README.md#no-such-heading)", "no such heading"),
        ("# One\n[a](#two)", "no such heading"),
        ("[a](../elsewhere)", "no such file"),
    ],
)
def test_a_broken_link_is_found(text: str, problem: str) -> None:
    (message,) = broken(ROOT / "PAGE.md", text)
    assert message.endswith(problem)


@pytest.mark.parametrize(
    "text",
    [
        "# Some `code`, and more: A/A?\n[a](#some-code-and-more-aa)",
        "# One\n# One\n[a](#one-1)",
        "# A [link](README.md) in it\n[a](#a-link-in-it)",
        "`[a](no-such-file.md)`",
        "```\n[a](no-such-file.md)\n```",
        "Text:\n\n    [a](no-such-file.md)\n",
        "[a](https://example.org/no-such)",
    ],
)
def test_a_good_link_is_none(text: str) -> None:
    assert broken(ROOT / "PAGE.md", text) == []


def test_code_is_no_heading() -> None:
    assert anchors("# One\n\n    # make demo\n\n```\n# two\n```\n") == {"one"}
