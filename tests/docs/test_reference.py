# SPDX-License-Identifier: GPL-2.0-or-later
"""Reference pages say what the code says: command line, environment; and all can be reached."""

from __future__ import annotations

import runpy

import pytest

from eascope.analysis.measures import MEASURES
from eascope.experiments.cli import variants_page
from eascope.experiments.cli.reference import PAGE, page
from eascope.kernels.variants import load_catalogue
from tests.support.repo import REPO

REFERENCE = REPO / "docs" / "reference"


def test_the_command_line_is_what_the_parsers_say() -> None:
    assert PAGE.read_text() == page(), "run: python -m eascope.experiments.cli.reference"


def test_the_variants_are_what_is_declared() -> None:
    text, shipped = variants_page.PAGE.read_text(), load_catalogue().shipped()
    assert text == variants_page.page(shipped), "run: python -m eascope.experiments.cli.reference"


def test_the_page_of_measures_has_their_needs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_module("eascope.analysis.measures", run_name="__main__")
    table = capsys.readouterr().out
    assert table.count("| `") >= len(MEASURES)
    assert table in (REFERENCE / "measures.md").read_text(), "run analysis.measures"
