# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario that does not get on is a fault; a task that is kept from a CPU is a result."""

from dataclasses import replace
from pathlib import Path

import pytest

from eascope.analysis.derive import Derived, derive
from eascope.analysis.records.cell import CELL, CellRecord, TaskRecord
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.host.errors import EascopeError
from tests.support.synthetic import MS, Burst, Schedule, reseal, write_run

LOW = {0: [(0, 450_000)], 1: [(0, 600_000)]}
#: Sleeps from before the window on.
BEFORE = Burst("a-0", -50 * MS, 0, MS)
INSIDE = Burst("b-1", 50 * MS, 0, MS)


def derived(
    folder: Path, platform: Platform, activity: Activity, bursts: list[Burst], **changes: object
) -> Derived:
    """A made-up run of 100 ms, with these things said of the first task."""
    write_run(folder, platform, Schedule(100 * MS, bursts, LOW))
    cell = CellRecord.read(folder / CELL)

    def changed(task: TaskRecord) -> TaskRecord:
        return replace(task, **changes) if task.name == bursts[0].task else task  # type: ignore[arg-type]

    replace(cell, tasks=tuple(map(changed, cell.tasks))).write(folder / CELL)
    reseal(folder)
    return derive(folder, platform, activity)


def test_a_task_that_waits_through_the_window(
    tmp_path: Path, platform: Platform, activity: Activity
) -> None:
    words = "a-0 waited through the whole window for another task: test/bursts makes no progress"
    with pytest.raises(EascopeError, match=words):
        derived(tmp_path / "run", platform, activity, [BEFORE, INSIDE], waits=True)


@pytest.mark.parametrize("changes", [{}, {"waits": True, "rest_us": 100_000}])
def test_a_task_that_may_rest_as_long(
    tmp_path: Path, platform: Platform, activity: Activity, changes: dict[str, object]
) -> None:
    result = derived(tmp_path / "run", platform, activity, [BEFORE, INSIDE], **changes)
    assert result.result.run_share.keys() == {"b-1"}


def test_a_task_that_was_woken_is_kept_from_a_cpu(
    tmp_path: Path, platform: Platform, activity: Activity
) -> None:
    late = Burst("a-0", 10 * MS, 0, MS, latency_ns=200 * MS)
    result = derived(tmp_path / "run", platform, activity, [BEFORE, late, INSIDE], waits=True)
    assert "a-0" not in result.result.run_share


def test_no_task_ran(tmp_path: Path, platform: Platform, activity: Activity) -> None:
    with pytest.raises(EascopeError, match="no task of test/bursts ran in the window: a-0"):
        derived(tmp_path / "run", platform, activity, [BEFORE])
