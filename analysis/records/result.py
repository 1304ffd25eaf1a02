# SPDX-License-Identifier: GPL-2.0-or-later
"""``result.json``: the measures of a run. A measure that a run cannot give is absent, never zero.

Counts are whole numbers in a run's result. A mean over seeds has the same shape, and its counts may
be fractions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from eascope.host.record import REST, Record

RESULT = "result.json"
#: By cluster, by task or by whatever else a measure goes by.
Table = Mapping[str, float]
Tables = Mapping[str, Table]


@dataclass(frozen=True)
class Energy(Record):
    """Joules of the window; every partition sums to the total.

    :param task: by task, with further rows for the remaining energy.
    :param group: the same by group, where any task is in one.
    :param stack: by part of the energy stack, where the power model separates parts.
    """

    total: float
    cluster: Table
    component: Table
    cluster_component: Tables
    task: Table
    group: Table = field(default_factory=dict)
    stack: Table = field(default_factory=dict)
    cluster_stack: Tables = field(default_factory=dict)


@dataclass(frozen=True)
class Percentiles(Record):
    """Percentiles by nearest rank, in us."""

    p50: float
    p90: float
    p95: float
    p99: float
    max: float


@dataclass(frozen=True)
class Busy(Record):
    """Share of the window in which a cluster's least and most busy CPU was busy."""

    min: float
    max: float


@dataclass(frozen=True)
class IdleChoice(Record):
    """Shares of a cluster's stays in idle states: see `analysis.tables.idle.stays`."""

    too_deep: float
    too_shallow: float
    interrupted: float


@dataclass(frozen=True)
class Deadlines(Record):
    """Deadlines of a task within the window.

    :param missed: how many of them did not end in time.
    :param late: those that ended later.
    :param unfinished: those that did not end at all.
    """

    jobs: float
    missed: float
    late: float = 0
    unfinished: float = 0


@dataclass(frozen=True)
class Pushes(Record):
    """Work of the push mechanism in the window, per second.

    :param checked: looks at a task that waits or runs alone.
    :param moved: tasks that went to another CPU: those that waited, and those that ran alone at a
        tick.
    """

    checked: float
    moved: float
    waiting: float = 0.0
    at_ticks: float = 0.0


@dataclass(frozen=True)
class Interrupts(Record):
    """A load of interrupts: how often its handler ran, and how many periods passed without it."""

    count: float
    missed: float


@dataclass(frozen=True)
class Frames(Record):
    """Frames of the window.

    :param drawn: those whose last job ended in it.
    :param late: of these, those that ended after they were due.
    :param skipped: those that were due in it, and had not been drawn when it ended.
    """

    drawn: float
    late: float
    skipped: float


@dataclass(frozen=True)
class Completion(Record):
    """When the first and the last thread of a task had done all of its jobs, from START, in s."""

    first: float
    last: float


@dataclass(frozen=True)
class MemoryEnergy(Record):
    """Joules of the DRAM and of its controller, which are not part of the total."""

    dram: float
    controller: float


@dataclass(frozen=True)
class PowerModelRecord(Record):
    """The power model: its name, one line about it, notes for readers."""

    name: str
    summary: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Judged(Record):
    """An expectation against one run: the value of its left side, or both sides of each part.

    :param met: whether it is true of this run; only several runs can show it.
    """

    statement: str
    value: float | tuple[tuple[float, float], ...]
    met: bool


@dataclass(frozen=True)
class Result(Record):
    """``result.json``; `analysis.measures` says what each measure is and what it needs.

    :param more: measures without a field, which only measures read by name need.
    """

    engine: str
    power_model: PowerModelRecord
    window_s: float
    energy_j: Energy
    residency: Tables
    opp_transitions_per_s: Table
    opp_requests_per_s: Table
    mean_mhz: Table
    top_opp: Table
    cpu_busy: tuple[float, ...]
    cluster_busy: Mapping[str, Busy]
    work_share: Table
    speed: Table
    run_share: Tables
    cpu_share: Mapping[str, tuple[float, ...]]
    latency_us: Mapping[str, Percentiles]
    wakeups: Table
    migrations: float
    expect: tuple[Judged, ...]
    activation_us: Mapping[str, Percentiles] = field(default_factory=dict)
    lateness_us: Mapping[str, Percentiles] = field(default_factory=dict)
    response_us: Mapping[str, Percentiles] = field(default_factory=dict)
    missed_deadlines: float | None = None
    deadlines: Mapping[str, Deadlines] = field(default_factory=dict)
    turns: Table = field(default_factory=dict)
    frames: Frames | None = None
    completion_s: Mapping[str, Completion] = field(default_factory=dict)
    completion_spread: Table = field(default_factory=dict)
    throughput: Table = field(default_factory=dict)
    fairness: float | None = None
    overutilized_share: float | None = None
    pushes_per_s: Pushes | None = None
    eas: bool | None = None
    memory_j: MemoryEnergy | None = None
    energy_per_work_j: float | None = None
    task_work_s: Table = field(default_factory=dict)
    work: float | None = None
    program: Tables = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict, metadata=REST)


def mean_result(results: Sequence[Result]) -> Result:
    """The mean of at least one result; values that only some have, or that differ, are left out.

    Several results have no common answer to an expectation, so their mean has none.
    """
    if len(results) == 1:
        return results[0]
    values = _mean([replace(result, expect=()).encode() for result in results])
    return Result.decode(values, "the mean of results")


def _mean(values: Sequence[Any]) -> Any:  # noqa: ANN401 - JSON
    """Element-wise mean of equally shaped JSON values; None where texts or truth values differ."""
    first = values[0]
    if isinstance(first, dict):
        common = [key for key in first if all(key in value for value in values)]
        means = {key: _mean([value[key] for value in values]) for key in common}
        return {key: mean for key, mean in means.items() if mean is not None}
    if isinstance(first, list):
        return [_mean(column) for column in zip(*values, strict=False)]
    if isinstance(first, bool | str):
        return first if all(value == first for value in values) else None
    return sum(values) / len(values)
