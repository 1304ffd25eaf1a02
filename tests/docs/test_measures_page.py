# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of measures lists the figures, the tables' columns and the keys that the code has."""

from __future__ import annotations

import re

import pytest

from eascope.analysis.compare import Comparison
from eascope.analysis.compare_json import differences_json, verdict_json
from eascope.analysis.derive import TABLES
from eascope.analysis.figures import FIGURES
from tests.support.compared import compared_runs
from tests.support.markdown import ROOT

PAGE = (ROOT / "docs" / "reference" / "measures.md").read_text()
NAMED = re.compile(r"`(\w+)`")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    return compared_runs(tmp_path_factory.mktemp("runs"), 1)


def rows(head: str) -> dict[str, str]:
    """The table whose first row begins with ``head``: the rest of each row by its first word."""
    _, _, below = PAGE.partition(f"\n| {head} |")
    body = below.partition("\n\n")[0].splitlines()[2:]
    assert body, head
    return {NAMED.findall(line)[0]: line.partition("` |")[2] for line in body}


def test_drawings() -> None:
    assert list(rows("drawing")) == [*FIGURES, "stack", "axes"]


def test_columns_of_tables(compared: Comparison) -> None:
    listed = rows("table")
    assert list(listed) == list(TABLES)
    derived = compared.variants["cas"][0]
    for name, cells in listed.items():
        columns = {re.sub(r"idle\d+_ns", "idle0_ns", key) for key in derived.table(name).columns}
        assert set(NAMED.findall(cells.split("|")[1])) == columns, name


def test_keys_of_a_difference(compared: Comparison) -> None:
    (cells,) = (line for line in PAGE.splitlines() if line.startswith("| `differences` |"))
    listed = set(NAMED.findall(cells)) - {"differences", "window_s"}
    keys = {key for entry in differences_json(compared) for key in entry}
    # From ten seeds on there is an interval, with --null a noise floor.
    assert listed == keys | {"confidence_95", "noise_floor"}


def test_keys_of_a_verdict(compared: Comparison) -> None:
    listed = PAGE.partition("| key of a verdict |")[2].partition("\n\n")[0].splitlines()[2:]
    keys = {name for line in listed for name in NAMED.findall(line.split(" | ")[0])}
    made = [verdict_json(verdict) for verdict in compared.verdicts]
    assert keys == set(made[0]) | {"finding"}
    (parts,) = (line for line in listed if line.startswith("| `parts`"))
    assert set(NAMED.findall(parts)) - {"parts"} == set(made[0]["parts"][0])
