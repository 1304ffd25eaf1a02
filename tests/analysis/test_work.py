# SPDX-License-Identifier: GPL-2.0-or-later
"""How work is counted, and the energy of a unit of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eascope.analysis.records.cell import ProgramRecord
from eascope.analysis.records.result import Energy
from eascope.analysis.records.work import WorkRecord
from eascope.analysis.work import with_work, work_done
from tests.support.records import cell_record, result_record, task_record

CELL = cell_record(
    tasks=(task_record("a", "a0", "a1"), task_record("b")),
    programs=(ProgramRecord("pipe", "ping-pong", 1000, "x.log"),),
)
RESULT = result_record(
    window_s=2.0,
    energy_j=Energy(3.0, {}, {}, {}, {}),
    speed={"a": 0.5, "b": 0.25},
    turns={"a": 60, "b": 7},
    wakeups={"a": 61, "b": 8},
)


@pytest.mark.parametrize(
    ("counted", "done"),
    [
        # two threads at half the speed, one at a quarter, for two seconds
        ("busy_loop", 2.5),
        ("turns.a", 60),
        ("wakeups.b", 8),
        ("programs", 1000),
    ],
)
def test_work_is_what_the_scenario_counts(counted: str, done: float) -> None:
    cell = replace(CELL, work=WorkRecord("thing", counted))
    assert work_done(cell, RESULT) == done
    assert with_work(cell, RESULT).energy_per_work_j == 3.0 / done
    assert with_work(cell, RESULT).work == done
    assert with_work(cell, RESULT).task_work_s == {"a": 2.0, "b": 0.5}


def test_no_work_has_no_energy() -> None:
    result = with_work(CELL, replace(RESULT, speed={"a": 0.0, "b": 0.0}))
    assert (result.work, result.energy_per_work_j) == (0, None)
