# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs on both engines: what is run, and what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.results.origin import RUNS, Origin
from analysis.results.program_speed import ProgramRate, ProgramSpeeds, WholeRun
from configs.platform import Platform
from experiments.request import resolve
from studies.program_speed.page import parts
from studies.program_speed.plan import FAST, MEASURE, PLATFORM, REFERENCE, SCENARIO, request


def record(little: float) -> ProgramSpeeds:
    """Programs on little and big; big's are the same on both engines."""
    programs = tuple(
        ProgramRate(name, "sysbench-cpu", name, known, fast, 870.0, 1000.0)
        for name, known, fast in (("little", True, little), ("big", False, 1000.0))
    )
    origin = Origin("a test", RUNS, {})
    return ProgramSpeeds(
        *(origin, PLATFORM, "mainline", SCENARIO, "detailed", MEASURE, (9.5, 800.0)),
        sim_s=0.1,
        programs=programs,
        whole=WholeRun(
            *("programs/cyclictest-idle", "latency", "elided", (7.4, 300.0), 4.5),
            measures={"avg_us": (20.0, 10.0)},
        ),
    )


def test_both_engines_run_the_same_programs_alone_on_each_cluster(juno: Platform) -> None:
    fast, gem5 = (resolve(request(SCENARIO, *engine)) for engine in (FAST, REFERENCE))
    assert fast.engine.name == FAST[0]
    assert (gem5.engine.name, gem5.engine.mode) == REFERENCE
    assert fast.scenario == gem5.scenario
    cpus = [program.cpus for program in fast.scenario.programs]
    assert cpus == [(cluster.cpus[0],) for cluster in juno.clusters]


def test_the_page_says_the_largest_difference_and_whether_the_goal_is_met(tmp_path: Path) -> None:
    drawn = parts(record(little=930.0))
    assert drawn["worst"] == "7.0 %"
    assert drawn["differences"] == "little -7.0 %, big +0.0 %"
    assert drawn["without"] == "little -13.0 %, big -13.0 %"
    assert drawn["goal"] == "10 %, which is met"
    assert (
        "| little | 930.0 | 1000.0 | -7.0 % | measured for the program | -13.0 % |"
        in drawn["table"]
    )
    assert "| big | 1000.0 | 1000.0 | +0.0 % | the kernel's | -13.0 % |" in drawn["table"]
    assert "gem5 took 800 processor seconds" in drawn["conditions"]
    assert "in 300 processor seconds" in drawn["whole"]
    assert "| avg, us | 20.0 | 10.0 |" in drawn["measures"]
    drawn = parts(record(little=1130.0))
    assert (drawn["worst"], drawn["goal"]) == ("13.0 %", "10 %, which is missed")
    assert "+13.0 % * |" in drawn["table"]
    record(930.0).write(tmp_path / "program-speed.json")
    assert ProgramSpeeds.read(tmp_path / "program-speed.json") == record(930.0)


def test_the_page_has_every_committed_program(juno: Platform) -> None:
    rows = [line.split(" | ") for line in parts(record(930.0))["figures"].splitlines()[2:]]
    sysbench = [row for row in rows if row[0] == "| sysbench-cpu" and row[1] == juno.name]
    assert [row[2] for row in sysbench] == [cluster.name for cluster in juno.clusters]
    # IPC at the slowest and the fastest OPP: a faster clock waits longer for memory, in cycles.
    assert all(float(row[5]) >= float(row[6]) * 0.95 for row in sysbench)
    assert all(float(row[4]) == pytest.approx(0, abs=1) for row in sysbench)
