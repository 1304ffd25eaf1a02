# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux guests for the engine's tests: scripts, the same image with another rt-app, events."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from eascope.configs.platform import Platform
from eascope.engines.qemu.eliding_copy import elide_hint
from eascope.host.cache import sha256_file
from eascope.host.lisa import host_trace_cmd, lisa_binaries
from eascope.host.proc import run
from eascope.rootfs.cpio import Archive

ELIDED_PATH = "/bin/rt-app-elided-hint"
EVENTS = "sched:sched_switch sched:sched_waking sched:sched_migrate_task power:cpu_frequency"
#: One turn is 223 instructions; 70 % of 16 ms on a little and on a big CPU at the highest OPP.
TURNS_LITTLE, TURNS_BIG = 43_000, 117_000


def sleep_script(ms: int, *, shallow: bool = False) -> bytes:
    """A window in which nothing runs for ``ms``; ``shallow``: WFI is the only idle state."""
    lines = ["eascope-script 1"]
    if shallow:
        disable = "write /sys/devices/system/cpu/cpu{}/cpuidle/state{}/disable 1"
        lines += [disable.format(cpu, state) for cpu in range(6) for state in (1, 2)]
    lines += ["barrier", "start", f"sleep-ms {ms}", "stop", "exit", ""]
    return "\n".join(lines).encode()


def busy_script(activations: int, *, traced: bool = True, pinned: bool = False) -> bytes:
    """Six rt-app tasks, 70 % busy, in periods of 16 ms, under the elided program's name."""
    tasks = {}
    for cpu in range(6):
        phase = {
            "loop": activations,
            "run": TURNS_LITTLE if cpu < 4 else TURNS_BIG,
            "timer": {"ref": "unique", "period": 16000, "mode": "absolute"},
        }
        where = {"cpus": [cpu]} if pinned else {}
        tasks[f"t{cpu}"] = {**where, "loop": 1, "phases": {"work": phase}}
    general = {"duration": -1, "calibration": 1000, "ftrace": "none", "logdir": "/tmp"}
    document = json.dumps({"global": general, "tasks": tasks}).encode()
    lines = [b"eascope-script 1", b"file /tmp/r.json %d" % len(document), document, b"barrier"]
    if traced:
        lines.append(f"trace-setup 8192 {EVENTS}".encode())
    lines += [b"start", f"spawn rt-app {ELIDED_PATH} /tmp/r.json".encode()]
    lines += [b"wait rt-app 100000", b"stop"]
    if traced:
        lines.append(b"trace-collect")
    return b"\n".join([*lines, b"exit", b""])


def with_rt_app(initramfs: Path, target: Path, *, elided: bool) -> Path:
    """The image with the executed or the elided rt-app under the same name and of equal length.

    So two runs are the same up to the first turn of the loop: one script, one file name.
    """
    program = (lisa_binaries() / "arm64" / "rt-app").read_bytes()
    target.write_bytes(
        with_program(initramfs.read_bytes(), elide_hint(program) if elided else program)
    )
    return target


def with_program(image: bytes, program: bytes) -> bytes:
    """The image with ``program`` under the elided rt-app's name."""
    archive = Archive()
    archive.file(ELIDED_PATH[1:], program, 0o755)
    return image + bytes(-len(image) % 4) + archive.data()


@dataclass(frozen=True)
class PrintedEvent:
    """A trace event: ns, CPU, thread, and its text."""

    ns: int
    cpu: int
    thread: str
    text: str


def events(trace: Path) -> list[PrintedEvent]:
    """The events of a trace.dat in order of time."""
    report = run(
        [str(host_trace_cmd()), "report", "-R", "-t", "-N", "--nodate", "-i", str(trace)]
    ).decode(errors="replace")
    rows = []
    for line in report.splitlines():
        match = re.match(r"\s*(\S.*?-\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}): (.*)", line)
        if match:
            ns = int(match[3]) * 10**9 + int(match[4])
            rows.append(PrintedEvent(ns, int(match[2]), match[1], " ".join(match[5].split())))
    return rows


def energy_uj(counters: pl.DataFrame, platform: Platform) -> float:
    """Energy of the CPUs by the platform's published powers."""
    total = 0.0
    for row in counters.filter(pl.col("cpu") >= 0).iter_rows(named=True):
        cluster = platform.clusters[row["cluster"]]
        awake_ns = row["active_ns"] + row["entry_ns"] + row["exit_ns"]
        total += awake_ns * cluster.opp(row["khz"]).power_uw
        for number, state in enumerate(cluster.idle_states):
            total += row[f"idle{number}_ns"] * state.power_uw
    return total / 1e9


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of a run."""
    return {path.name: sha256_file(path) for path in sorted(folder.iterdir())}
