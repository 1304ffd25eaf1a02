# SPDX-License-Identifier: GPL-2.0-or-later
"""Idle CPUs from the trace: entries into idle states, and sleep of the whole chip.

The kernel's ``cpu_idle`` events have the entry of each state. An engine counts the time in a state
from this event on. So the entry is the first part of that time, with the length that the platform
states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from eascope.analysis.tables.counters import idle_columns
from eascope.analysis.tables.split import Stretch, both, within
from eascope.analysis.trace import ENDS, Trace
from eascope.analysis.window import Window
from eascope.configs.platform import Platform
from eascope.power.model import SHARED_PART


@dataclass(frozen=True)
class ChipTimes:
    """Times in ns for which the chip's shared part was on and off in the window."""

    t0_ns: int
    t1_ns: int
    off_ns: int

    @property
    def on_ns(self) -> int:
        """Time in which any CPU was not in its cluster's sleep."""
        return self.t1_ns - self.t0_ns - self.off_ns


def with_entries(
    table: pl.DataFrame,
    stretches: Mapping[int, Sequence[Stretch]],
    platform: Platform,
    window: Window,
) -> pl.DataFrame:
    """``intervals`` with ``entry0_ns, ..``: the part of each ``idle0_ns, ..`` that was the entry.

    A stay that is shorter than the state's entry latency was all entry. WFI has no entry of its
    own. A state that was entered before the window has no entry in it.
    """
    states = len(idle_columns(table))
    parts = []
    for (index, cpu), part in table.group_by("cluster", "cpu", maintain_order=True):
        begin, end = part["t0_ns"].to_numpy(), part["t1_ns"].to_numpy()
        idle_states = platform.clusters[int(index)].idle_states
        columns = []
        for number in range(states):
            ways: list[tuple[int, int]] = []
            if cpu != SHARED_PART and 0 < number < len(idle_states):
                ways = _ways(stretches[int(cpu)], number, idle_states[number].entry_us, window)
            columns.append(pl.Series(f"entry{number}_ns", within(ways, begin, end)))
        parts.append(part.with_columns(columns))
    # The counters' idle time begins some instructions after the event.
    clipped = [
        pl.min_horizontal(f"entry{number}_ns", f"idle{number}_ns").alias(f"entry{number}_ns")
        for number in range(states)
    ]
    return pl.concat(parts).with_columns(clipped)


def _ways(
    stretches: Sequence[Stretch], state: int, entry_us: int, window: Window
) -> list[tuple[int, int]]:
    return [
        (stretch.t0_ns, min(stretch.t1_ns, stretch.t0_ns + entry_us * 1000))
        for stretch in stretches
        if stretch.state == state and stretch.t0_ns > window.t0_ns
    ]


def chip_times(
    stretches: Mapping[int, Sequence[Stretch]], platform: Platform, window: Window
) -> ChipTimes:
    """The chip's times; its shared part is off while every CPU is in its cluster's sleep."""
    common: list[tuple[int, int]] | None = None
    for cluster in platform.clusters:
        for cpu in cluster.cpus:
            deep = [
                (stretch.t0_ns, stretch.t1_ns)
                for stretch in stretches[cpu]
                if stretch.state == cluster.cluster_sleep
            ]
            common = deep if common is None else both(common, deep)
    off_ns = sum(end - begin for begin, end in common or [])
    return ChipTimes(window.t0_ns, window.t1_ns, off_ns)


def stays(trace: Trace, platform: Platform, window: Window) -> pl.DataFrame:
    """Stays of CPUs in idle states that ended within the window, or went on at its end.

    ``ns`` is the part within the window, and ``ended`` whether it ended in it. Of those that did,
    ``length_ns`` is from entry to exit, and ``too_deep``, ``too_shallow`` are as the kernel's
    ``cpuidle_enter_state()`` counts ``above`` and ``below``, with all states enabled. A stay that
    is shorter than the state's entry was ``interrupted`` on its way.
    """
    clusters = [platform.cluster_of(cpu) for cpu in platform.cpus]
    states = pl.DataFrame(
        [
            (
                *(cpu, cluster.name, number, state.entry_us, state.entry_us + state.exit_us),
                *(state.residency_us, deeper[0].residency_us if deeper else None),
            )
            for cpu, cluster in zip(platform.cpus, clusters, strict=True)
            for number, state in enumerate(cluster.idle_states)
            for deeper in [cluster.idle_states[number + 1 :]]
        ],
        orient="row",
        schema=dict.fromkeys(("cpu_id",), pl.Int64)
        | {"cluster": pl.String}
        | dict.fromkeys(("state", "entry_us", "way_us", "residency_us", "deeper_us"), pl.Int64),
    )
    begin, end = window.t0_ns - window.offset_ns, window.t1_ns - window.offset_ns
    of_cpu = pl.col("t_ns").shift(-1).over("cpu_id")
    length_us, first = pl.col("length_ns") / 1000, pl.col("state") == 0
    return (
        trace.table("cpu_idle")
        .with_columns(until=of_cpu.fill_null(end + 1))
        .filter((pl.col("state") != ENDS) & (pl.col("until") > begin) & (pl.col("t_ns") < end))
        .join(states, on=["cpu_id", "state"], how="left", maintain_order="left")
        .with_columns(
            length_ns=pl.col("until") - pl.col("t_ns"),
            ns=pl.min_horizontal("until", pl.lit(end)) - pl.max_horizontal("t_ns", pl.lit(begin)),
            ended=pl.col("until") <= end,
        )
        .with_columns(
            too_deep=~first & (length_us < pl.col("residency_us")),
            too_shallow=(length_us >= pl.col("residency_us"))
            # WFI is the driver's own: it takes its exit for the whole way.
            & (
                length_us - pl.when(first).then(1).otherwise(pl.col("way_us"))
                >= pl.col("deeper_us")
            ),
            interrupted=~first & (length_us < pl.col("entry_us")),
        )
        .select(
            *("cluster", pl.col("cpu_id").alias("cpu"), "state", "t_ns", "ns", "length_ns"),
            *("ended", pl.col("too_deep", "too_shallow", "interrupted").fill_null(False)),
        )
    )
