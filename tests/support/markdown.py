# SPDX-License-Identifier: GPL-2.0-or-later
"""What the Markdown of this repository contains: headings, links, code."""

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.support.repo import REPO

PARSER = MarkdownIt("commonmark").enable("table")


def pages() -> list[Path]:
    """Every Markdown file that git knows, or would add, and that is a page.

    Templates in ``research`` are drawn into pages of ``docs/results``, where their links count.
    """
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"]
    listed = subprocess.run(command, cwd=REPO, check=True, capture_output=True).stdout.decode()
    return [
        REPO / name
        for name in sorted({*listed.split("\0")} - {""})
        if (REPO / name).is_file()
        if not name.startswith("research/") or name == "research/README.md"
    ]


def code_lines(text: str) -> Iterator[tuple[int, str]]:
    """Number and text of every line in a block of code."""
    for token in PARSER.parse(text):
        if token.type in ("fence", "code_block") and token.map:
            first = token.map[0] + 1 + (token.type == "fence")
            yield from enumerate(token.content.splitlines(), first)


def _spoken(text: str) -> Iterator[tuple[int, Token]]:
    """Every part of a paragraph, heading or cell, with the number of the line that begins it."""
    for token in PARSER.parse(text):
        if token.type == "inline" and token.map:
            yield from ((token.map[0] + 1, child) for child in token.children or [])


def code_words(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of all code in sentences."""
    yield from ((at, part.content) for at, part in _spoken(text) if part.type == "code_inline")


def links(text: str) -> Iterator[tuple[int, str]]:
    """Line and target of every link and image."""
    for at, part in _spoken(text):
        target = part.attrs.get("href", part.attrs.get("src"))
        if target is not None:
            yield at, str(target)


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    slugs, counts = set(), Counter[str]()
    for opened, heading in pairwise(PARSER.parse(text)):
        if opened.type == "heading_open":
            shown = "".join(part.content for part in heading.children or [])
            slug = re.sub(r"[^\w\- ]", "", shown.strip().lower()).replace(" ", "-")
            slugs.add(f"{slug}-{counts[slug]}" if counts[slug] else slug)
            counts[slug] += 1
    return slugs
