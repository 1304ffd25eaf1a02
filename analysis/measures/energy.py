# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures of energy: of the CPUs and clusters, and of the memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import polars as pl

from eascope.analysis.energy import active_shares, covered, joules
from eascope.analysis.measures.registry import Lines, measure
from eascope.analysis.records.cell import NO_GROUP, CellRecord
from eascope.analysis.records.result import Energy, MemoryEnergy
from eascope.analysis.run_data import RunData
from eascope.analysis.tables.slices import interrupts
from eascope.analysis.tables.tasks import OTHER, kind_of
from eascope.engines.records import COUNTERS, NO_CLUSTER
from eascope.power.memory import load_controller

#: Accesses that caches could not answer; their column is there on detailed cores only.
_MISSES = "L2.read_misses"
#: Cluster, component and part of it.
_Finest = Mapping[tuple[str, str, str], float]


@measure(
    keys="total, cluster.<cluster>, component.<component>, task.<task>, group.<group>, "
    "stack.<part>, cluster_component.<cluster>.<component>, cluster_stack.<cluster>.<part>",
    unit="J",
    events=("cpu_idle", "sched_migrate_task", "sched_switch", "sched_waking"),
    files=(COUNTERS,),
)
def energy_j(data: RunData) -> Energy:
    """Energy of the window; every partition sums to the total.

    ``stack`` is there if the power model separates parts.
    """
    finest = _finest(data)
    names = data.platform.energy_parts
    # Joules are multiples of a power of two: these sums are exact.
    detail: dict[str, dict[str, float]] = {name: {} for name in names}
    stack: dict[str, dict[str, float]] = {name: {} for name in names}
    for (cluster, component, part), value in finest.items():
        _add(detail[cluster], component, value)
        _add(stack[cluster], part, value)
    by_task = _by_task(data)
    separates = any(part != component for _, component, part in finest)
    return Energy(
        total=sum(finest.values()),
        cluster={name: sum(detail[name].values()) for name in names},
        component=_summed(detail.values()),
        cluster_component=detail,
        task=by_task,
        group=by_group(data.cell, by_task),
        stack=_summed(stack.values()) if separates else {},
        cluster_stack=stack if separates else {},
    )


@measure(keys="<cluster>", unit="W", events=("cpu_idle",), files=(COUNTERS,))
def power_w(data: RunData) -> dict[str, float]:
    """Mean power by cluster, as a meter on the cluster's rail shows it."""
    finest = _finest(data)
    return {
        name: sum(value for (of, *_), value in finest.items() if of == name) / data.window.seconds
        for name in data.platform.energy_parts
    }


def _finest(data: RunData) -> _Finest:
    """Joules by cluster, component and part."""
    keys = ("cluster_name", "component", "part")
    by_part = data.energy.group_by(*keys, maintain_order=True).agg(pl.col("energy_fj").sum())
    return joules([((row[0], row[1], row[2]), row[3]) for row in by_part.iter_rows()])


def _by_task(data: RunData) -> dict[str, float]:
    """Joules by task, with further rows for the remaining energy."""
    spent: dict[str, int] = {}
    for task, thread, energy_fj in data.tasks.select("task", "thread", "energy_fj").iter_rows():
        # Threads that are not the scenario's (kernel threads, the agent) are part of the rest.
        name = OTHER if thread is not None and task is None else task
        spent[name] = spent.get(name, 0) + energy_fj
    return joules(list(spent.items()))


def by_group(cell: CellRecord, of_tasks: Mapping[str, float]) -> dict[str, float]:
    """Values of tasks by the group in which these start; any other row of ``of_tasks`` stays.

    Empty where no task is in a group.
    """
    if not cell.groups:
        return {}
    group = {task.name: task.group or NO_GROUP for task in cell.tasks}
    by_group = dict.fromkeys(cell.groups, 0.0)
    for task, value in of_tasks.items():
        _add(by_group, group.get(task, task), value)
    return by_group


def _add(table: dict[str, float], key: str, value: float) -> None:
    table[key] = table.get(key, 0.0) + value


def _summed(tables: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Key by key the sum over several tables."""
    total: dict[str, float] = {}
    for table in tables:
        for key, value in table.items():
            _add(total, key, value)
    return total


def _by_kind(rows: pl.DataFrame, value: pl.Expr) -> dict[str, int]:
    """The sum of a value of each kind of thread that is no task's."""
    values: dict[str, int] = {}
    for thread, number in rows.select("thread", value).iter_rows():
        values[kind_of(thread)] = values.get(kind_of(thread), 0) + number
    return values


@measure(
    keys="<kind>",
    unit="J",
    events=("cpu_idle", "sched_migrate_task", "sched_switch", "sched_waking"),
    files=(COUNTERS,),
    lines=Lines("active energy of (other)", unit="mJ", digits=3),
)
def kernel_j(data: RunData) -> dict[str, float]:
    """Active energy that no task has, by kind: its sum is ``energy_j.task."(other)"``."""
    rows = data.tasks.filter(pl.col("task").is_null() | (pl.col("task") == OTHER))
    return joules(list(_by_kind(rows, pl.col("energy_fj")).items()))


@measure(
    keys="<kind>",
    unit="s",
    events=("sched_switch",),
    lines=Lines("running time of (other)", digits=4),
)
def kernel_run_s(data: RunData) -> dict[str, float]:
    """How long threads ran that are no task's, by kind."""
    rows = data.slices.filter(pl.col("task").is_null())
    ran = _by_kind(rows, pl.col("t1_ns") - pl.col("t0_ns"))
    return {kind: ns / 1e9 for kind, ns in ran.items()}


def _interrupt(name: str) -> str:
    """An interrupt's name as a key."""
    return re.sub(r"\W+", "_", name)


@measure(
    keys="<interrupt>",
    unit="s",
    events=("irq_handler_entry", "irq_handler_exit"),
    lines=Lines("hard interrupts", "time in {name}", digits=4),
)
def irq_s(data: RunData) -> dict[str, float]:
    """Time in hard interrupts by name, part of whoever they interrupt; with ``--events irq``."""
    rows = interrupts(data.trace, data.window).group_by("thread", maintain_order=True)
    spent = rows.agg((pl.col("t1_ns") - pl.col("t0_ns")).sum())
    return {_interrupt(name): ns / 1e9 for name, ns in spent.iter_rows()}


@measure(
    keys="<interrupt>",
    unit="J",
    events=("cpu_idle", "irq_handler_entry", "irq_handler_exit"),
    files=(COUNTERS,),
    lines=Lines("hard interrupts", "active energy of {name}", unit="mJ", digits=3),
)
def irq_j(data: RunData) -> dict[str, float]:
    """Active energy of hard interrupts by name, likewise."""
    rows = interrupts(data.trace, data.window)
    spent = dict(
        active_shares(covered(data.intervals, rows), data.energy)
        .group_by("pid")
        .agg(pl.col("energy_fj").sum())
        .iter_rows()
    )
    names = dict(rows.select("pid", "thread").unique().iter_rows())
    return joules([(_interrupt(name), spent[irq]) for irq, name in sorted(names.items())])


@measure(keys="dram, controller", unit="J", files=(COUNTERS,))
def memory_j(data: RunData) -> MemoryEnergy | None:
    """Energy of the DRAM and its controller, not in the total; gem5's detailed cores alone."""
    # Schedulers are compared by clusters: engines without a memory cannot give this.
    table = pl.read_parquet(data.run / COUNTERS)
    if "dram_pj" not in table.columns or _MISSES not in table.columns:
        return None
    rows = table.filter(pl.col("cluster") == NO_CLUSTER)
    if rows.is_empty():
        return None
    fetches = table.filter(pl.col("cluster") != NO_CLUSTER)[_MISSES].sum()
    controller = load_controller().joules(float(fetches), data.window.seconds)
    return MemoryEnergy(dram=float(rows["dram_pj"].sum()) * 1e-12, controller=controller)
