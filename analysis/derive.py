# SPDX-License-Identifier: GPL-2.0-or-later
"""From a run to its result: tables and ``result.json`` in ``runs/<simkey>/derived/<akey>/``.

The run itself is only read. Another power model or another version of the analysis gives another
``akey``, so a run is derived again without a new simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import polars as pl

from eascope.analysis.derived_folder import derived_folder, derived_key, roots_of
from eascope.analysis.measures import MEASURES
from eascope.analysis.measures.interrupts import check_interrupts
from eascope.analysis.measures.registry import Measure
from eascope.analysis.measures.stages import check_events
from eascope.analysis.programs import OPERATIONS
from eascope.analysis.records.cell import (
    BUSY_LOOP,
    CELL,
    PROGRAMS,
    TURNS,
    WAKE_UPS,
    CellRecord,
    ProgramRecord,
)
from eascope.analysis.records.result import RESULT, Judged, PowerModelRecord, Result
from eascope.analysis.run_data import RunData
from eascope.analysis.statement import Absent, parse, value_at
from eascope.analysis.trace import as_counted, read_trace
from eascope.analysis.window import read_window
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.engines.records import MARKS, TRACE
from eascope.host.cache import digest_of
from eascope.host.errors import EascopeError
from eascope.host.imports import REPO, closure, code_digest
from eascope.power.choice import power_model
from eascope.power.memory import load_controller
from eascope.power.model import PowerModel

TABLES = (
    *("intervals", "energy", "slices", "latency"),
    *("placement", "frequency", "tasks"),
)
#: What a result depends on: this file, the choice of power models, and all that they import.
_CODE = (Path(__file__).resolve(), REPO / "power" / "choice.py")


@dataclass(frozen=True)
class Derived:
    """A derived run.

    :param path: the folder of tables and ``result.json``.
    :param cell: what the run was asked for as: the run's own ``cell.json``, or a later request's.
    """

    path: Path
    result: Result
    cell: CellRecord
    run: Path

    def table(self, name: str) -> pl.DataFrame:
        """One of :data:`TABLES`."""
        return pl.read_parquet(self.path / f"{name}.parquet")


def derive(
    run: Path,
    platform: Platform,
    activity: Activity,
    model: PowerModel | None = None,
    asked: CellRecord | None = None,
) -> Derived:
    """Derive ``run``, unless that has been done already with the same model and analysis.

    :param model: the power model; by default the platform's.
    :param asked: the record of the request, which has the run's simkey; by default the run's own,
        which is that of the first request. They differ in whatever the simkey leaves out: names,
        the unit of work, frames, expectations.
    :raises EascopeError: one line when the run is incomplete or its files are not usable.
    """
    (derived,) = derive_each(run, platform, activity, [model], asked)
    return derived


def derive_each(
    run: Path,
    platform: Platform,
    activity: Activity,
    models: Sequence[PowerModel | None],
    asked: CellRecord | None = None,
) -> list[Derived]:
    """As `derive`, by each of ``models``; what no power changes is made once for all of them."""
    own = CellRecord.read(run / CELL)
    cell = asked or own
    if not cell.controls.trace_events:
        raise EascopeError(f"{run}: was run without a trace: no measures can be derived from it")
    made: list[RunData] = []

    def make(work: Path, power: PowerModel) -> None:
        source = made[0].billed_by(power) if made else _source(run, cell, platform, activity, power)
        made[:] = [source]
        _derive_into(work, source, own)

    derived = []
    for model in models:
        power = model or power_model(None, platform, activity)
        fields = _fields(cell, platform, activity, power)
        folder = derived_folder(run, fields, partial(make, power=power))
        derived.append(Derived(folder, Result.read(folder / RESULT), cell, run))
    return derived


def is_derived(
    run: Path,
    platform: Platform,
    activity: Activity,
    models: Sequence[PowerModel],
    asked: CellRecord,
) -> bool:
    """True if `derive_each` would only read; tables that are damaged count."""
    keys = [derived_key(_fields(asked, platform, activity, power)) for power in models]
    return all(any((root / key).is_dir() for root in roots_of(run)) for key in keys)


def _fields(
    cell: CellRecord, platform: Platform, activity: Activity, power: PowerModel
) -> dict[str, object]:
    """All that a result depends on."""
    return {
        "simkey": cell.simkey,
        "power": power.digest,
        "memory": load_controller().sha256,
        "platform": platform.digest,
        "activity": activity.digest,
        "cell": digest_of(cell.encode()),
        "analysis": analysis_version(),
    }


@cache
def analysis_version() -> str:
    """Digest of all code that makes tables and results; figures and reports are not part of it."""
    return code_digest(closure(_CODE))


def _source(
    run: Path, cell: CellRecord, platform: Platform, activity: Activity, power: PowerModel
) -> RunData:
    return RunData(
        run=run,
        cell=cell,
        platform=platform,
        activity=activity,
        power=power,
        window=read_window(run / MARKS),
        trace=as_counted(read_trace(run / TRACE), platform, cell.settings.cmdline),
    )


def _derive_into(folder: Path, source: RunData, own: CellRecord) -> None:
    """Compute the result and write it with its tables, and a record that is not the run's own."""
    result = result_of(source)
    if source.cell != own:
        source.cell.write(folder / CELL)
    for name in TABLES:
        table: pl.DataFrame = getattr(source, name)
        table.write_parquet(folder / f"{name}.parquet", compression="zstd")
    result.write(folder / RESULT)


def result_of(source: RunData) -> Result:
    """Every measure that the run can give, then the expectations about this run alone.

    :raises EascopeError: when the scenario made no progress, or its events took too long.
    """
    check_gets_on(source)
    check_events(source)
    check_interrupts(source)
    values = {measure.name: _value(measure, source) for measure in MEASURES}
    measured = {name: value for name, value in values.items() if value is not None}
    own = {entry.name for entry in fields(Result)}
    power = source.power
    result = Result(
        engine=source.cell.engine,
        power_model=PowerModelRecord(power.name, power.summary, tuple(power.notes)),
        window_s=source.window.seconds,
        expect=(),
        **{name: value for name, value in measured.items() if name in own},
        more={name: value for name, value in measured.items() if name not in own},
    )
    result = with_work(source.cell, result)
    return replace(result, expect=met_by_run(source.cell, result))


def _value(measure: Measure, source: RunData) -> Any:  # noqa: ANN401 - of any type
    """A measure of a run; one that no power changes is computed once."""
    if measure.billed:
        return measure.function(source)
    if measure.name not in source.unbilled:
        source.unbilled[measure.name] = measure.function(source)
    return source.unbilled[measure.name]


def met_by_run(cell: CellRecord, result: Result) -> tuple[Judged, ...]:
    """``expect`` of one run: the statements that are about its own variant alone.

    For several runs, `analysis.verdicts` decides whether they show a statement.

    A statement that needs another variant, or a measure that the run cannot give, is absent.
    """
    own = cell.variant
    judged = []
    for expectation in cell.expect:
        statement = parse(expectation.statement)
        if expectation.variant != own or set(statement.variants) - {own}:
            continue
        try:
            sides, met = statement.evaluate(lambda path, _variant: value_at(result, path))
        except Absent:
            continue
        value = sides[0][0] if len(sides) == 1 else tuple(sides)
        judged.append(Judged(expectation.statement, value, met))
    return tuple(judged)


def with_work(cell: CellRecord, result: Result) -> Result:
    """``result`` with its work and the energy of a unit of it, both absent if there was no work."""
    done = work_done(cell, result)
    per_work = result.energy_j.total / done if done else None
    by_task = work_by_task_s(cell, result)
    return replace(result, work=done, energy_per_work_j=per_work, task_work_s=by_task)


def work_by_task_s(cell: CellRecord, result: Result) -> dict[str, float]:
    """The busy loop's work of each task in the window, in s of the largest CPU at its top OPP."""
    threads = {task.name: len(task.threads) for task in cell.tasks}
    return {
        task: result.window_s * speed * threads[task]
        for task, speed in result.speed.items()
        if task in threads
    }


def _operations(program: ProgramRecord, result: Result) -> float:
    """The operations that a program reports, or else its asked count; loads do no work."""
    if program.role != "measured":
        return 0
    return result.program.get(program.name, {}).get(OPERATIONS, program.count)


def work_done(cell: CellRecord, result: Result) -> float:
    """Work of all tasks in the window, in the scenario's unit.

    The busy loop's is in seconds of the largest CPU at its top OPP.
    """
    kind, _, name = cell.work.counted.partition(".")
    if kind == TURNS:
        return result.turns[name]
    if kind == WAKE_UPS:
        return result.wakeups[name]
    if kind == PROGRAMS:
        return sum(_operations(program, result) for program in cell.programs)
    if kind != BUSY_LOOP:
        raise ValueError(f"{kind}: no way to count work")
    return sum(work_by_task_s(cell, result).values())


#: Bits of ``prev_state`` of a thread that has ended.
_DEAD = 0x30


def check_gets_on(source: RunData) -> None:
    """Refuse a run in which nothing of the scenario ran, or a task waited through the window.

    A task that gets no CPU is no fault: its missed deadlines are a result.

    :raises EascopeError: one line that names the tasks.
    """
    tasks = source.cell.tasks
    ran = set(source.slices["thread"].to_list())
    if tasks and not source.cell.programs and not ran & {*source.threads}:
        raise EascopeError(
            f"{source.run}: no task of {source.cell.scenario} ran in the window: "
            f"{', '.join(task.name for task in tasks)}"
        )
    waiting = [
        task.name
        for task in tasks
        # It waits for others, and its rests are shorter than the window.
        if (task.waits and 1000 * task.rest_us < source.window.ns)
        and any(_asleep(source, name, ran) for name in task.threads)
    ]
    if waiting:
        raise EascopeError(
            f"{source.run}: {', '.join(waiting)} waited through the whole window for another task: "
            f"{source.cell.scenario} makes no progress"
        )


def _asleep(source: RunData, thread: str, ran: set[str]) -> bool:
    """True if a living thread slept through the whole window, and no thread woke it."""
    if thread in ran:
        return False
    end = pl.col("t_ns") + source.window.offset_ns <= source.window.t1_ns
    left = source.trace.table("sched_switch").filter((pl.col("prev_comm") == thread) & end)
    if not left.height:
        return False
    last = left.row(left.height - 1, named=True)
    woken = source.trace.table("sched_waking").filter(
        (pl.col("comm") == thread) & end & (pl.col("t_ns") > last["t_ns"])
    )
    sleeps = last["prev_state"] & 0xFF
    return bool(sleeps and not sleeps & _DEAD and not woken.height)
