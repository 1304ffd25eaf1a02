# SPDX-License-Identifier: GPL-2.0-or-later
"""Findings: why a scenario's expectation does not hold on a platform, as its traces show.

``results/findings/PLATFORM/SCENARIO.toml`` has one ``[[finding]]`` for each expectation of which
something is known. What was found on a board says nothing of another, so each has its own file.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from analysis.results.origin import RESULTS
from host.strict import read_toml

FINDINGS = RESULTS / "findings"


@cache
def findings(
    platform: str, scenario: str, folder: Path = FINDINGS
) -> Mapping[tuple[str, str], str]:
    """Text by variant and statement; empty where nothing is known.

    :raises RequestError: one line, when the file is not as the module says.
    """
    path = folder / platform / f"{scenario}.toml"
    if not path.is_file():
        return {}
    top = read_toml(path)
    texts: dict[tuple[str, str], str] = {}
    for table in top.tables("finding", 1, 99):
        key = table.text("variant"), table.text("statement")
        if key in texts:
            raise table.error("statement", "one finding for each expectation")
        texts[key] = table.text("text")
        table.finish()
    top.finish()
    return texts
