# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures: each reads the trace events and files that it declares, and no others."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from eascope.analysis import derive, rows
from eascope.analysis.measures import MEASURES, cpus, registry, stages, tasks
from eascope.analysis.measures.__main__ import table
from eascope.analysis.measures.kernel import counted, pushes
from eascope.analysis.measures.registry import LOGS, Lines, Measure, measure
from eascope.analysis.records.cell import CELL, CellRecord, FramesRecord, ProgramRecord
from eascope.analysis.records.result import Pushes, Result, mean_result
from eascope.analysis.run_data import RunData
from eascope.analysis.trace import Trace, read_trace
from eascope.analysis.window import Window, read_window
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.engines.records import COUNTERS, MARKS, STATE
from eascope.experiments.runs.trace_events import GROUPS, TRACE_EVENTS
from eascope.kernels.switches import INTERRUPTS, ONLINE
from eascope.power.stated import StatedPower
from tests.support.synthetic import counters_text, make_run

Source = Callable[[], RunData]


BY_NAME = pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
PROGRAM = ProgramRecord("pipe", "ping-pong", 5, "program-pipe.log")


@dataclass
class NotingTrace(Trace):
    """A trace that notes which events were asked for."""

    asked: set[str] = field(default_factory=set)

    def table(self, event: str) -> pl.DataFrame:
        self.asked.add(event)
        return super().table(event)


@pytest.fixture
def source(tmp_path: Path, platform: Platform, activity: Activity) -> Callable[[], RunData]:
    """Sources of one made-up run: nothing of one is known to the next."""
    run = make_run(tmp_path, platform, "mainline", 0)
    (run / PROGRAM.log).write_text("5 round trips in 1000 ns\n")
    with (run / STATE).open("a") as state:
        state.write("".join(counters_text(push_check=number) for number in (1, 2, 9, 12)))
        state.write("".join(f"{INTERRUPTS}: nic 4 1000 200 0 {n} {n} 0\n" for n in (1, 9)))
    cell = replace(CellRecord.read(run / CELL), programs=(PROGRAM,))
    task = next(task for task in cell.tasks if task.period_us)
    cell = replace(cell, frames=FramesRecord(task.name, task.name))
    trace = read_trace(run / "trace.dat")
    # Each thread that wrote markers also ends within the window.
    last = trace.events.filter(pl.col("event") == "print").group_by("pid").tail(1)
    ended = last.with_columns(pl.lit("rtapp_task: event=end").alias("detail"))
    gone = last.head(1).with_columns(
        pl.lit(f"eascope: {ONLINE.format(1)} = 0").alias("detail"), pl.col("t_ns") - 1_000_000
    )
    events = [trace.events, ended.select(trace.events.columns), gone.select(trace.events.columns)]
    trace.events = pl.concat(events)
    cell = replace(cell, window=replace(cell.window, writes=("2 a=1",)))
    window = read_window(run / MARKS)
    at = window.t0_ns - window.offset_ns + 2_000_000
    marker = (at, 0, 1, "init", "print", "tracing_mark_write: eascope: a = 1")
    moved = "comm=decode-0 pid=10 prio=120 orig_cpu=0 dest_cpu=1"
    late = (at + 700_000_000, 0, 1, "init", "sched_migrate_task", moved)
    done = pl.DataFrame([marker, late], schema=trace.events.schema, orient="row")

    def make() -> RunData:
        return RunData(
            run=run,
            cell=cell,
            platform=platform,
            activity=activity,
            power=StatedPower(platform),
            window=window,
            trace=NotingTrace(trace.path, pl.concat([trace.events, done]).sort("t_ns")),
        )

    return make


def value(measure: Measure, source: RunData) -> object:
    """What a measure gives; None where what it needs is not there."""
    try:
        return measure.function(source)
    except Exception as error:
        return type(error)


@BY_NAME
def test_a_measure_asks_for_the_events_that_it_declares(measure: Measure, source: Source) -> None:
    measured = source()
    assert measure.function(measured) is not None or measure.name in ("memory_j", "stirred_s")
    assert isinstance(measured.trace, NotingTrace)
    assert measured.trace.asked == set(measure.events) - {"print"}
    silent = source()
    silent.trace.events = silent.trace.events.filter(pl.col("event") != "print")
    unchanged = value(measure, silent) == value(measure, source())
    # Each task of this run has one thread.
    assert unchanged is ("print" not in measure.events or measure.name == "task_fairness")


@BY_NAME
@pytest.mark.parametrize(
    ("name", "file"), [(COUNTERS, COUNTERS), (STATE, STATE), (LOGS, PROGRAM.log)]
)
def test_a_measure_reads_the_files_that_it_declares(
    measure: Measure, source: Source, name: str, file: str
) -> None:
    before = value(measure, source())
    (source().run / file).unlink()
    assert (value(measure, source()) != before) is (name in measure.files)


def test_every_event_that_a_measure_needs_is_recorded() -> None:
    """Those of interrupts where ``--events irq`` asks for them."""
    recorded = {event.partition(":")[2] for event in (*TRACE_EVENTS, *GROUPS["irq"])} | {"print"}
    assert {event for measure in MEASURES for event in measure.events} <= recorded


def test_measures_are_the_keys_of_a_result() -> None:
    names = [measure.name for measure in MEASURES]
    other_keys = {"engine", "power_model", "window_s", "expect"}
    # Of other measures, by what the scenario counts.
    other_keys |= {"work", "task_work_s", "energy_per_work_j"}
    other_keys.add("more")  # the measures that have no field
    assert {entry.name for entry in fields(Result)} - other_keys <= {*names}
    assert len(names) == len({*names})


def test_the_reference_has_a_row_for_each() -> None:
    rows = table().markdown().splitlines()[2:]
    assert len(rows) == len(MEASURES)
    assert all(measure.summary for measure in MEASURES)
    [latency] = [row for row in rows if row.startswith("| `latency_us` |")]
    assert "| us |" in latency
    assert "`sched_switch`, `sched_waking`" in latency


def test_a_measure_without_a_field_is_in_results_and_rows(
    source: Source, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its declaration is enough."""

    def napped(source: RunData) -> dict[str, float]:
        """How often it napped."""
        return {task.name: 2.0 for task in source.cell.tasks}

    monkeypatch.setattr(registry, "REGISTERED", [])
    own = measure(keys="<task>", lines=Lines("naps", "{name}, all", digits=0))(napped)
    monkeypatch.setattr(derive, "MEASURES", (*MEASURES, own))
    monkeypatch.setattr(rows, "MEASURES", (*MEASURES, own))
    result = derive.result_of(source())
    read = Result.decode(json.loads(result.to_bytes()), "result.json")
    assert read.encode() == result.encode()
    task = source().cell.tasks[0].name
    assert read.encode()["napped"][task] == 2.0
    lines = [row for row in rows.rows(platform, source().cell) if row.path == ("napped", task)]
    assert [(row.group, row.label, row.value(read)) for row in lines] == [
        ("naps", f"{task}, all", 2.0)
    ]
    assert mean_result([read, read]).more == read.more


def test_a_stage_without_length_has_no_means() -> None:
    """As where a CPU is to come back while it is still being taken away."""
    edges = np.array([0, 4, 4, 10])
    means = stages._by_stage(edges, {"big": np.array([8.0, 0.0, 3.0])})
    assert means == {"0": {"big": 2.0}, "2": {"big": 0.5}}
    assert stages._by_stage(np.array([0, 4]), {"big": np.array([8.0])}) == {}


READY = counters_text(push_check=5, push_moved=3)
START = counters_text(push_check=100, tick_check=20, push_moved=10, tick_moved=5)
STOP = counters_text(push_check=180, tick_check=40, push_moved=12, tick_moved=8)
END = counters_text(push_check=999, tick_moved=999)


STATES: dict[str, tuple[str, Pushes | None]] = {
    "between START and STOP": (READY + START + STOP + END, Pushes(100, 5, 2, 3)),
    "after another variant": (2 * READY + START + STOP + END, Pushes(100, 5, 2, 3)),
    "a kernel that cannot push": (
        4 * "/sys/kernel/debug/sched/eascope/stats: counter cpu0\nselect_wakeup 3\n",
        None,
    ),
    "without the window's": (READY + END, None),
    "nothing": ("", None),
}


@pytest.mark.parametrize("case", STATES)
def test_pushes_are_those_between_start_and_stop(case: str) -> None:
    state, pushed = STATES[case]
    assert pushes(counted(state)) == pushed


def test_counters_are_rates_of_the_window(source: Source) -> None:
    """The last but two reads are those of START and STOP."""
    data = source()
    assert isinstance(data.run, Path)
    reads = ((9, 9), (5, 1), (7, 8), (50, 50))
    texts = (counters_text(lb_active=lb, overutilized_set=ou) for lb, ou in reads)
    (data.run / STATE).write_text("".join(texts))
    of = {each.name: each.function(data) for each in MEASURES}
    assert of["active_balances_per_s"] == 2 / data.window.seconds
    assert of["overutilized_per_s"] == 7 / data.window.seconds


def test_a_wakeup_has_its_share_of_all_work(source: Source) -> None:
    data = source()
    result = {each.name: each.function(data) for each in MEASURES}
    wakeups = sum(result["wakeups"].values())
    assert wakeups > 1
    busy_us = sum(result["cpu_busy"]) * data.window.ns / 1000
    assert result["busy_per_wakeup_us"] == pytest.approx(busy_us / wakeups)
    per_cpu = cpus.per_cpu(data)["work"]
    assert result["instructions_per_wakeup"] == pytest.approx(per_cpu.sum() / wakeups)


def test_stirring_within_the_window_is_measured(source: Source) -> None:
    data = source()
    assert tasks.stirred_s.function(data) is None
    thread, run_ns = data.placement.group_by("thread").agg(pl.col("run_ns").sum()).row(0)
    data.__dict__["placement"] = data.placement.with_columns(
        pl.col("thread").replace({thread: "stir1"})
    )
    replicate = replace(data.cell.replicate, others=("bg0", "stir1"))
    data.__dict__["cell"] = replace(data.cell, replicate=replicate)
    assert tasks.stirred_s.function(data) == run_ns / 1e9


def test_settled_migrations_are_those_before_the_first_end() -> None:
    """Of moves at 0.4, 0.6 and 0.9 s, with the first end at 0.8 s, one in 0.3 s."""
    comm = "hog-0"
    moves = [
        {"t_ns": ms * 1_000_000, "comm": comm, "orig_cpu": 0, "dest_cpu": 1}
        for ms in (400, 600, 900)
    ]
    trace = SimpleNamespace(table=lambda _: pl.DataFrame(moves))
    window = Window(0, 1_000_000_000)
    data = SimpleNamespace(trace=trace, window=window, threads={comm: "hog"})
    for ended, rate in (({comm: 800_000_000}, 1 / 0.3), ({}, 2 / 0.5), ({comm: 500_000_000}, None)):
        data.ended = ended
        assert cpus.migrations_settled_per_s.function(data) == pytest.approx(rate)  # type: ignore[arg-type]


def test_the_name_of_a_measure_ends_with_its_unit() -> None:
    """JSON and tables take the unit from the name."""
    whole = [each for each in MEASURES if not each.unit.startswith(("share", "1 ="))]
    assert {each.name: rows.unit_of(each.name) for each in whole} == {
        each.name: each.unit for each in whole
    }
