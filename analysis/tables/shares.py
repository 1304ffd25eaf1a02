# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures of who got what: running time by place, speed, fairness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from analysis.tables.tasks import thread_names
from analysis.window import Window
from configs.activity import Activity
from configs.platform import Platform


def run_shares(
    placement: pl.DataFrame, platform: Platform, tasks: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """``run_share`` {task: {cluster: share of its running time}}, ``cpu_share`` {task: [by CPU]}.

    Tasks that did not run within the window are absent.
    """
    by_cpu: dict[str, list[int]] = {}
    for task, cpu, ns in placement.select("task", "cpu", "run_ns").iter_rows():
        if task is not None:
            by_cpu.setdefault(task, [0] * len(platform.cpus))[cpu] += ns
    ran = {task["name"]: by_cpu[task["name"]] for task in tasks if task["name"] in by_cpu}
    return {
        "run_share": {
            name: {
                cluster.name: sum(times[cpu] for cpu in cluster.cpus) / sum(times)
                for cluster in platform.clusters
            }
            for name, times in ran.items()
        },
        "cpu_share": {name: [ns / sum(times) for ns in times] for name, times in ran.items()},
    }


def fairness(placement: pl.DataFrame, tasks: Sequence[Mapping[str, Any]]) -> float | None:
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
    tasks: Sequence[Mapping[str, Any]],
) -> dict[str, float]:
    """``{task: work per thread and time}``, 1.0 being the largest CPU's at its top OPP.

    The work of a stretch on a CPU is its length times the busy loop's speed there, at the
    frequencies that the cluster had meanwhile.
    """
    top = activity.instructions_per_us(platform.largest, platform.largest.max_khz)
    work = dict.fromkeys((task["name"] for task in tasks), 0.0)
    for cluster in platform.clusters:
        rows = frequency.filter(pl.col("cluster") == cluster.index).sort("t0_ns")
        edges = np.append(rows["t0_ns"].to_numpy(), rows["t1_ns"][-1]) - window.t0_ns
        rates = rows["khz"].to_numpy() * (activity.ipc(cluster) / 1000 / top)
        done = np.concatenate(([0.0], np.cumsum(np.diff(edges) * rates)))
        ran = slices.filter(pl.col("cpu").is_in(cluster.cpus) & pl.col("task").is_not_null())
        begin, end = (
            np.interp(ran[name].to_numpy() - window.t0_ns, edges, done)
            for name in ("t0_ns", "t1_ns")
        )
        for task, part in zip(ran["task"].to_list(), (end - begin).tolist(), strict=True):
            work[task] += part
    return {task["name"]: work[task["name"]] / (window.ns * len(task["threads"])) for task in tasks}


def of_clusters(
    cpu_busy: Sequence[float], residency: Mapping[str, Mapping[str, float]], platform: Platform
) -> dict[str, Any]:
    """``cluster_busy`` {cluster: {min, max}} of its CPUs, ``top_opp`` {cluster: share of time}."""
    return {
        "cluster_busy": {
            cluster.name: {
                "min": min(cpu_busy[cpu] for cpu in cluster.cpus),
                "max": max(cpu_busy[cpu] for cpu in cluster.cpus),
            }
            for cluster in platform.clusters
        },
        "top_opp": {
            cluster.name: residency[cluster.name][str(cluster.max_khz)]
            for cluster in platform.clusters
        },
    }
