# SPDX-License-Identifier: GPL-2.0-or-later
"""What studies measure that no command prints."""

from dataclasses import replace

import polars as pl
import pytest

from eascope.configs.activity import Activity, at_measured_speeds
from eascope.configs.platform import Platform
from eascope.experiments.renew.costed import CostedRun
from eascope.experiments.runs.request import resolve
from eascope.power.derived import DerivedPower, busy_events
from eascope.power.events import load_events
from eascope.power.mcpat import CYCLE
from eascope.power.model import SHARED_PART
from research.activity_error import billed, compare, events
from research.elision import CASES, executable, record_of
from research.program_speed import FAST, MEASURE, REFERENCE, SCENARIO, rates, request
from tests.support.costed import changed, costed


def test_cells_run_at_what_gem5_executes() -> None:
    """The loop at the CPU model's own speed on every core type, windows short enough to execute."""
    for case in CASES:
        for elided in (False, True):
            request = case.request(elided)
            names = resolve(request)
            assert (names.engine.mode == "elided") == (not case.detailed)
            cell = executable(names, case)
            if case.detailed:
                measured = at_measured_speeds(names.platform, names.activity)[1]
                assert cell.activity.clusters == measured.clusters
            else:
                assert {rates.ipc for rates in cell.activity.clusters} == {1.0}
            assert cell.activity.digest != names.activity.digest
            assert cell.platform == names.platform
            window = cell.scenario.window
            assert (window.warmup_ms, window.length_ms(False)) == (case.warmup_ms, case.window_ms)
            assert cell.scenario.tasks == names.scenario.tasks
        assert names.request.elide
        assert not resolve(case.request(False)).request.elide


def test_a_row_has_differences_and_how_much_less_processor_time() -> None:
    executed = changed(costed(100.0, 0.50, True), cpu_busy=(1.0, 0.5))
    elided = changed(costed(100.5, 0.53, True), window_cpu_s=2.5)
    record = record_of({"smoke": {"executed": executed, "elided": elided}}, "a test")
    (row,) = record["cases"]["rows"]
    # 10 processor s against 2.5, each of 0.5 simulated s
    assert row == ["smoke", 20, 60, 75.0, 0.5, 3.0, True, 20.0, 5.0, 4.0]
    assert record["origins"][0]["command"] == "a test"


def test_both_engines_run_the_same_programs_alone_on_each_cluster(juno: Platform) -> None:
    fast, gem5 = (resolve(request(SCENARIO, *engine)) for engine in (FAST, REFERENCE))
    assert fast.engine.name == FAST[0]
    assert (gem5.engine.name, gem5.engine.mode) == REFERENCE
    assert fast.scenario == gem5.scenario
    cpus = [program.cpus for program in fast.scenario.programs]
    assert cpus == [(cluster.cpus[0],) for cluster in juno.clusters]


def test_a_row_has_both_rates_and_their_differences() -> None:
    names = resolve(request(SCENARIO, *FAST))

    def printed(events: float) -> CostedRun:
        run = costed(1.0, 0.5, True)
        programs = {program.name: {MEASURE: events} for program in names.scenario.programs}
        return replace(run, result=replace(run.result, program=programs))

    rows = list(rates(names, printed(930.0), printed(1000.0), printed(870.0)))
    assert [row[1] for row in rows] == [cluster.name for cluster in names.platform.clusters]
    for row in rows:
        assert row[0] == "sysbench-cpu"
        assert row[3:6] == [930.0, 870.0, 1000.0]
        assert row[6:] == pytest.approx([-7.0, -13.0])


NS = 1_000_000


def _rows(platform: Platform, activity: Activity, factor: float) -> tuple[pl.DataFrame, int]:
    """One row of CPU 0, on and active for `NS`, with ``factor`` times the busy loop's events."""
    cluster = platform.clusters[0]
    power = load_events(cluster.core.name)
    counts, _ = busy_events(power, cluster, activity)
    opp = cluster.opps[-1]
    cycles = NS * opp.khz / 1e6
    row = {
        **{"cluster": 0, "cpu": 0, "t0_ns": 0, "t1_ns": NS, "khz": opp.khz, "uv": opp.uv},
        **{"active_ns": NS, "on_ns": NS, "entry_ns": 0, "exit_ns": 0},
        "instructions": round(cycles * activity.ipc(cluster)),
        **{event: factor * count * cycles for event, count in counts.items() if event != CYCLE},
        CYCLE: cycles,
    }
    return pl.DataFrame([row]), round(cycles)


def test_the_loop_itself_costs_the_same_both_ways(juno: Platform, juno_activity: Activity) -> None:
    cluster, model = juno.clusters[0], DerivedPower(juno, juno_activity)
    rows, _ = _rows(juno, juno_activity, 1.0)
    counted, stated = billed(model, cluster, rows)
    assert counted == pytest.approx(stated, rel=1e-4)
    assert stated == pytest.approx(model.busy_microwatt(cluster, cluster.max_khz) * 1e-6 * NS / 1e9)
    more, of_loop = billed(model, cluster, _rows(juno, juno_activity, 2.0)[0])
    assert of_loop == stated
    assert more > 1.1 * stated


def test_events_are_those_of_an_instruction(juno: Platform, juno_activity: Activity) -> None:
    cluster = juno.clusters[0]
    power = load_events(cluster.core.name)
    rows, cycles = _rows(juno, juno_activity, 2.0)
    counts, _ = busy_events(power, cluster, juno_activity)
    stated = {event: count / juno_activity.ipc(cluster) for event, count in counts.items()}
    by_event = events(power, 0.9, stated, rows)
    instructions = rows["instructions"][0]
    assert by_event[CYCLE].counted == pytest.approx(cycles / instructions, rel=1e-5)
    for event, of_event in by_event.items():
        if event != CYCLE:
            assert of_event.counted == pytest.approx(2 * of_event.stated, rel=1e-5), event
        wanted = power.energy_pj[event] * power.level.power.dynamic_scale(0.9)
        assert of_event.pj == pytest.approx(wanted, rel=1e-5)
    assert events(power, 0.9, stated, rows.with_columns(instructions=pl.lit(0))) == {}


def test_every_cluster_and_kernel_has_its_line(juno: Platform, juno_activity: Activity) -> None:
    rows, _ = _rows(juno, juno_activity, 1.0)
    shared = rows.with_columns(
        cpu=pl.lit(SHARED_PART, dtype=pl.Int64), on_ns=pl.lit(0, dtype=pl.Int64)
    )
    lines = compare(
        juno, juno_activity, {"little": "A", "big": "B"}, rows, pl.concat([rows, shared])
    )
    assert [(line.cluster, line.model) for line in lines] == [("little", "A"), ("big", "B")]
    assert lines[0].counted_s == lines[0].active_s == NS / 1e9
    assert lines[1].events == {}
    assert lines[1].energy_counted_j == lines[1].energy_stated_j == 0
