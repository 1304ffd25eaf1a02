# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope characterise``: what each workload kernel does on each core type, on gem5's cores.

One run of gem5 per cluster: one CPU of its core with the cluster's caches, memory and OPPs, in mode
``detailed``, without an operating system. At every OPP each kernel runs once to warm caches and
predictors, then once between two marks; a row of statistics lies between them.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from configs.platform import Cluster, Platform
from engines.gem5.boot import boot_loader
from engines.gem5.inside.columns import FIXED
from engines.gem5.inside.request import Request
from engines.gem5.provider import find_gem5
from engines.gem5.settings import machine_settings
from experiments.characterise.guest import FIRST_MARK, KERNELS, LEVEL_MARKS, guest
from host.cache import digest_of, sha256_file
from host.errors import EascopeError

RUN = Path(__file__).resolve().parents[2] / "engines" / "gem5" / "inside" / "run.py"
#: Simulated time that no run comes near: two OPPs of the slowest core take a hundredth of it.
LIMIT_NS, STALL_NS = 10 * 10**9, 10**8


@dataclass(frozen=True)
class Measured:
    """One kernel on one cluster's core at one OPP.

    ``events`` are counts per instruction; those of the memory hierarchy include the L2's.
    """

    cluster: str
    kernel: str
    khz: int
    instructions: int
    ipc: float
    events: Mapping[str, float]


def request(platform: Platform, cluster: Cluster) -> Request:
    """What gem5's ``run.py`` is asked for: the platform with one CPU of ``cluster`` alone."""
    settings = machine_settings(platform, "detailed")
    alone = settings["clusters"][cluster.index]
    alone["index"], alone["cpus"] = 0, [0]
    settings["clusters"] = [alone]
    program = guest(len(cluster.opps), settings["transition_latency_ns"])
    return {
        "schema": 1,
        "machine": settings,
        "mode": "detailed",
        "vmlinux": str(program),
        "boot_loader": str(boot_loader()),
        "dtb": None,
        "initrd": None,
        "cmdline": "",
        "script": None,
        "checkpoint_in": None,
        "checkpoint_out": None,
        "limit_ns": LIMIT_NS,
        "stall_ns": STALL_NS,
        "join": False,
    }


def measure(
    platform: Platform, cluster: Cluster, say: Callable[[str], None] = lambda _: None
) -> tuple[list[Measured], str]:
    """Run all kernels on a CPU of ``cluster`` at every OPP; the figures, and gem5's version.

    :raises EascopeError: when gem5 is missing or the run does not end as it should.
    """
    with tempfile.TemporaryDirectory(prefix="eascope-characterise-") as name:
        folder = Path(name)
        say(f"{cluster.name}: {cluster.core.name} at {len(cluster.opps)} OPPs")
        version = run_gem5(request(platform, cluster), folder, cluster.name)
        rows, marks = read_rows(folder)
    return evaluate(cluster, rows, marks), version


def run_gem5(asked: Mapping[str, Any], folder: Path, what: str) -> str:
    """Let gem5 do what is ``asked``, in ``folder``; its version.

    :param what: whose run it is, for the message when it fails.
    :raises EascopeError: when gem5 is missing or the run does not end as it should.
    """
    asked_file = folder / "request.json"
    asked_file.write_text(json.dumps(asked))
    command = [
        str(find_gem5()),
        "--listener-mode=off",
        "-d",
        str(folder),
        str(RUN),
        str(asked_file),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    ended = [line for line in done.stdout.splitlines() if line.startswith("eascope: ended")]
    if done.returncode or not ended or not ended[0].startswith("eascope: ended exit"):
        last = (done.stdout + done.stderr).strip().splitlines()[-12:]
        reason = ended[0].removeprefix("eascope: ") if ended else "it reported no end"
        raise EascopeError(
            f"gem5 on {what}: {reason} (exit status {done.returncode})\n" + "\n".join(last)
        )
    banner = re.search(r"^gem5 version (\S+)", done.stdout, re.MULTILINE)
    return banner[1] if banner else "unknown"


def read_rows(folder: Path) -> tuple[list[dict[str, float]], dict[int, int]]:
    """The rows of a run, and when each mark was set (ns)."""
    record = json.loads((folder / "rows.json").read_text())
    data = array("d")
    data.frombytes((folder / "rows.bin").read_bytes())
    columns: Sequence[str] = record["columns"]
    width = len(columns)
    rows = [
        dict(zip(columns, data[start : start + width], strict=True))
        for start in range(0, len(data), width)
    ]
    return rows, {int(number): int(ns) for number, ns in record["marks"]}


def evaluate(
    cluster: Cluster, rows: Sequence[Mapping[str, float]], marks: Mapping[int, int]
) -> list[Measured]:
    """What the rows between each kernel's marks say.

    :raises EascopeError: when a kernel has no row, or one at another OPP than asked for.
    """
    measured = []
    for level, opp in enumerate(reversed(cluster.opps)):
        for number, kernel in enumerate(KERNELS):
            first = FIRST_MARK + level * LEVEL_MARKS + 2 * number
            if first not in marks or first + 1 not in marks:
                raise EascopeError(f"{cluster.name}: {kernel} at {opp.khz} kHz was not measured")
            begin, end = marks[first], marks[first + 1]
            between = [
                row
                for row in rows
                if row["cluster"] == 0 and int(row["t0_ns"]) >= begin and int(row["t1_ns"]) <= end
            ]
            cpu = [row for row in between if row["cpu"] == 0]
            if not cpu or any(row["khz"] != opp.khz for row in cpu):
                raise EascopeError(f"{cluster.name}: {kernel} did not run at {opp.khz} kHz")
            instructions = sum(row["instructions"] for row in cpu)
            cycles = sum(row["t1_ns"] - row["t0_ns"] for row in cpu) * opp.khz / 1e6
            events = {
                name: sum(row[name] for row in between) / instructions
                for name in cpu[0]
                if name not in FIXED and any(row[name] for row in between)
            }
            measured.append(
                Measured(
                    *(cluster.name, kernel, opp.khz, round(instructions)),
                    ipc=instructions / cycles,
                    events=events,
                )
            )
    return measured


def provenance(platform: Platform, version: str) -> dict[str, str]:
    """What the figures depend on, as digests: gem5's binary, machine, kernels, boot loader."""
    requests = {cluster.name: request(platform, cluster) for cluster in platform.clusters}
    programs = {
        f"{name} {part}": sha256_file(Path(asked[part]))
        for name, asked in requests.items()
        for part in ("vmlinux", "boot_loader")
    }
    return {
        "gem5": version,
        "gem5_sha256": sha256_file(find_gem5()),
        "machine_sha256": digest_of({name: asked["machine"] for name, asked in requests.items()}),
        "programs_sha256": digest_of(programs),
        "command": f"eascope characterise {platform.name}",
    }
