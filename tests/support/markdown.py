# SPDX-License-Identifier: GPL-2.0-or-later
"""What the Markdown of this repository contains: headings, links, blocks of commands."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: ``[text](target)`` and ``![text](target)``; a target here has neither spaces nor parentheses.
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
FENCE = re.compile(r"^\s*(```|~~~)")
INLINE_CODE = re.compile(r"`[^`]*`")


@dataclass(frozen=True)
class MarkdownLine:
    """A line of a page.

    :ivar number: counted from 1.
    :ivar code: whether it belongs to a block of code, fenced or indented.
    """

    number: int
    text: str
    code: bool


def pages() -> list[Path]:
    """Every Markdown file that git knows, or would add, and that is a page.

    Templates in ``research`` are drawn into pages of ``docs/results``, where their links count.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout.decode()
    names = sorted({name for name in listed.split("\0") if name})
    return [
        ROOT / name
        for name in names
        if (ROOT / name).is_file()
        and (not name.startswith("research/") or name == "research/README.md")
    ]


def lines(text: str) -> Iterator[MarkdownLine]:
    """The lines of a page; an indented block needs a blank line before it, as in Markdown."""
    fenced = indented = False
    blank = True
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
            yield MarkdownLine(number, line, True)
            blank = False
            continue
        if not fenced and line.strip():
            indented = line.startswith("    ") and (indented or blank)
        yield MarkdownLine(number, line, fenced or (indented and line.startswith("    ")))
        blank = not line.strip()


def links(text: str) -> Iterator[tuple[int, str]]:
    """Line number and target of every link outside code."""
    # A link's text may go on in the next line: look at the page as a whole, with code blanked.
    outside_code = "\n".join(
        "" if line.code else INLINE_CODE.sub("code", line.text) for line in lines(text)
    )
    for match in LINK.finditer(outside_code):
        yield outside_code.count("\n", 0, match.start()) + 1, match[1]


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    counts: dict[str, int] = {}
    for line in lines(text):
        heading = None if line.code else HEADING.match(line.text)
        if heading is None:
            continue
        slug = _slug(heading[2])
        known = counts.get(slug, 0)
        counts[slug] = known + 1
        if known:
            counts[f"{slug}-{known}"] = 1
    return set(counts)


def _slug(heading: str) -> str:
    """Lower case, spaces to hyphens, no other punctuation; a link counts with its text alone."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
