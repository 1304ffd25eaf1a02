# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulated schedule of a campaign, on schedules that a reader can work out."""

from __future__ import annotations

import pytest

from studies.scale.schedule import by_array, by_first_free, main, part_seconds

#: Parts of 1 s and of 3 s in turn.
MIXED = [1.0, 3.0, 1.0, 3.0]


def test_the_first_free_core_takes_the_next_part() -> None:
    # One core: 1, then 1 and 3 on it from 1 s on; the other: 3.
    done = by_first_free(MIXED, 2, float("inf"))
    assert done.end_s == 5.0
    assert done.busy == pytest.approx(8 / 10)


def test_starts_are_limited() -> None:
    assert by_first_free([1.0] * 10, 10, float("inf")).end_s == 1.0
    assert by_first_free([1.0] * 10, 10, 2.0).end_s == 4.5 + 1.0


def test_a_task_of_an_array_keeps_its_parts() -> None:
    # Tasks 0 and 1 have the parts of 1 s and those of 3 s.
    done = by_array(MIXED, 2, most_tasks=2)
    assert done.end_s == 6.0
    assert done.busy == pytest.approx(8 / 12)


def test_an_array_fills_no_more_cores_than_it_has_tasks() -> None:
    assert by_array([1.0] * 8, 8, most_tasks=2).busy == pytest.approx(2 / 8)


def test_parts_have_all_cells_and_each_scenario_its_share() -> None:
    seconds = part_seconds(101, 20, [1.0, 10.0], spread=0.0, start_s=2.0, seed=1)
    assert len(seconds) == 6
    assert sum(seconds[:3]) == pytest.approx(3 * 2.0 + 50 * 1.0)
    assert sum(seconds[3:]) == pytest.approx(3 * 2.0 + 51 * 10.0)


def test_the_table_has_both_ways(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--cells", "1000", "--cores", "2,4"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines[1:5]] == [
        ["2", "20", "Snakemake"],
        ["2", "20", "array"],
        ["4", "20", "Snakemake"],
        ["4", "20", "array"],
    ]
    assert lines[5] == "0 GiB in 27000 files"
