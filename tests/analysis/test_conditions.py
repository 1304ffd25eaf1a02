# SPDX-License-Identifier: GPL-2.0-or-later
"""What the head of a table says of the conditions of a scenario's source."""

from __future__ import annotations

import pytest

from eascope.analysis.conditions import against_source
from eascope.analysis.records.cell import SourceConditionsRecord
from tests.support.records import cell_record

HAD = ("board-dvfs", "no-delay-dequeue")


@pytest.mark.parametrize(
    ("platform", "set_otherwise", "words"),
    [
        ("juno-r2", HAD, "conditions: the source's: a list"),
        ("juno-r2", (*HAD, "no-noise"), "conditions: the source's: a list"),
        (
            *("juno-r2", HAD[:1]),
            "conditions: defaults; the source's (--source-conditions): "
            "board dvfs, no delay dequeue",
        ),
        ("pixel6", HAD, "conditions: defaults; the source's are of pixel6"),
        ("", HAD, "conditions: those of the source's kernel, not of its board: a list"),
    ],
)
def test_it_says_whose_they_are(platform: str, set_otherwise: tuple[str, ...], words: str) -> None:
    had = SourceConditionsRecord("a list", platform, HAD)
    cell = cell_record(platform="juno-r2", set_otherwise=set_otherwise, source_conditions=had)
    assert against_source(cell) == words


def test_of_a_scenario_that_states_none_nothing_is_said() -> None:
    assert against_source(cell_record()) == ""
