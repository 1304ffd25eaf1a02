# SPDX-License-Identifier: GPL-2.0-or-later
"""The page lists every key of a result, and the rows of a comparison have the declared units."""

from __future__ import annotations

import re
from dataclasses import fields

from eascope.analysis.measures import MEASURES
from eascope.analysis.records.result import Result
from eascope.analysis.rows import UNITS
from tests.support.markdown import ROOT

PAGE = (ROOT / "docs" / "reference" / "measures.md").read_text()
NAMES = {measure.name for measure in MEASURES}


def _short(unit: str) -> str:
    """Without of what a share is, or which number means what: the meaning says that."""
    return "share" if unit.startswith("share") else "" if unit.startswith("1 =") else unit


def test_every_key_of_a_result_is_on_the_page_once() -> None:
    """Measures in the table that code draws, all others in the one below it."""
    body = PAGE.partition("\n| key | meaning |")[2].partition("\n\n")[0].splitlines()[2:]
    others = {name for line in body for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert others == {field.name for field in fields(Result)} - NAMES - {"more"}


def test_details_are_of_measures_that_there_are() -> None:
    details = PAGE.partition("### Details of some measures")[2].partition("\n###")[0]
    named = re.findall(r"^\* `(\w+)", details, re.MULTILINE)
    assert len(named) > 10
    assert {*named} <= NAMES


def test_units_of_rows() -> None:
    for name, unit in ((measure.name, _short(measure.unit)) for measure in MEASURES):
        named = next((known for end, known in UNITS.items() if name.endswith(end)), "")
        assert named == ("" if unit == "share" else unit), name
