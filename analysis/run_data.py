# SPDX-License-Identifier: GPL-2.0-or-later
"""A run as measures read it: its cell, its trace, and tables that are made on demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from eascope.analysis.energy import Covered, covered, energy
from eascope.analysis.programs import Output, outputs
from eascope.analysis.records.cell import CellRecord
from eascope.analysis.records.result import Deadlines
from eascope.analysis.tables import counters, events, idle_waits, latency, markers, slices
from eascope.analysis.tables.beside import cut
from eascope.analysis.tables.idle import ChipTimes, chip_times, stays
from eascope.analysis.tables.split import Stretch, split, stretches, within
from eascope.analysis.tables.task_energy import task_energy
from eascope.analysis.tables.tasks import thread_names
from eascope.analysis.trace import Trace
from eascope.analysis.window import Window
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.engines.records import COUNTERS, STATE
from eascope.engines.timing.mixture import mixture
from eascope.power.model import SHARED_PART, PowerModel


@dataclass(frozen=True)
class RunData:
    """A run that is being derived.

    :param unbilled: values of measures that no power changes, by name.
    """

    run: Path
    cell: CellRecord
    platform: Platform
    activity: Activity
    power: PowerModel
    window: Window
    trace: Trace
    unbilled: dict[str, Any] = field(default_factory=dict)

    def billed_by(self, power: PowerModel) -> RunData:
        """The same run by another model; what was made of it and no power changes is kept."""
        other = replace(self, power=power)
        billed = ("power", "energy", "tasks")
        vars(other).update({name: of for name, of in vars(self).items() if name not in billed})
        return other

    @property
    def state(self) -> str:
        """What the agent reported of the guest; empty where it is not there."""
        path = self.run / STATE
        return path.read_text(errors="replace") if path.is_file() else ""

    @cached_property
    def threads(self) -> dict[str, str]:
        """``{thread: task}`` of the scenario."""
        return thread_names(self.cell.tasks)

    @cached_property
    def intervals(self) -> pl.DataFrame:
        """See `analysis.tables.counters.intervals`."""
        table = counters.intervals(
            self.run / COUNTERS,
            self.platform,
            self.window,
            lambda rows: split(rows, self.trace, self.platform, self.window),
        )
        if self.cell.engine_traits.counts_elided or not self.cell.elide:
            return table
        executed = {program.name for program in self.cell.programs}
        elided = {
            thread: task.memory
            for task in self.cell.tasks
            for thread in task.threads
            if task.name not in executed
        }
        elided |= dict.fromkeys(self.cell.replicate.others, 0.0)
        return with_elided(table, self.worked, self.platform, self.activity, elided)

    @cached_property
    def stretches(self) -> dict[int, list[Stretch]]:
        """See `analysis.tables.split.stretches`."""
        return stretches(self.trace, self.platform, self.window)

    @cached_property
    def chip(self) -> ChipTimes | None:
        """See `analysis.tables.idle.chip_times`; None where no part serves the whole chip."""
        if self.platform.shared is None:
            return None
        return chip_times(self.stretches, self.platform, self.window)

    @cached_property
    def stays(self) -> pl.DataFrame:
        """See `analysis.tables.idle.stays`; none where idle CPUs poll, which is traced as WFI."""
        found = stays(self.trace, self.platform, self.window)
        return found.clear() if self.polls else found

    @property
    def polls(self) -> bool:
        """True if idle CPUs of this kernel poll."""
        return "nohlt" in self.cell.settings.cmdline.split()

    @cached_property
    def slices(self) -> pl.DataFrame:
        """See `analysis.tables.slices.slices`."""
        return slices.slices(self.trace, self.window, self.threads, len(self.platform.cpus))

    @cached_property
    def worked(self) -> pl.DataFrame:
        """`slices` without the hard interrupts within them, where the scenario has loads of these.

        Their events are recorded there.
        """
        if not self.cell.interrupts:
            return self.slices
        return slices.outside(self.slices, slices.interrupts(self.trace, self.window))

    @cached_property
    def placement(self) -> pl.DataFrame:
        """See `analysis.tables.slices.placement`."""
        return slices.placement(self.slices, self.platform)

    @cached_property
    def frequency(self) -> pl.DataFrame:
        """See `analysis.tables.counters.frequency`."""
        return counters.frequency(self.intervals)

    @cached_property
    def energy(self) -> pl.DataFrame:
        """See `analysis.energy.energy`."""
        rows, keys = cut(self.intervals, self.stretches, self.platform, self.power)
        return energy(rows, self.platform, self.power, self.chip, keys)

    @cached_property
    def latency(self) -> pl.DataFrame:
        """See `analysis.tables.latency.latency`."""
        return latency.latency(self.trace, self.window, self.threads)

    @cached_property
    def migrations(self) -> dict[str, int]:
        """See `analysis.tables.events.migrations`."""
        return events.migrations(self.trace, self.window, self.threads)

    @cached_property
    def covered(self) -> list[Covered]:
        """See `analysis.energy.covered`."""
        return covered(self.intervals, self.worked)

    @cached_property
    def tasks(self) -> pl.DataFrame:
        """See `analysis.tables.task_energy.task_energy`."""
        return task_energy(
            ran=self.covered,
            slices=self.worked,
            energy=self.energy,
            latency=self.latency,
            migrations=self.migrations,
        )

    @cached_property
    def marks(self) -> pl.DataFrame:
        """See `analysis.tables.markers.marks_of`."""
        return markers.marks_of(self.trace, self.window, self.cell.tasks)

    @property
    def jobs(self) -> pl.DataFrame:
        """See `analysis.tables.markers.markers`."""
        return markers.markers(self.marks, self.window)

    @cached_property
    def outputs(self) -> dict[str, Output]:
        """See `analysis.programs.outputs`."""
        return outputs(self.run, self.cell.programs)

    @cached_property
    def deadlines(self) -> dict[str, Deadlines]:
        """See `analysis.tables.markers.deadlines`."""
        return markers.deadlines(self.marks, self.ended, self.window, self.cell.tasks)

    @cached_property
    def idle_waits(self) -> dict[str, list[tuple[int, int]]]:
        """See `analysis.tables.idle_waits.idle_waits`; none where idle CPUs poll."""
        if self.polls:
            return {}
        return idle_waits.idle_waits(self.trace, self.window, self.threads, self.stretches)

    @cached_property
    def ended(self) -> dict[str, int]:
        """See `analysis.tables.markers.ends`."""
        return markers.ends(self.trace, self.window, self.cell.tasks)


def with_elided(
    intervals: pl.DataFrame,
    slices: pl.DataFrame,
    platform: Platform,
    activity: Activity,
    threads: Mapping[str, float],
) -> pl.DataFrame:
    """``intervals`` with the jobs' instructions in ``instructions``, as the fast engine counts.

    While one of ``threads`` ran, its jobs took the busy loop's instructions per cycle at the
    interval's clock; where it waits for memory, those of its mixture. Instructions that it executed
    in system calls are some per mille of these, and are counted twice.

    :param threads: names and their shares of memory.
    """
    mixtures = {memory: mixture(platform, activity, memory) for memory in {*threads.values()}}
    parts = []
    for (index, cpu), rows in intervals.group_by("cluster", "cpu", maintain_order=True):
        part = rows
        if cpu != SHARED_PART:
            cluster, own = platform.clusters[index], slices.filter(pl.col("cpu") == cpu)
            for memory, mixed in mixtures.items():
                alike = [thread for thread, share in threads.items() if share == memory]
                ns = within(
                    own.filter(pl.col("thread").is_in(alike))
                    .sort("t0_ns")
                    .select("t0_ns", "t1_ns")
                    .rows(),
                    part["t0_ns"].to_numpy(),
                    part["t1_ns"].to_numpy(),
                )
                khz = part["khz"].to_numpy()
                if memory:
                    per_ns = np.array(
                        [mixed.instructions / mixed.iteration_ns(cluster, f) for f in khz]
                    )
                else:
                    per_ns = khz * (activity.ipc(cluster) / 1e6)
                elided = np.rint(ns * per_ns).astype(np.int64)
                part = part.with_columns(pl.col("instructions") + pl.Series(elided))
        parts.append(part)
    return pl.concat(parts)
