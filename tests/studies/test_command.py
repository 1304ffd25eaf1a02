# SPDX-License-Identifier: GPL-2.0-or-later
"""The command that stands in a record."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from studies.command import command_of

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["uclamp", "--folder", "/x", "--seeds", "3"], "python -m studies.pages uclamp --seeds 3"),
        (["--folder=/x", "uclamp"], "python -m studies.pages uclamp"),
        ([], "python -m studies.pages"),
    ],
)
def test_a_record_does_not_say_where_it_was_written_first(given: list[str], named: str) -> None:
    assert command_of("pages", given) == named


def test_no_other_file_of_a_study_reads_the_arguments_of_the_process() -> None:
    readers = [path for path in (ROOT / "studies").rglob("*.py") if "argv" in path.read_text()]
    assert readers == [ROOT / "studies" / "command.py"]


def test_a_study_names_itself() -> None:
    named = {
        path.parent.name: re.findall(r'command_of\("(\w+)"', path.read_text())
        for path in sorted((ROOT / "studies").glob("*/__main__.py"))
    }
    named = {name: studies for name, studies in named.items() if studies}
    assert len(named) >= 8
    assert all(studies == [name] for name, studies in named.items())
