# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares of tasks: running time by CPU, speed, fairness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from eascope.analysis.records.cell import TaskRecord
from eascope.analysis.records.result import Busy
from eascope.analysis.tables.tasks import thread_names
from eascope.analysis.window import Window
from eascope.configs.activity import Activity
from eascope.configs.platform import Cluster, Platform
from eascope.engines.timing.mixture import Mixture, mixture


def by_cpu(
    placement: pl.DataFrame, platform: Platform, tasks: Sequence[TaskRecord]
) -> dict[str, list[int]]:
    """Running time in ns of each task on each CPU; a task that did not run is absent."""
    times: dict[str, list[int]] = {}
    for task, cpu, ns in placement.select("task", "cpu", "run_ns").iter_rows():
        if task is not None:
            times.setdefault(task, [0] * len(platform.cpus))[cpu] += ns
    return {task.name: times[task.name] for task in tasks if task.name in times}


def run_share(
    times: Mapping[str, Sequence[int]], platform: Platform
) -> dict[str, dict[str, float]]:
    """By task and cluster the share of the task's running time, from `by_cpu`."""
    return {
        name: {
            cluster.name: sum(ns[cpu] for cpu in cluster.cpus) / sum(ns)
            for cluster in platform.clusters
        }
        for name, ns in times.items()
    }


def cpu_share(times: Mapping[str, Sequence[int]]) -> dict[str, tuple[float, ...]]:
    """By task the share of its running time on each CPU, from `by_cpu`."""
    return {name: tuple(part / sum(ns) for part in ns) for name, ns in times.items()}


def fairness(placement: pl.DataFrame, tasks: Sequence[TaskRecord]) -> float | None:
    """Jain's index of the running times of all the scenario's threads; None when none ran.

    1 when all ran equally long, 1/n when one of n did all; two tasks on each of four CPUs give 1,
    five on one and one on each of the others 0.63.
    """
    times = dict.fromkeys(thread_names(tasks), 0)
    for thread, ns in placement.select("thread", "run_ns").iter_rows():
        if thread in times:
            times[thread] += ns
    squares = sum(ns * ns for ns in times.values())
    return sum(times.values()) ** 2 / (len(times) * squares) if squares else None


def speeds(
    slices: pl.DataFrame,
    frequency: pl.DataFrame,
    platform: Platform,
    activity: Activity,
    window: Window,
    tasks: Sequence[TaskRecord],
) -> dict[str, float]:
    """``{task: work per thread and time}``, 1.0 being the largest CPU's at its top OPP.

    The work of a stretch on a CPU is its length times the speed of the task's jobs there, at the
    frequencies that the cluster had meanwhile. A task that waits for memory has speeds of its own.
    """
    work = dict.fromkeys((task.name for task in tasks), 0.0)
    for memory in {task.memory for task in tasks}:
        mixed = mixture(platform, activity, memory)
        names = [task.name for task in tasks if task.memory == memory]
        alike = slices.filter(pl.col("task").is_in(names))
        for cluster in platform.clusters:
            rows = frequency.filter(pl.col("cluster") == cluster.index).sort("t0_ns")
            edges = np.append(rows["t0_ns"].to_numpy(), rows["t1_ns"][-1]) - window.t0_ns
            rates = _rates(rows["khz"].to_numpy(), cluster, mixed, platform, activity)
            done = np.concatenate(([0.0], np.cumsum(np.diff(edges) * rates)))
            ran = alike.filter(pl.col("cpu").is_in(cluster.cpus))
            begin, end = (
                np.interp(ran[name].to_numpy() - window.t0_ns, edges, done)
                for name in ("t0_ns", "t1_ns")
            )
            for task, part in zip(ran["task"].to_list(), (end - begin).tolist(), strict=True):
                work[task] += part
    return {task.name: work[task.name] / (window.ns * len(task.threads)) for task in tasks}


def _rates(
    khz: np.ndarray, cluster: Cluster, mixed: Mixture, platform: Platform, activity: Activity
) -> np.ndarray:
    """Speed of ``mixed`` on ``cluster`` at each of ``khz``; the largest CPU at its top OPP: 1.0."""
    largest = platform.largest
    if not mixed.memory:
        top = activity.instructions_per_us(largest, largest.max_khz)
        return khz * (activity.ipc(cluster) / 1000 / top)
    here = {at: mixed.iteration_ns(cluster, at) for at in {*khz.tolist()}}
    return mixed.iteration_ns(largest, largest.max_khz) / np.array(
        [here[at] for at in khz.tolist()]
    )


def cluster_busy(cpu_busy: Sequence[float], platform: Platform) -> dict[str, Busy]:
    """The least and the most busy CPU of each cluster."""
    return {
        cluster.name: Busy(
            min=min(cpu_busy[cpu] for cpu in cluster.cpus),
            max=max(cpu_busy[cpu] for cpu in cluster.cpus),
        )
        for cluster in platform.clusters
    }
