# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario under its source's conditions, with the real kernel on the fast engine."""

import json
from pathlib import Path

import polars as pl
import pytest

from eascope.experiments.runs.request import Request, resolve
from tests.support.board_dvfs import LEAST_NS, changes_ns
from tests.support.columns import least
from tests.support.command import RUN, changed, eascope, ran

pytestmark = pytest.mark.guest

#: What the notebook of uclamp sum aggregation had, on tasks that change frequencies often.
CONDITIONS = """\
[source_conditions]
source = "a notebook"
platform = "juno-r2"
dvfs = "board"
delay_dequeue = false
calibration_ns = 186
speeds = "hardware"
switches = [
    ["/sys/kernel/debug/sched/features", "NO_PREEMPT_SHORT"],
    ["/sys/kernel/debug/sched/features", "NO_PLACE_REL_DEADLINE"],
    ["/sys/kernel/debug/sched/features", "NO_NI_RANDOM"],
]

"""


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    path = tmp_path / "smoke.toml"
    smoke = resolve(Request("juno-r2", "mainline", "smoke")).scenario.path.read_text()
    path.write_text(smoke.replace("[[task]]", f"{CONDITIONS}[[task]]", 1))
    return str(path)


def test_the_machine_has_what_the_source_had(scenario: str) -> None:
    """The agent proves switches and thread, or the run fails."""
    printed = ran(scenario, "--source-conditions")
    state = (Path(printed["run"]) / "state.txt").read_text()
    for feature in ("NO_DELAY_DEQUEUE", "NO_PREEMPT_SHORT", "NO_NI_RANDOM"):
        assert feature in state.split()
    shown = eascope("show", Path(printed["run"]).name).stdout
    assert "board-dvfs, no-delay-dequeue, hardware-speeds, calibration-186-ns" in shown


def test_limits_of_clamps_are_switches_where_tasks_have_clamps(tmp_path: Path) -> None:
    """Each of them reads back before the window and after it, or the run fails."""
    limits = {
        "sched_util_clamp_min_rt_default": "0",
        "sched_util_clamp_min": "100",
        "sched_util_clamp_max": "800",
    }
    switches = [[f"/proc/sys/kernel/{name}", value] for name, value in limits.items()]
    conditions = f'[source_conditions]\nsource = "a phone"\nswitches = {json.dumps(switches)}\n'
    smoke = resolve(Request("juno-r2", "mainline", "smoke")).scenario.path.read_text()
    clamped = smoke.replace("[[task]]", f"{conditions}[[task]]\nuclamp = {{ min = 300 }}", 1)
    (tmp_path / "clamped.toml").write_text(clamped)
    ran(tmp_path / "clamped.toml", "--source-conditions")


def test_frequencies_change_no_sooner_than_the_boards() -> None:
    run = Path(ran("uclamp/frequency-spike", "--dvfs", "board")["run"])
    (derived,) = (run / "derived").iterdir()
    assert least(changes_ns(pl.read_parquet(derived / "frequency.parquet"), "big")) > LEAST_NS


def test_tables_say_whose_conditions_they_have(scenario: str) -> None:
    run = changed(RUN, "--scenario", scenario)
    assert (
        "setup: as in the original posting (a notebook"
        in eascope(*run, "--source-conditions").stdout
    )
    assert (
        "setup: defaults, not the original posting's (--source-conditions: dvfs=board, "
        "NO_DELAY_DEQUEUE, speeds=hardware, calibration_ns=186, NO_PREEMPT_SHORT"
    ) in eascope(*run).stdout
