# SPDX-License-Identifier: GPL-2.0-or-later
"""TOML that is written is read as what it was."""

from __future__ import annotations

import tomllib
from typing import Any

from eascope.host.toml_text import toml_text


def test_it_is_read_back() -> None:
    document: dict[str, Any] = {
        "text": 'with "quotes", \\ and µ',
        "number": 1_200_000,
        "share": 0.5,
        "flag": True,
        "names": ["a", "b"],
        "rows": [{"khz": 1, "uv": 2}, {"khz": 3, "uv": 4}],
        "table": {"cpu-sleep-0": {"exit_us": 3}, "plain": 1},
        "a key": 2,
        "empty": [],
    }
    assert tomllib.loads(toml_text(document)) == document
