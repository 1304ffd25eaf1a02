# SPDX-License-Identifier: GPL-2.0-or-later
"""From a run to its result: tables and ``result.json`` in ``runs/<simkey>/derived/<akey>/``.

The run itself is only read. Another power model or another version of the analysis gives another
``akey``, so a run is derived anew without being simulated again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from analysis import expect
from analysis.derived_folder import derived_folder
from analysis.energy import active_shares, energy, joules
from analysis.tables import counters, latency, markers, measures, memory, programs, shares, slices
from analysis.tables.elided import with_elided
from analysis.tables.split import split
from analysis.tables.tasks import thread_names
from analysis.trace import read_trace
from analysis.window import Window, read_window
from configs.activity import Activity
from configs.platform import Platform
from host.cache import digest_of, tree_digest
from host.errors import EascopeError
from host.record import load_json
from power.billed import SHARED, PowerModel, PublishedPower
from power.memory import load_controller

TABLES = (
    *("intervals", "energy", "slices", "latency"),
    *("placement", "frequency", "tasks"),
)
#: Whose energy a task's row is, where it is no task's.
OTHER = "(other)"
IDLE = "(idle)"
SHARED_PART = "(shared)"
_EAS = "/proc/sys/kernel/sched_energy_aware"


@dataclass(frozen=True)
class Derived:
    """A derived run.

    :param path: the folder of tables and ``result.json``.
    :param result: content of ``result.json`` (DESIGN.md, section 4).
    :param cell: content of the run's ``cell.json``.
    :param run: the run's folder.
    """

    path: Path
    result: dict[str, Any]
    cell: dict[str, Any]
    run: Path

    def table(self, name: str) -> pl.DataFrame:
        """One of :data:`TABLES`."""
        return pl.read_parquet(self.path / f"{name}.parquet")


def derive(
    run: Path, platform: Platform, activity: Activity, model: PowerModel | None = None
) -> Derived:
    """Derive ``run``, unless that has been done already with the same model and analysis.

    :param model: where energy comes from; by default the platform's published powers.
    :raises EascopeError: one line when the run is incomplete or its files are not usable.
    """
    power = model or PublishedPower(platform)
    cell = _read_json(run / "cell.json")
    fields = {
        "simkey": cell["simkey"],
        "power": power.digest,
        "memory": load_controller().sha256,
        "activity": activity.digest,
        "cell": digest_of(cell),
        "analysis": analysis_version(),
    }
    folder = derived_folder(
        run, fields, lambda work: _derive_into(work, run, cell, platform, activity, power)
    )
    return Derived(folder, _read_json(folder / "result.json"), cell, run)


def analysis_version() -> str:
    """Digest of the code that makes tables and results (figures and reports are not part of it)."""
    here = Path(__file__).resolve().parent
    names = ("trace.py", "window.py", "energy.py", "derive.py", "expect.py", "../power/model.py")
    files = {name: (here / name).read_text() for name in names}
    return digest_of({"files": files, "tables": tree_digest(here / "tables", "*.py")})


def _read_json(path: Path) -> dict[str, Any]:
    content = load_json(path)
    if not isinstance(content, dict):
        raise EascopeError(f"{path}: not a JSON object")
    return content


def _derive_into(
    folder: Path,
    run: Path,
    cell: dict[str, Any],
    platform: Platform,
    activity: Activity,
    power: PowerModel,
) -> None:
    window = read_window(run / "marks.json")
    tasks = cell["tasks"]
    threads = thread_names(tasks)
    trace = read_trace(run / "trace.dat")
    tables: dict[str, pl.DataFrame] = {}
    tables["intervals"] = counters.intervals(
        run / "counters.parquet",
        platform,
        window,
        lambda rows: split(rows, trace, platform, window),
    )
    tables["slices"] = slices.slices(trace, window, threads, len(platform.cpus))
    if cell["engine"] == "gem5" and cell["elide"]:
        executed = {program["name"] for program in cell.get("programs", ())}
        names = {task["name"] for task in tasks} - executed
        tables["intervals"] = with_elided(
            *(tables["intervals"], tables["slices"], platform, activity, names)
        )
    tables["frequency"] = counters.frequency(tables["intervals"])
    tables["energy"] = energy(tables["intervals"], platform, power)
    tables["placement"] = slices.placement(tables["slices"], platform)
    tables["latency"] = latency.latency(trace, window, threads)
    moved = measures.migrations(trace, window, threads)
    tables["tasks"] = _tasks(tables, threads, moved)

    result: dict[str, Any] = {
        "energy_j": _energy_of(tables, platform),
        "window_s": window.seconds,
        **_of_counters(tables, platform, window),
        **_of_latency(tables["latency"], tasks),
        "migrations": sum(moved.values()),
        "engine": cell["engine"],
        "power_model": {
            "name": power.name,
            "summary": power.summary,
            "notes": list(power.notes),
        },
    }
    result |= shares.of_clusters(result["cpu_busy"], result["residency"], platform)
    result |= shares.run_shares(tables["placement"], platform, tasks)
    result["speed"] = shares.speeds(
        tables["slices"], tables["frequency"], platform, activity, window, tasks
    )
    fair = shares.fairness(tables["placement"], tasks)
    if fair is not None:
        result["fairness"] = fair
    marks = markers.markers(trace, window, tasks)
    turns = {
        "activation_us": markers.activations(marks, tasks),
        "lateness_us": markers.lateness(marks, tasks),
        "response_us": markers.responses(marks, tasks),
    }
    result |= {name: found for name, found in turns.items() if found}
    jobs = markers.deadlines(marks, tasks)
    if jobs:
        result["missed_deadlines"] = sum(entry["missed"] for entry in jobs.values())
        result["deadlines"] = jobs
    throughput = programs.throughput(run, cell.get("programs", []))
    if throughput:
        result["throughput"] = throughput
    result["opp_requests_per_s"] = {
        name: number / window.seconds
        for name, number in measures.opp_requests(trace, window, platform).items()
    }
    over = measures.overutilized_share(trace, window)
    if over is not None:
        result["overutilized_share"] = over
    eas = _eas(run / "state.txt")
    if eas is not None:
        result["eas"] = eas
    held = memory.memory(run / "counters.parquet")
    if held is not None:
        controller = load_controller().joules(held.fetches, window.seconds)
        result["memory_j"] = {"dram": held.dram_pj * 1e-12, "controller": controller}
    result["expect"] = expect.of_run(cell, result)
    for name in TABLES:
        tables[name].write_parquet(folder / f"{name}.parquet", compression="zstd")
    text = json.dumps(result, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    (folder / "result.json").write_text(text)


def _eas(path: Path) -> bool | None:
    """Whether energy-aware scheduling was on, as the guest read it back; None when it did not.

    The file is empty where the kernel refuses EAS.
    """
    if not path.is_file():
        return None
    for line in path.read_text(errors="replace").splitlines():
        name, _, value = line.partition(": ")
        if name == _EAS and value.strip() in ("0", "1", ""):
            return value.strip() == "1"
    return None


def _tasks(
    tables: Mapping[str, pl.DataFrame], threads: Mapping[str, str], moved: Mapping[str, int]
) -> pl.DataFrame:
    """``tasks``: energy, run time and wake-ups per thread; the rest in rows of their own.

    The rows' ``energy_fj`` sum to the total exactly. ``(other)`` is active energy that no slice
    covers, ``(idle)`` idle states and exits from them, ``(shared)`` the clusters' shared parts.
    """
    share = active_shares(tables["intervals"], tables["slices"], tables["energy"])
    by_pid = share.group_by("pid").agg(pl.col("energy_fj").sum())
    ran = (
        tables["slices"]
        .group_by("pid")
        .agg(
            pl.col("task").last(),
            pl.col("thread").last(),
            (pl.col("t1_ns") - pl.col("t0_ns")).sum().alias("run_ns"),
        )
    )
    woken = tables["latency"].group_by("pid").agg(pl.len().cast(pl.Int64).alias("wakeups"))
    rows = (
        ran.join(by_pid, on="pid", how="left")
        .join(woken, on="pid", how="left")
        .with_columns(
            pl.col("energy_fj", "wakeups").fill_null(0),
            pl.col("thread")
            .replace_strict(moved, default=None, return_dtype=pl.Int64)
            .alias("migrations"),
        )
        .select("task", "thread", "pid", "run_ns", "energy_fj", "wakeups", "migrations")
        .sort("pid")
    )
    parts = dict(tables["energy"].group_by("component").agg(pl.col("energy_fj").sum()).iter_rows())
    uncovered = by_pid.filter(pl.col("pid").is_null())["energy_fj"].sum()
    idle = sum(spent for name, spent in parts.items() if name not in ("active", "shared"))
    rest = pl.DataFrame(
        {
            "task": [OTHER, IDLE, SHARED_PART],
            "energy_fj": [uncovered, idle, parts.get("shared", 0)],
        },
        schema={"task": pl.String, "energy_fj": pl.Int64},
    )
    table = pl.concat([rows, rest], how="diagonal")
    if table["energy_fj"].sum() != tables["energy"]["energy_fj"].sum():
        raise EascopeError("internal error: the tasks' energies do not sum to the total")
    return table.with_columns((pl.col("energy_fj") / 1e15).alias("joules"))


def _energy_of(tables: Mapping[str, pl.DataFrame], platform: Platform) -> dict[str, Any]:
    """``energy_j``: total, by cluster, component, and task; every partition sums to the total."""
    by_part = (
        tables["energy"]
        .group_by("cluster_name", "component", "part", maintain_order=True)
        .agg(pl.col("energy_fj").sum())
    )
    finest = joules([((row[0], row[1], row[2]), row[3]) for row in by_part.iter_rows()])
    # Joules are multiples of a power of two: these sums are exact.
    parts: dict[tuple[str, str], float] = {}
    stack: dict[str, dict[str, float]] = {entry.name: {} for entry in platform.clusters}
    for (where, what, part), value in finest.items():
        parts[where, what] = parts.get((where, what), 0.0) + value
        stack[where][part] = stack[where].get(part, 0.0) + value
    cluster: dict[str, float] = {entry.name: 0.0 for entry in platform.clusters}
    component: dict[str, float] = {}
    detail: dict[str, dict[str, float]] = {entry.name: {} for entry in platform.clusters}
    for (where, what), value in parts.items():
        cluster[where] += value
        component[what] = component.get(what, 0.0) + value
        detail[where][what] = value
    by_task: dict[str, int] = {}
    for task, thread, spent in tables["tasks"].select("task", "thread", "energy_fj").iter_rows():
        # Threads that are not the scenario's (kernel threads, the agent) are part of the rest.
        name = OTHER if thread is not None and task is None else task
        by_task[name] = by_task.get(name, 0) + spent
    known = any(part != what for _, what, part in finest)
    return {
        **({"cluster_stack": stack, "stack": _summed(stack.values())} if known else {}),
        "total": sum(parts.values()),
        "cluster": cluster,
        "component": component,
        "cluster_component": detail,
        "task": joules(list(by_task.items())),
    }


def _summed(tables: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Key by key the sum over several tables."""
    total: dict[str, float] = {}
    for table in tables:
        for key, value in table.items():
            total[key] = total.get(key, 0.0) + value
    return total


def _of_counters(
    tables: Mapping[str, pl.DataFrame], platform: Platform, window: Window
) -> dict[str, Any]:
    residency: dict[str, dict[str, float]] = {}
    transitions: dict[str, float] = {}
    mean_mhz: dict[str, float] = {}
    frequency = tables["frequency"].with_columns((pl.col("t1_ns") - pl.col("t0_ns")).alias("ns"))
    for cluster in platform.clusters:
        rows = frequency.filter(pl.col("cluster") == cluster.index)
        spent = dict.fromkeys((opp.khz for opp in cluster.opps), 0)
        for khz, ns in rows.select("khz", "ns").iter_rows():
            spent[khz] += ns
        residency[cluster.name] = {str(khz): ns / window.ns for khz, ns in spent.items()}
        transitions[cluster.name] = (rows.height - 1) / window.seconds
        mean_mhz[cluster.name] = sum(k * ns for k, ns in spent.items()) / window.ns / 1000
    busy = pl.col("active_ns") + pl.col("exit_ns")
    per_cpu = (
        tables["intervals"]
        .filter(pl.col("cpu") != SHARED)
        .group_by("cluster_name", "cpu", maintain_order=True)
        .agg(
            busy.sum().alias("busy_ns"),
            # Playing an idle state's exit latency takes instructions too, but is no work.
            pl.when(busy > 0)
            .then(pl.col("instructions") * (pl.col("active_ns") / busy))
            .otherwise(0.0)
            .sum()
            .alias("work"),
        )
        .sort("cpu")
    )
    done = float(per_cpu["work"].sum())
    work = {
        cluster.name: float(per_cpu.filter(pl.col("cluster_name") == cluster.name)["work"].sum())
        for cluster in platform.clusters
    }
    return {
        "residency": residency,
        "opp_transitions_per_s": transitions,
        "mean_mhz": mean_mhz,
        "cpu_busy": [busy / window.ns for busy in per_cpu["busy_ns"].to_list()],
        "work_share": {name: part / done for name, part in work.items()} if done else {},
    }


def _of_latency(table: pl.DataFrame, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, dict[str, float]] = {}
    wakeups: dict[str, int] = {}
    for task in tasks:
        values = table.filter(pl.col("task") == task["name"])["latency_ns"].to_list()
        wakeups[task["name"]] = len(values)
        if values:
            found[task["name"]] = {
                name: latency.percentile(values, share) / 1000
                for name, share in markers.PERCENTILES.items()
            }
    return {"latency_us": found, "wakeups": wakeups}
