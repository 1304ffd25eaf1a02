# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures of CPUs and clusters: how busy, how fast, in which state."""

from __future__ import annotations

import polars as pl

from eascope.analysis.measures.registry import Lines, measure
from eascope.analysis.records.result import Busy, Pushes
from eascope.analysis.source import RunData
from eascope.analysis.tables import events, kernel_counters, shares
from eascope.configs.platform import Cluster
from eascope.engines.records import COUNTERS, SHARED_PART, STATE
from eascope.kernels.guest_files import ENERGY_AWARE


def _ns_by_khz(source: RunData, cluster: Cluster) -> dict[int, int]:
    """Time of the window at each OPP of a cluster."""
    rows = source.frequency.filter(pl.col("cluster") == cluster.index)
    spent = dict.fromkeys((opp.khz for opp in cluster.opps), 0)
    for khz, t0_ns, t1_ns in rows.select("khz", "t0_ns", "t1_ns").iter_rows():
        spent[khz] += t1_ns - t0_ns
    return spent


@measure(
    keys="<cluster>",
    unit="MHz",
    files=(COUNTERS,),
    lines=Lines("frequency", "{name} mean"),
)
def mean_mhz(source: RunData) -> dict[str, float]:
    """Mean frequency over the window, idle time included."""
    return {
        cluster.name: sum(khz * ns for khz, ns in _ns_by_khz(source, cluster).items())
        / source.window.ns
        / 1000
        for cluster in source.platform.clusters
    }


@measure(
    keys="<cluster>.<kHz>",
    unit="share of the window",
    files=(COUNTERS,),
    lines=Lines("frequency", "{name} at {mhz:g} MHz"),
)
def residency(source: RunData) -> dict[str, dict[str, float]]:
    """Time at each OPP, idle time included."""
    return {
        cluster.name: {
            str(khz): ns / source.window.ns for khz, ns in _ns_by_khz(source, cluster).items()
        }
        for cluster in source.platform.clusters
    }


@measure(keys="<cluster>", unit="share of the window", files=(COUNTERS,))
def top_opp(source: RunData) -> dict[str, float]:
    """Time at the highest OPP."""
    return {
        cluster.name: _ns_by_khz(source, cluster)[cluster.max_khz] / source.window.ns
        for cluster in source.platform.clusters
    }


@measure(
    keys="<cluster>",
    unit="1/s",
    files=(COUNTERS,),
    lines=Lines("frequency", "{name} transitions"),
)
def opp_transitions_per_s(source: RunData) -> dict[str, float]:
    """Completed changes of the OPP."""
    return {
        cluster.name: (source.frequency.filter(pl.col("cluster") == cluster.index).height - 1)
        / source.window.seconds
        for cluster in source.platform.clusters
    }


@measure(keys="<cluster>", unit="1/s", events=("cpu_frequency",))
def opp_requests_per_s(source: RunData) -> dict[str, float]:
    """The kernel's requests for another OPP; not every request comes to a change."""
    requests = events.opp_requests(source.trace, source.window, source.platform)
    return {name: number / source.window.seconds for name, number in requests.items()}


def _per_cpu(source: RunData) -> pl.DataFrame:
    """By CPU its busy time, and the instructions of its work."""
    busy = pl.col("active_ns") + pl.col("exit_ns")
    # Playing an idle state's exit latency takes instructions too, but is no work.
    work = pl.col("instructions") * (pl.col("active_ns") / busy)
    return (
        source.intervals.filter(pl.col("cpu") != SHARED_PART)
        .group_by("cluster_name", "cpu", maintain_order=True)
        .agg(
            busy.sum().alias("busy_ns"),
            pl.when(busy > 0).then(work).otherwise(0.0).sum().alias("work"),
        )
        .sort("cpu")
    )


def _busy(source: RunData) -> list[float]:
    return [ns / source.window.ns for ns in _per_cpu(source)["busy_ns"].to_list()]


@measure(
    keys="<cluster>",
    unit="share of all work",
    files=(COUNTERS,),
    lines=Lines("placement", "work on {name}"),
)
def work_share(source: RunData) -> dict[str, float]:
    """Instructions that the cluster's CPUs executed, without those of exits from idle states."""
    per_cpu = _per_cpu(source)
    done = float(per_cpu["work"].sum())
    return {
        cluster.name: float(per_cpu.filter(pl.col("cluster_name") == cluster.name)["work"].sum())
        / done
        for cluster in source.platform.clusters
        if done
    }


@measure(
    keys="<cpu>",
    unit="share of the window",
    files=(COUNTERS,),
    lines=Lines("placement", "cpu {name} busy ({cluster})"),
)
def cpu_busy(source: RunData) -> tuple[float, ...]:
    """Time that a CPU was not idle, exits from idle states included."""
    return tuple(_busy(source))


@measure(keys="<cluster>.min, .max", unit="share of the window", files=(COUNTERS,))
def cluster_busy(source: RunData) -> dict[str, Busy]:
    """Busy time of the least and of the most busy CPU of a cluster."""
    return shares.cluster_busy(_busy(source), source.platform)


@measure(events=("sched_migrate_task",), lines=Lines("placement", "migrations", digits=0))
def migrations(source: RunData) -> float:
    """Moves of the scenario's threads from one CPU to another."""
    return sum(source.migrations.values())


@measure(
    unit="share of the window",
    events=("lisa__sched_overutilized",),
    lines=Lines("placement", "overutilized"),
)
def overutilized_share(source: RunData) -> float | None:
    """Time in which the root domain was overutilized; absent where the state is not known."""
    return events.overutilized_share(source.trace, source.window)


@measure(
    keys="checked, moved",
    unit="1/s",
    files=(STATE,),
    lines=Lines("placement", "pushed", ("moved",), digits=2),
)
def pushes_per_s(source: RunData) -> Pushes | None:
    """The kernel's looks at tasks to push, and tasks pushed; absent where it cannot push."""
    path = source.run / STATE
    text = path.read_text(errors="replace") if path.is_file() else ""
    return kernel_counters.pushes(text, source.window.seconds)


@measure(range_=(0.0, 1.0), files=(STATE,))
def eas(source: RunData) -> bool | None:
    """Whether energy-aware scheduling was on, as the guest read it back."""
    path = source.run / STATE
    if not path.is_file():
        return None
    for line in path.read_text(errors="replace").splitlines():
        name, _, value = line.partition(": ")
        if name == ENERGY_AWARE and value.strip() in ("0", "1", ""):  # empty: it refuses EAS
            return value.strip() == "1"
    return None
