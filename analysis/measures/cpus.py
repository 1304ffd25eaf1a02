# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures of CPUs and clusters: how busy, how fast, in which state."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from eascope.analysis.measures.registry import Lines, measure
from eascope.analysis.records.result import Busy, IdleChoice
from eascope.analysis.run_data import RunData
from eascope.analysis.tables import events, markers, shares
from eascope.configs.platform import Cluster
from eascope.engines.records import COUNTERS, STATE
from eascope.kernels.switches import ENERGY_AWARE
from eascope.power.model import SHARED_PART

#: A CPU that is busy for less is vacated.
VACATED = 0.02
#: After so long, threads that begin with the window are where a scheduler wants them.
SETTLED_NS = 500_000_000


def _ns_by_khz(data: RunData, cluster: Cluster) -> dict[int, int]:
    """Time of the window at each OPP of a cluster."""
    rows = data.frequency.filter(pl.col("cluster") == cluster.index)
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
def mean_mhz(data: RunData) -> dict[str, float]:
    """Mean frequency over the window, idle time included."""
    return {
        cluster.name: sum(khz * ns for khz, ns in _ns_by_khz(data, cluster).items())
        / data.window.ns
        / 1000
        for cluster in data.platform.clusters
    }


@measure(
    keys="<cluster>.<kHz>",
    unit="share of the window",
    files=(COUNTERS,),
    lines=Lines("frequency", "{name} at {mhz:g} MHz"),
)
def residency(data: RunData) -> dict[str, dict[str, float]]:
    """Time at each OPP, idle time included."""
    return {
        cluster.name: {
            str(khz): ns / data.window.ns for khz, ns in _ns_by_khz(data, cluster).items()
        }
        for cluster in data.platform.clusters
    }


@measure(keys="<cluster>", unit="share of the window", files=(COUNTERS,))
def top_opp(data: RunData) -> dict[str, float]:
    """Time at the OPP of the full capacity, which is the fastest at boot, or at a faster one."""
    return {
        cluster.name: sum(
            ns for khz, ns in _ns_by_khz(data, cluster).items() if khz >= cluster.max_khz
        )
        / data.window.ns
        for cluster in data.platform.clusters
    }


@measure(
    keys="<cluster>",
    unit="1/s",
    files=(COUNTERS,),
    lines=Lines("frequency", "{name} transitions"),
)
def opp_transitions_per_s(data: RunData) -> dict[str, float]:
    """Completed changes of the OPP."""
    return {
        cluster.name: (data.frequency.filter(pl.col("cluster") == cluster.index).height - 1)
        / data.window.seconds
        for cluster in data.platform.clusters
    }


@measure(keys="<cluster>", unit="1/s", events=("cpu_frequency",))
def opp_requests_per_s(data: RunData) -> dict[str, float]:
    """The kernel's requests for another OPP; not every request comes to a change."""
    requests = events.opp_requests(data.trace, data.window, data.platform)
    return {name: number / data.window.seconds for name, number in requests.items()}


def per_cpu(data: RunData) -> pl.DataFrame:
    """By CPU its busy time, and the instructions of its work."""
    busy = pl.col("active_ns") + pl.col("exit_ns")
    # Playing an idle state's entry and exit takes instructions too, but is no work.
    work = pl.col("instructions") * (pl.col("active_ns") / (busy + pl.col("entry_ns")))
    return (
        data.intervals.filter(pl.col("cpu") != SHARED_PART)
        .group_by("cluster_name", "cpu", maintain_order=True)
        .agg(
            busy.sum().alias("busy_ns"),
            pl.when(busy > 0).then(work).otherwise(0.0).sum().alias("work"),
        )
        .sort("cpu")
    )


def _busy(data: RunData) -> list[float]:
    return [ns / data.window.ns for ns in per_cpu(data)["busy_ns"].to_list()]


@measure(
    keys="<cluster>",
    unit="share of all work",
    files=(COUNTERS,),
    lines=Lines("placement", "work on {name}"),
)
def work_share(data: RunData) -> dict[str, float]:
    """Instructions that the cluster's CPUs executed, without those of exits from idle states."""
    by_cpu = per_cpu(data)
    done = float(by_cpu["work"].sum())
    return {
        cluster.name: float(by_cpu.filter(pl.col("cluster_name") == cluster.name)["work"].sum())
        / done
        for cluster in data.platform.clusters
        if done
    }


@measure(
    keys="<cpu>",
    unit="share of the window",
    files=(COUNTERS,),
    lines=Lines("placement", "cpu {name} busy ({cluster})"),
)
def cpu_busy(data: RunData) -> tuple[float, ...]:
    """Time that a CPU was not idle, exits from idle states included."""
    return tuple(_busy(data))


@measure(
    keys="<cpu>",
    unit="share of the window",
    events=("print",),
    lines=Lines("placement", "cpu {name} offline"),
)
def offline(data: RunData) -> dict[str, float]:
    """Time that an event had taken a CPU offline; it counts as in its deepest idle state."""
    window, off = data.window, dict[str, int]()
    for cpu, since, until in data.trace.offline():
        begin = max(since + window.offset_ns, window.t0_ns)
        end = window.t1_ns if until is None else min(until + window.offset_ns, window.t1_ns)
        off[str(cpu)] = off.get(str(cpu), 0) + max(0, end - begin)
    return {cpu: ns / window.ns for cpu, ns in off.items()}


@measure(keys="<cluster>.min, .max", unit="share of the window", files=(COUNTERS,))
def cluster_busy(data: RunData) -> dict[str, Busy]:
    """Busy time of the least and of the most busy CPU of a cluster."""
    return shares.cluster_busy(_busy(data), data.platform)


def _of_stays(rows: pl.DataFrame, value: pl.Expr) -> dict[str, dict[str, float]]:
    """A value of each CPU's stays in each idle state that it was in."""
    table = rows.group_by("cpu", "state").agg(value.alias("value")).sort("cpu", "state")
    values: dict[str, dict[str, float]] = {}
    for cpu, state, number in table.iter_rows():
        values.setdefault(str(cpu), {})[str(state)] = number
    return values


def _ended(data: RunData) -> pl.DataFrame:
    """Stays that ended within the window."""
    return data.stays.filter(pl.col("ended"))


def _or_none(data: RunData, values: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """``values``, and 0 for a state that a CPU was not in; none where idle CPUs poll."""
    if data.polls:
        return {}
    return {
        str(cpu): {
            str(state): values.get(str(cpu), {}).get(str(state), 0.0)
            for state in range(len(cluster.idle_states))
        }
        for cluster in data.platform.clusters
        for cpu in cluster.cpus
    }


@measure(
    keys="<cpu>.<state>",
    unit="share of the window",
    events=("cpu_idle",),
    lines=Lines("idle", "cpu {name} in {state}"),
)
def idle_share(data: RunData) -> dict[str, dict[str, float]]:
    """Time of a CPU in an idle state, from its entry to the end of its exit; 0 is WFI."""
    return _or_none(data, _of_stays(data.stays, pl.col("ns").sum() / data.window.ns))


@measure(
    keys="<cpu>.<state>",
    unit="1/s",
    events=("cpu_idle",),
    lines=Lines("idle", "cpu {name} entries of {state}"),
)
def idle_entries_per_s(data: RunData) -> dict[str, dict[str, float]]:
    """Stays in an idle state that ended within the window."""
    return _or_none(data, _of_stays(_ended(data), pl.len() / data.window.seconds))


@measure(
    keys="<cpu>.<state>",
    unit="us",
    events=("cpu_idle",),
    lines=Lines("idle", "cpu {name} stay in {state}"),
)
def idle_stay_us(data: RunData) -> dict[str, dict[str, float]]:
    """Mean time from an idle state's entry to the end of its exit: to the next wake-up."""
    return _of_stays(_ended(data), pl.col("length_ns").mean() / 1000)


@measure(keys="<cpu>.<state>", unit="share of its stays", events=("cpu_idle",))
def idle_too_deep(data: RunData) -> dict[str, dict[str, float]]:
    """Stays that were shorter than the state's target residency (sysfs: above)."""
    return _of_stays(_ended(data), pl.col("too_deep").mean())


@measure(keys="<cpu>.<state>", unit="share of its stays", events=("cpu_idle",))
def idle_too_shallow(data: RunData) -> dict[str, dict[str, float]]:
    """Stays that were long enough for the next deeper state (sysfs: below)."""
    return _of_stays(_ended(data), pl.col("too_shallow").mean())


@measure(keys="<cpu>.<state>", unit="share of its stays", events=("cpu_idle",))
def idle_interrupted(data: RunData) -> dict[str, dict[str, float]]:
    """Stays that ended before the state had been entered."""
    return _of_stays(_ended(data), pl.col("interrupted").mean())


@measure(
    keys="<cluster>.too_deep, .too_shallow, .interrupted",
    unit="share of all stays",
    events=("cpu_idle",),
    lines=Lines("idle", "{name} stays {key}", ("too_deep", "too_shallow", "interrupted")),
)
def idle_choice(data: RunData) -> dict[str, IdleChoice]:
    """A cluster's stays in idle states that were too deep, too shallow, or ended on the way in."""
    kinds = ("too_deep", "too_shallow", "interrupted")
    rows = _ended(data).group_by("cluster", maintain_order=True)
    return {name: IdleChoice(*shares) for name, *shares in rows.agg(pl.col(kinds).mean()).rows()}


@measure(unit="share of the window", files=(COUNTERS,), lines=Lines("placement", "CPUs busy"))
def cpu_usage(data: RunData) -> float:
    """Busy time of all CPUs on average."""
    busy = _busy(data)
    return sum(busy) / len(busy)


@measure(files=(COUNTERS,), lines=Lines("placement", "CPUs vacated"))
def vacated(data: RunData) -> float:
    """CPUs that were busy for less than 2 % of the window."""
    return sum(busy < VACATED for busy in _busy(data))


@measure(
    keys="<cluster>",
    unit="share of the window",
    files=(COUNTERS,),
    lines=Lines("placement", "{name} off"),
)
def cluster_off(data: RunData) -> dict[str, float]:
    """Time that a cluster's shared part was off, as all of its CPUs were in its deepest sleep."""
    on = data.intervals.filter(pl.col("cpu") == SHARED_PART)
    on = on.group_by("cluster").agg(pl.col("active_ns").sum()).sort("cluster")
    return {
        cluster.name: 1 - ns / data.window.ns
        for cluster, ns in zip(data.platform.clusters, on["active_ns"].to_list(), strict=True)
    }


@measure(events=("sched_migrate_task",), lines=Lines("placement", "migrations", digits=0))
def migrations(data: RunData) -> float:
    """Moves of the scenario's threads from one CPU to another."""
    return sum(data.migrations.values())


@measure(unit="1/s", events=("print", "sched_migrate_task", "sched_switch"))
def migrations_settled_per_s(data: RunData) -> float | None:
    """The same from 0.5 s after START until the first thread has done all jobs."""
    end = markers.first_end(data.ended, data.window)
    settled = replace(data.window, t0_ns=data.window.t0_ns + SETTLED_NS, t1_ns=end)
    if settled.ns <= 0:
        return None
    return sum(events.migrations(data.trace, settled, data.threads).values()) / settled.seconds


@measure(
    unit="share of the window",
    events=("lisa__sched_overutilized",),
    lines=Lines("placement", "time overutilized"),
)
def overutilized_share(data: RunData) -> float | None:
    """Time in which the root domain was overutilized; absent where the state is not known."""
    return events.overutilized_share(data.trace, data.window)


@measure(range_=(0.0, 1.0), files=(STATE,))
def eas(data: RunData) -> bool | None:
    """True if energy-aware scheduling was on, as the guest read it back."""
    path = data.run / STATE
    if not path.is_file():
        return None
    for line in path.read_text(errors="replace").splitlines():
        name, _, value = line.partition(": ")
        if name == ENERGY_AWARE and value.strip() in ("0", "1", ""):  # empty: it refuses EAS
            return value.strip() == "1"
    return None
