# SPDX-License-Identifier: GPL-2.0-or-later
"""From snapshots of gem5's statistics to rows: one per CPU and interval between OPP changes.

A snapshot is taken of a cluster when its OPP changes, and of all clusters at the window's edges and
at marks. Snapshots between which a cluster's clock stayed the same are joined, so that its rows
break at its own changes alone.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path

from eascope.engines.gem5.inside.columns import (
    FIXED,
    FORMULAS,
    POWER_STATES,
    Columns,
    Term,
)
from eascope.engines.gem5.inside.request import (
    ROWS_BIN,
    ROWS_JSON,
    SCHEMA,
    Gem5ClusterSettings,
    RowNumbers,
    RowsFacts,
    RowsRecord,
)

#: Readings of a CPU before those of its events: cycles (-1 where the model has none that can be
#: believed), instructions, and ticks in each power state.
CPU_HEAD = ("cycles", "instructions", *POWER_STATES)
#: gem5's tick is a picosecond.
TICKS_PER_NS = 1000


@dataclass(frozen=True)
class Reading:
    """What of one object is read: (statistic, parts to sum up or none); columns weigh these."""

    names: tuple[tuple[str, tuple[str, ...]], ...]
    columns: tuple[tuple[str, tuple[tuple[int, float], ...]], ...]


def reading(columns: Columns) -> Reading:
    """Each statistic once, and columns as weights of them.

    Statistics of one kind stand side by side: scalars, the vectors of caches, parts of vectors.

    Formulas of caches are taken apart (`FORMULAS`).
    """
    columns = {
        column: tuple(
            Term(stat, term.parts, term.factor)
            for term in terms
            for stat in FORMULAS.get(term.stat, (term.stat,))
        )
        for column, terms in columns.items()
    }
    terms = [term for sums in columns.values() for term in sums]
    names = list(dict.fromkeys((term.stat, term.parts) for term in terms))
    names.sort(key=lambda name: (name[1] != (), name[0].endswith((".hits", ".misses"))))
    numbers = {name: number for number, name in enumerate(names)}
    weights = tuple(
        (column, tuple((numbers[term.stat, term.parts], term.factor) for term in sums))
        for column, sums in columns.items()
    )
    return Reading(tuple(names), weights)


@dataclass(frozen=True)
class ClusterLayout:
    """A cluster's snapshot: tick, period of its clock until then, its CPUs' readings, its L2's.

    ``opps`` are (period in ps, kHz, uV): the clock in force is known by its period.
    """

    index: int
    name: str
    cpus: tuple[int, ...]
    opps: tuple[tuple[int, int, int], ...]
    cpu: Reading
    shared: Reading

    @property
    def cpu_width(self) -> int:
        """Numbers of one CPU in a snapshot."""
        return len(CPU_HEAD) + len(self.cpu.names)

    @property
    def width(self) -> int:
        """Numbers of the cluster's snapshot."""
        return 2 + len(self.cpus) * self.cpu_width + len(self.shared.names)


def cluster_layout(settings: Gem5ClusterSettings, cpu: Reading, shared: Reading) -> ClusterLayout:
    """The layout of a cluster as `engines.gem5.settings` describes it."""
    opps = tuple(
        (round(1e12 / hertz), hertz // 1000, round(volts * 1e6))
        for hertz, volts in zip(settings["clocks_hz"], settings["volts"], strict=True)
    )
    if len({period for period, _, _ in opps}) != len(opps):
        raise ValueError(f"cluster {settings['name']}: two OPPs have one period in picoseconds")
    return ClusterLayout(
        index=settings["index"],
        name=settings["name"],
        cpus=tuple(settings["cpus"]),
        opps=opps,
        cpu=cpu,
        shared=shared,
    )


@dataclass
class Recorder:
    """Snapshots of one window, by cluster.

    :param parts: numbers of the rows that are no CPU's.
    """

    clusters: Sequence[ClusterLayout]
    events: Sequence[str]
    parts: RowNumbers
    _shots: list[list[Sequence[float]]] = field(init=False)

    def __post_init__(self) -> None:
        """Begin without snapshots."""
        self._shots = [[] for _ in self.clusters]

    def append(self, cluster: int, snapshot: Sequence[float]) -> None:
        """Add a snapshot of a cluster.

        It is kept as it is, 6 KB for four Minor CPUs: to pack it here, between two instructions of
        a machine that has just driven Python out of the caches, takes three times as long as later.
        """
        self._shots[cluster].append(snapshot)

    def count(self, cluster: int) -> int:
        """Snapshots of a cluster so far."""
        return len(self._shots[cluster])

    def numbers(self, cluster: int) -> array[float]:
        """All snapshots of a cluster, one after the other."""
        return array("d", chain.from_iterable(self._shots[cluster]))

    @property
    def columns(self) -> list[str]:
        """Names of a row's columns."""
        return [*FIXED, *self.events]

    def rows(self, join: bool = True) -> tuple[list[list[float]], dict[str, int]]:
        """All rows by cluster, CPU and time, and each cluster's completed OPP changes.

        :param join: one row from one change of the cluster's OPP to the next; else one row between
            any two snapshots.
        """
        rows: list[list[float]] = []
        changes = {}
        for number, cluster in enumerate(self.clusters):
            data = self.numbers(number)
            edges = _edges(data, cluster.width)
            changes[cluster.name] = len(edges) - 2 if len(edges) > 1 else 0
            edges = edges if join else list(range(self.count(number)))
            rows += self._cluster_rows(cluster, data, edges)
        return rows, changes

    def memory_row(self, picojoules: float) -> list[float]:
        """The memory's row, of the whole window."""
        data = self.numbers(0)
        first, last = data[0], data[-self.clusters[0].width]
        row = dict.fromkeys(self.columns, 0.0)
        row |= {"cluster": float(self.parts["no_cluster"]), "cpu": float(self.parts["memory_part"])}
        row["dram_pj"] = picojoules
        row |= {"t0_ns": first / TICKS_PER_NS, "t1_ns": last / TICKS_PER_NS}
        return [row[name] for name in self.columns]

    def _cluster_rows(
        self, cluster: ClusterLayout, data: Sequence[float], edges: Sequence[int]
    ) -> list[list[float]]:
        rows, shared = [], self.parts["shared_part"]
        for place, cpu in enumerate([*cluster.cpus, shared]):
            start = 2 + place * cluster.cpu_width
            for begin, end in pairwise(edges):
                a, b = begin * cluster.width, end * cluster.width
                if data[a] == data[b]:
                    continue
                row = dict.fromkeys(self.columns, 0.0)
                row |= {"cluster": float(cluster.index), "cpu": float(cpu)}
                row |= {"t0_ns": data[a] / TICKS_PER_NS, "t1_ns": data[b] / TICKS_PER_NS}
                khz, microvolts = self._opp(cluster, data[b + 1])
                row |= {"khz": khz, "uv": microvolts}
                if cpu == shared:
                    row |= _columns(data, cluster.shared, a + start, b + start)
                else:
                    row |= _head(data, a + start, b + start, khz)
                    first = start + len(CPU_HEAD)
                    row |= _columns(data, cluster.cpu, a + first, b + first)
                rows.append([row[name] for name in self.columns])
        return rows

    @staticmethod
    def _opp(cluster: ClusterLayout, period: float) -> tuple[float, float]:
        for known, khz, microvolts in cluster.opps:
            if known == period:
                return float(khz), float(microvolts)
        raise ValueError(f"cluster {cluster.name}: no OPP has a period of {period:g} ps")


def _edges(data: Sequence[float], width: int) -> list[int]:
    """Snapshots at which rows of a cluster begin and end.

    A snapshot has the clock that was in force until then.
    """
    count = len(data) // width
    edges = [0]
    for number in range(1, count):
        if number == count - 1 or data[(number + 1) * width + 1] != data[number * width + 1]:
            edges.append(number)
    return edges


def _head(data: Sequence[float], a: int, b: int, khz: float) -> dict[str, float]:
    """`CPU_HEAD` between the readings at ``a`` and at ``b``, as columns."""
    values = {name: data[b + number] - data[a + number] for number, name in enumerate(CPU_HEAD)}
    on_ns = (values["ON"] + values["UNDEFINED"]) / TICKS_PER_NS
    counted = data[b] >= 0
    return {
        "cycles": values["cycles"] if counted else on_ns * khz / 1e6,
        "instructions": values["instructions"],
        "on_ns": on_ns,
        "gated_ns": values["CLK_GATED"] / TICKS_PER_NS,
        "off_ns": (values["OFF"] + values["SRAM_RETENTION"]) / TICKS_PER_NS,
    }


def _columns(data: Sequence[float], what: Reading, a: int, b: int) -> dict[str, float]:
    """The columns of ``what`` between its readings at ``a`` and at ``b``."""
    return {
        column: sum(factor * (data[b + number] - data[a + number]) for number, factor in weights)
        for column, weights in what.columns
    }


def write_rows(
    folder: Path,
    columns: Sequence[str],
    rows: Sequence[Sequence[float]],
    facts: RowsFacts,
) -> None:
    """``rows.bin`` (float64, one row after the other) and ``rows.json`` (what they are)."""
    data = array("d")
    for row in rows:
        data.extend(row)
    with (folder / ROWS_BIN).open("wb") as stream:
        data.tofile(stream)
    record: RowsRecord = {
        "schema": SCHEMA,
        "columns": list(columns),
        "rows": len(rows),
        "marks": facts["marks"],
        "transitions": facts["transitions"],
        "instructions": facts["instructions"],
    }
    (folder / ROWS_JSON).write_text(json.dumps(record, indent=1) + "\n")
