# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of kernels lists the files, the patches and the counters that there are."""

from __future__ import annotations

import re

from eascope.kernels.queues import own_files
from eascope.kernels.variants import SERIES
from tests.support.markdown import ROOT

PAGE = (ROOT / "kernels" / "README.md").read_text()


def numbers(head: str) -> list[int]:
    """The patches that the first column of a table names, ``5, 10`` as two."""
    _, _, below = PAGE.partition(f"\n{head}\n")
    first = [line.split("|")[1] for line in below.partition("\n\n")[0].splitlines()[1:]]
    return [int(number) for cell in first for number in re.findall(r"\d+", cell)]


def test_every_module_is_named() -> None:
    table = PAGE.partition("| here | holds |")[2].partition("\n\n")[0]
    modules = {path.name for path in (ROOT / "kernels").glob("*.py")} - {"__init__.py"}
    assert set(re.findall(r"`(\w+\.py)`", table)) == modules


def test_every_patch_has_a_line() -> None:
    count = len(list((SERIES / "base").glob("*.patch")))
    assert numbers("| patch | does |") == list(range(1, count + 1))
    assert sorted(numbers("| base | on 7.3 |")) == list(range(1, count + 1))


def test_every_counter_is_named() -> None:
    files = [*SERIES.rglob("*.patch"), *own_files(SERIES / "base").values()]
    counters = {
        name
        for file in files
        for name in re.findall(r"^\+?EASCOPE_COUNTER\((\w+)\)", file.read_text(), re.MULTILINE)
    }
    assert counters
    named = set(re.findall(r"`(\w+)`", PAGE))
    assert counters <= named, counters - named
