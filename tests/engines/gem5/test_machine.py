# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine on a real gem5, without an operating system: counts, OPPs, energy two ways."""

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.engines.gem5.expressions import expressions, readable
from eascope.engines.gem5.files import read_rows
from eascope.engines.gem5.inside.columns import L2, cpu_events
from eascope.engines.gem5.inside.operations import LOADS
from eascope.engines.gem5.process import Gem5Ended, supervise
from eascope.engines.records import MEMORY_PART
from eascope.experiments.characterisation.guest import BUSY_TURNS, FIRST_MARK
from eascope.experiments.characterisation.measure import STALL_S, evaluate, request
from eascope.power.events import load_events
from eascope.power.model import SHARED_PART
from eascope.rootfs.elide import CALL_INSTRUCTIONS, ITERATION_INSTRUCTIONS

pytestmark = [pytest.mark.gem5]


@dataclass(frozen=True)
class MachineRun:
    """A run's rows, marks, how it ended and gem5's own statistics."""

    rows: list[dict[str, float]]
    marks: dict[int, int]
    ended: Gem5Ended
    stats: dict[str, float]
    asked: dict[str, Any]


def _run(platform: Platform, cluster: int, folder: Path, **more: Any) -> MachineRun:
    asked: Any = request(platform, platform.clusters[cluster]) | more
    if "power" in more:
        asked["power"] = expressions(asked["machine"], platform.temperature_c)
    ended = supervise(asked, folder, "exit", STALL_S, None)
    table, record = read_rows(folder)
    rows, marks = table.rows(named=True), dict(record.marks)
    lines = (folder / "stats.txt").read_text().splitlines()
    pairs = [re.match(r"(\S+)\s+([-\d.e+]+)\s", line) for line in lines]
    return MachineRun(rows, marks, ended, {m[1]: float(m[2]) for m in pairs if m}, asked)


def _one_opp(platform: Platform) -> Platform:
    """The platform with the fastest OPP of each cluster alone: no transition is possible."""
    clusters = [replace(cluster, opps=cluster.opps[-1:]) for cluster in platform.clusters]
    return replace(platform, clusters=tuple(clusters))


@pytest.fixture(scope="module", params=[0, 1], ids=["minor", "o3"])
def measured(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> MachineRun:
    folder = tmp_path_factory.mktemp("gem5")
    return _run(_one_opp(load_platform("juno-r2")), request.param, folder, power=True)


def test_a_run_on_gem5_ends_by_the_agents_exit(measured: MachineRun) -> None:
    assert measured.ended.cause == "exit"
    assert list(measured.ended.parts) == ["boot", "window", "collect"]


def test_the_busy_loop_has_the_instructions_that_were_counted(measured: MachineRun) -> None:
    begin, end = measured.marks[FIRST_MARK], measured.marks[FIRST_MARK + 1]
    counted = sum(
        row["instructions"]
        for row in measured.rows
        if row["cpu"] == 0 and begin <= int(row["t0_ns"]) and int(row["t1_ns"]) <= end
    )
    loop = BUSY_TURNS * ITERATION_INSTRUCTIONS + CALL_INSTRUCTIONS
    assert loop <= counted <= loop + 16, "the call and the mark are a dozen instructions"


def test_rows_are_gem5s_own_statistics(measured: MachineRun) -> None:
    """Sums of rows are the figures in gem5's text of the window."""
    (cluster,) = measured.asked["machine"]["clusters"]
    prefix = f"system.cluster_{cluster['name']}"
    for columns, path, cpu in (
        (cpu_events(cluster["model"]), f"{prefix}.cpus", 0),
        (L2, prefix, SHARED_PART),
    ):
        for event, terms in columns.items():
            if any(term.parts for term in terms):
                continue
            wanted = sum(t.factor * _stat(measured, f"{path}.{t.stat}") for t in terms)
            counted = sum(row[event] for row in measured.rows if row["cpu"] == cpu)
            assert counted == pytest.approx(wanted, abs=1e-6), event


def test_the_mix_of_instructions_is_that_of_the_program(measured: MachineRun) -> None:
    (cluster,) = measured.asked["machine"]["clusters"]
    path = f"system.cluster_{cluster['name']}.cpus.commitStats0.committedInstType"
    loads = sum(measured.stats.get(f"{path}::{name}", 0.0) for name in LOADS)
    loads_counted = sum(row["core.load_instructions"] for row in measured.rows if row["cpu"] == 0)
    assert loads_counted == pytest.approx(loads, rel=0.02), "O3 counts those of wrong paths, too"


def _theirs(measured: MachineRun, part: str) -> float:
    """Energy in J by gem5's own power model of ``part`` of the cluster."""
    (cluster,) = measured.asked["machine"]["clusters"]
    model = f"system.cluster_{cluster['name']}.{part}.power_model"
    watts = sum(measured.stats[f"{model}.{kind}Power"] for kind in ("dynamic", "static"))
    return measured.stats["simSeconds"] * watts


def test_energy_of_rows_is_that_of_gem5s_own_power_model(
    measured: MachineRun, juno: Platform
) -> None:
    """Two ways to one figure, on a run without transitions: within 0.1 %.

    MinorCPU's mix is a vector, which gem5's expressions cannot read: there the expression is
    checked against the same sum of what stands in for it, and the rows against it within its error.
    """
    (cluster,) = measured.asked["machine"]["clusters"]
    power, celsius = load_events(cluster["core"]), juno.temperature_c
    (volts,) = cluster["volts"]
    shared = [row for row in measured.rows if row["cpu"] == SHARED_PART]
    ours = sum(power.dynamic_w(row, 1.0, volts) for row in shared)
    # The clock of the shared part never stops.
    seconds = sum(row["t1_ns"] - row["t0_ns"] for row in shared) * 1e-9
    clock_w = power.cluster_cycle_pj * 1e-9 * max(row["khz"] for row in shared)
    clock_w *= power.level.power.dynamic_scale(volts)
    ours += (clock_w + power.level.leakage_w("L2", volts, celsius)) * seconds
    assert ours == pytest.approx(_theirs(measured, "l2"), rel=1e-3)

    rows = [row for row in measured.rows if row["cpu"] == 0]
    on_s = sum(row["on_ns"] + row["gated_ns"] for row in rows) * 1e-9
    leakage = power.level.leakage_w("Core", volts, celsius) * on_s
    ours = sum(power.dynamic_w(row, 1.0, volts) for row in rows) + leakage
    columns = cpu_events(cluster["model"])
    if readable(columns) == columns:
        assert ours == pytest.approx(_theirs(measured, "cpus"), rel=1e-3)
        return
    path = f"system.cluster_{cluster['name']}.cpus"
    counts = {
        event: sum(term.factor * _stat(measured, f"{path}.{term.stat}") for term in terms)
        for event, terms in readable(columns).items()
    }
    reduced = power.dynamic_w(counts, 1.0, volts) + leakage
    assert reduced == pytest.approx(_theirs(measured, "cpus"), rel=1e-3)
    assert ours == pytest.approx(_theirs(measured, "cpus"), rel=0.005)


def _stat(measured: MachineRun, name: str) -> float:
    """A scalar, or a vector's total; what is zero may be absent from gem5's text."""
    return measured.stats.get(name, measured.stats.get(f"{name}::total", 0.0))


def test_memory_has_used_energy(measured: MachineRun) -> None:
    (row,) = [row for row in measured.rows if row["cpu"] == MEMORY_PART]
    seconds = (row["t1_ns"] - row["t0_ns"]) * 1e-9
    assert 0.05 < row["dram_pj"] * 1e-12 / seconds < 5, "W of a memory module"


def test_every_opp_runs_at_its_own_clock(tmp_path: Path, juno: Platform) -> None:
    machine_run = _run(juno, 0, tmp_path)
    little = juno.clusters[0]
    measured = evaluate(little, machine_run.rows, machine_run.marks)
    by_kernel: dict[str, list[float]] = {}
    for entry in measured:
        by_kernel.setdefault(entry.kernel, []).append(entry.ipc)
    for kernel in ("busy_loop", "integer", "floating_point"):
        assert max(by_kernel[kernel]) == pytest.approx(min(by_kernel[kernel]), rel=0.01), kernel
    assert by_kernel["memory"][0] < by_kernel["memory"][-1], "memory does not get slower"
    assert json.loads((tmp_path / "rows.json").read_text())["transitions"] == {"little": [None, 2]}
