# SPDX-License-Identifier: GPL-2.0-or-later
"""The cells of the wake-up cost study: like any other cell, but without a trace."""

from __future__ import annotations

import pytest

from experiments.cell import prepare
from experiments.request import resolve
from experiments.runs import execute
from studies.wakeup_cost.plan import FORMS, ROUND_TRIPS
from studies.wakeup_cost.run import instructions, requested


@pytest.mark.parametrize("form", FORMS)
def test_each_form_has_the_round_trips_that_the_slope_divides_by(form: str) -> None:
    counts = tuple(
        resolve(requested("mainline", form, 0, full)).scenario.programs[0].count(full)
        for full in (False, True)
    )
    assert counts == ROUND_TRIPS


@pytest.mark.guest
def test_nothing_runs_but_the_program() -> None:
    cell = prepare(resolve(requested("mainline", "one big CPU", 0, full=False)))
    lines = cell.machine.script.decode().splitlines()
    assert [line.split()[1] for line in lines if line.startswith("spawn")] == ["pipe"]
    assert not [line for line in lines if line.startswith("bytes")], "no loop to elide"
    window = lines[lines.index("start") : lines.index("stop")]
    assert window[1].endswith("4 /bin/ping-pong pipe 1000")
    assert window[2:] == ["wait pipe"]


@pytest.mark.guest
def test_ten_times_the_round_trips_cost_ten_times_as_much_and_lie_in_runs() -> None:
    counts = []
    for full in (False, True):
        run = execute(prepare(resolve(requested("mainline", "one big CPU", 0, full))))
        assert run.cell.scenario == "one-big-cpu"
        counts.append(instructions(run))
    short, long = ROUND_TRIPS
    per_wake_up = (counts[1] - counts[0]) / (long - short) / 2
    # A pipe's write, a switch and a read take some thousand instructions.
    assert 2000 < per_wake_up < 8000
    assert counts[1] > 8 * counts[0]
