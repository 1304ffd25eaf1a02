# SPDX-License-Identifier: GPL-2.0-or-later
"""The page and the rows of a comparison give a measure the unit that it declares."""

from __future__ import annotations

import re

from analysis.measures import MEASURES
from analysis.rows import UNITS
from tests.support.markdown import ROOT

PAGE = (ROOT / "docs" / "reference" / "measures.md").read_text()


def _short(unit: str) -> str:
    """Without of what a share is, or which number means what: the meaning says that."""
    return "share" if unit.startswith("share") else "" if unit.startswith("1 =") else unit


DECLARED = {measure.name: _short(measure.unit) for measure in MEASURES}


def of_page() -> dict[str, str]:
    """The page's unit of each key, by the first word of the key."""
    body = PAGE.partition("\n| key | unit |")[2].partition("\n\n")[0].splitlines()[2:]
    cells = [line.split("|") for line in body]
    return {re.findall(r"`(\w+)", cell[1])[0]: cell[2].strip() for cell in cells}


def test_units_of_the_page() -> None:
    page = of_page()
    assert {name: page.get(name) for name in DECLARED} == {**DECLARED, "eas": "bool"}


def test_units_of_rows() -> None:
    for name, unit in DECLARED.items():
        named = next((known for end, known in UNITS.items() if name.endswith(end)), "")
        assert named == ("" if unit == "share" else unit), name
