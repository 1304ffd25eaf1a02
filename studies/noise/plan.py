# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan: every scenario of the pages, on the pages' platforms."""

from __future__ import annotations

from studies.pages.plan import pages

NAME = "noise"
#: Of each side.
SEEDS = 10


def plan() -> list[tuple[str, str]]:
    """Platform and scenario, each once, in the order of pages."""
    every = [(page.platform, group.scenario) for page in pages() for group in page.groups]
    return list(dict.fromkeys(every))
