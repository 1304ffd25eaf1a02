# SPDX-License-Identifier: GPL-2.0-or-later
"""Idle CPUs from the trace: stays in idle states, and sleep of the whole chip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from eascope.analysis.tables.split import Stretch, both
from eascope.analysis.trace import ENDS, Trace
from eascope.analysis.window import Window
from eascope.configs.platform import Platform

#: What the kernel's own instructions around a state take at most, in us.
KERNEL_US = 5


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
    ``cpuidle_enter_state()`` counts ``above`` and ``below``, with all states enabled. A stay with
    no time between the way in and the way out was ``interrupted``: the wake-up came on the way in.
    """
    clusters = [platform.cluster_of(cpu) for cpu in platform.cpus]
    states = pl.DataFrame(
        [
            (
                *(cpu, cluster.name, number, state.takes.entry_us + state.takes.exit_us),
                state.entry_us + state.exit_us,
                *(state.residency_us, deeper[0].residency_us if deeper else None),
            )
            for cpu, cluster in zip(platform.cpus, clusters, strict=True)
            for number, state in enumerate(cluster.idle_states)
            for deeper in [cluster.idle_states[number + 1 :]]
        ],
        orient="row",
        schema=dict.fromkeys(("cpu_id",), pl.Int64)
        | {"cluster": pl.String}
        | dict.fromkeys(("state", "taken_us", "way_us", "residency_us", "deeper_us"), pl.Int64),
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
            interrupted=~first & (length_us < pl.col("taken_us") + KERNEL_US),
        )
        .select(
            *("cluster", pl.col("cpu_id").alias("cpu"), "state", "t_ns", "ns", "length_ns"),
            *("ended", pl.col("too_deep", "too_shallow", "interrupted").fill_null(False)),
        )
    )
