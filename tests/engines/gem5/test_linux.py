# SPDX-License-Identifier: GPL-2.0-or-later
"""The real gem5: a cell on atomic CPUs from a stored checkpoint, and a restore into detailed ones.

The first test boots (some 100 million instructions) unless the cache has the checkpoint.
"""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from eascope.analysis.derive import derive
from eascope.analysis.trace import read_trace
from eascope.configs.activity import Activity
from eascope.configs.devicetree import device_tree
from eascope.configs.platform import Platform
from eascope.engines.base import EngineFailed, Machine
from eascope.engines.gem5.eliding_copy import COPY
from eascope.engines.gem5.elision import elision
from eascope.engines.gem5.layout import LAYOUT
from eascope.engines.records import MARKS, START, STOP, read_marks
from eascope.engines.registry import get_engine
from eascope.experiments.controls import Controls
from eascope.experiments.runs.cell import BOOT, prepare
from eascope.experiments.runs.guest_image import guest_image
from eascope.experiments.runs.request import Request, resolve
from eascope.experiments.runs.script import elision_lines
from eascope.experiments.runs.store import check, execute
from eascope.kernels.build import kernel
from tests.support.board_dvfs import LEAST_NS, changes_ns
from tests.support.columns import least
from tests.support.slow_idle import CLUSTER_MS, SLACK_MS, sleeps_script, slept_ms, slow

pytestmark = [pytest.mark.gem5, pytest.mark.guest]

#: Turns of each burst on a pinned CPU, so long that what rt-app does around them is no per cent.
TURNS, BURSTS = 40_000, 3


@pytest.fixture
def machine(tmp_path: Path, juno: Platform, juno_activity: Activity) -> Machine:
    """The machine of a cell of variant mainline, so that all tests share one checkpoint."""
    dtb = tmp_path / "dtb"
    dtb.write_bytes(device_tree(juno, LAYOUT))
    built = kernel()
    return Machine(
        juno, juno_activity, built.image, dtb, guest_image().path, b"", BOOT, vmlinux=built.vmlinux
    )


def script(*lines: str) -> bytes:
    return "\n".join(["eascope-script 1", *lines, ""]).encode()


def test_smoke_on_atomic_cpus() -> None:
    """A whole cell, as the command line runs it: state proven, trace whole, times add up."""
    names = resolve(Request("juno-r2", "mainline", "smoke", "gem5"))
    cell = prepare(names)
    run = execute(cell)
    assert check(run) == []
    result = derive(run.path, names.platform, names.activity).result.encode()
    assert result["engine"] == "gem5"
    assert result["eas"] is True
    # The agent sleeps for that long, and its CPU may have to leave an idle state; threads that run
    # when it wakes make it wait for its turn.
    assert 0.5 <= result["window_s"] < 0.51
    assert 0 < result["energy_j"]["total"] < 1
    # 'heavy' needs 10 ms of the fastest CPU's time in 16 ms: no little could do that.
    assert result["run_share"]["heavy"]["big"] > 0.9
    assert result["run_share"]["pinned"]["big"] == 1
    assert {"boot", "restore", "warmup", "window"} <= set(run.host.parts_s)
    assert cell.record.mode == "elided"


#: Mainline changes the big cluster's frequency with each period of its small task.
SPIKE = "uclamp/frequency-spike"


def test_schedutils_thread_waits_for_a_board_there_too() -> None:
    """The agent proves the thread; no frequency is in force sooner than the board's latency."""
    controls = Controls(dvfs="board")
    names = resolve(Request("juno-r2", "mainline", SPIKE, "gem5", controls=controls))
    run = execute(prepare(names))
    assert check(run) == []
    derived = derive(run.path, names.platform, names.activity)
    assert least(changes_ns(derived.table("frequency"), "big")) > LEAST_NS


def rt_app_script(machine: Machine, cpu: int) -> bytes:
    """Bursts of the busy loop on one CPU, at the highest OPP; the agent waits for their end."""
    phase = {"loop": BURSTS, "run": TURNS, "sleep": 2_000}
    task = {"cpus": [cpu], "loop": 1, "phases": {"work": phase}}
    general = {"duration": -1, "calibration": 1000, "ftrace": "none", "logdir": "/tmp"}
    document = json.dumps({"global": general, "tasks": {"burst": task}})
    policy = f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"
    return script(
        f"write {policy} performance",
        *elision_lines(elision("elided", machine.platform, machine.activity)),
        f"file /tmp/r.json {len(document)}",
        document,
        "barrier",
        "trace-setup 2048 sched:sched_switch power:cpu_idle",
        "start",
        f"spawn rt-app {COPY.path} /tmp/r.json",
        "wait rt-app 10000",
        "stop",
        "trace-collect",
        "exit",
    )


@pytest.mark.parametrize("cpu", [0, 4])
def test_a_burst_takes_its_turns_cycles(machine: Machine, tmp_path: Path, cpu: int) -> None:
    """Each of rt-app's bursts, as the scheduler saw it, against turns x cycles / frequency."""
    get_engine("gem5").run(replace(machine, script=rt_app_script(machine, cpu)), tmp_path / "out")
    switches = read_trace(tmp_path / "out" / "trace.dat").table("sched_switch")
    run_cycles: list[int] = []
    begin, so_far = None, 0
    for row in switches.filter(pl.col("cpu") == cpu).sort("t_ns").rows(named=True):
        if row["next_comm"].startswith("burst"):
            begin = row["t_ns"]
        elif row["prev_comm"].startswith("burst") and begin is not None:
            so_far += row["t_ns"] - begin
            begin = None
            if row["prev_state"] & 0xFF:  # it sleeps: the burst is over; else it was preempted
                run_cycles.append(so_far)
                so_far = 0
    cluster = machine.platform.cluster_of(cpu)
    cycles = machine.activity.iteration_instructions / machine.activity.ipc(cluster)
    wanted = TURNS * cycles / cluster.max_khz * 1e6
    # Those that are not rt-app's own start and end.
    bursts = [length for length in run_cycles if length > wanted / 2]
    assert len(bursts) == BURSTS
    for length in bursts:
        assert length == pytest.approx(wanted, rel=0.01)


def test_a_deep_sleep_takes_what_the_platform_states(
    machine: Machine, juno: Platform, tmp_path: Path
) -> None:
    """As on the fast engine: the last CPU of the cluster enters its sleep, and comes back."""
    platform = slow(juno)
    machine.dtb.write_bytes(device_tree(platform, LAYOUT))
    wanted = replace(machine, platform=platform, script=sleeps_script(cluster_sleep=True))
    get_engine("gem5").run(wanted, tmp_path / "out")
    assert slept_ms(tmp_path / "out") == pytest.approx(CLUSTER_MS, abs=SLACK_MS)


def test_the_same_machine_leaves_the_same_bytes(machine: Machine, tmp_path: Path) -> None:
    """The second time on a machine with other work, so that host time passes otherwise."""
    text = script("barrier", "trace-setup 2048 sched:sched_switch", "start", "sleep-ms 20", "stop")
    text += script("trace-collect", "exit").partition(b"\n")[2]
    runs = []
    for name, burners in (("one", 0), ("two", 4)):
        load = [
            subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(burners)
        ]
        try:
            get_engine("gem5").run(replace(machine, script=text), tmp_path / name)
        finally:
            for process in load:
                process.kill()
                process.wait()
        runs.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert set(runs[0]) == set(runs[1])
    assert not [name for name in runs[0] if runs[0][name] != runs[1][name]]
    assert {"trace.dat", "counters.parquet", "console.log", "stats.txt"} <= set(runs[0])


def test_restores_into_detailed_cpus(machine: Machine, tmp_path: Path) -> None:
    """Minor and O3 with caches reach a window of a ms and its end."""
    text = script("barrier", "start", "sleep-ms 1", "stop", "exit")
    engine = get_engine("gem5", "elided-detailed")
    ended = engine.run(replace(machine, script=text), tmp_path / "out")
    marks = {mark.id: mark.t_ns for mark in read_marks(tmp_path / "out" / MARKS)}
    assert marks[STOP] - marks[START] == pytest.approx(1_000_000, rel=0.2)
    counters = pl.read_parquet(tmp_path / "out" / "counters.parquet")
    cpus = counters.filter(pl.col("cpu") >= 0)
    assert cpus["instructions"].sum() > 1000
    assert cpus["icache.read_accesses"].sum() > 0
    assert ended.parts_s["window"] > 0


def test_the_agents_failure_comes_through(machine: Machine, tmp_path: Path) -> None:
    text = script("expect /proc/sys/kernel/sched_energy_aware 7", "exit")
    with pytest.raises(EngineFailed, match=r"^script line 2: expect .*: found '1', wanted '7'"):
        get_engine("gem5").run(replace(machine, script=text), tmp_path / "out")
