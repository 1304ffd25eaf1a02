# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope characterise``: measure each workload kernel on each core type of gem5.

Each cluster has one run of gem5 in mode ``detailed``, without an operating system: one CPU of the
cluster's core with the cluster's caches, memory and OPPs. At every OPP each kernel runs once to
warm caches and predictors, and then once between two marks, which give a row of statistics.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eascope.configs.platform import Cluster, Platform
from eascope.engines.base import EngineFailed
from eascope.engines.gem5.boot import boot_loader
from eascope.engines.gem5.files import read_rows
from eascope.engines.gem5.inside.columns import FIXED
from eascope.engines.gem5.inside.request import Gem5Request
from eascope.engines.gem5.process import supervise
from eascope.engines.gem5.provider import find_gem5, version
from eascope.engines.gem5.request import Gem5Settings, RequestFiles, request_of
from eascope.engines.gem5.settings import machine_settings
from eascope.experiments.characterisation.guest import (
    FIRST_MARK,
    KERNELS,
    LEVEL_MARKS,
    Chain,
    guest,
)
from eascope.host.cache import digest_of, sha256_file
from eascope.host.errors import EascopeError

#: Simulated time that no run comes near: two OPPs of the slowest core take a hundredth of it.
LIMIT_NS, STALL_NS = 10 * 10**9, 10**8
#: Host seconds without progress after which gem5 counts as hung.
STALL_S = 300.0


@dataclass(frozen=True)
class KernelMeasurement:
    """One kernel on one cluster's core at one OPP.

    ``events`` are counts per instruction; those of the memory hierarchy include the L2's.
    """

    cluster: str
    kernel: str
    khz: int
    instructions: int
    ipc: float
    events: Mapping[str, float]


def request(platform: Platform, cluster: Cluster, chains: Sequence[Chain] = ()) -> Gem5Request:
    """The request for gem5: the platform with only one CPU of ``cluster``.

    :param chains: kernels in the place of `KERNELS`.
    """
    machine = machine_settings(platform, "detailed")
    alone = machine["clusters"][cluster.index]
    alone["index"], alone["cpus"] = 0, [0]
    machine["clusters"] = [alone]
    program = guest(len(cluster.opps), machine["transition_latency_ns"], chains)
    settings = Gem5Settings("detailed", machine, "", limit_ns=LIMIT_NS, stall_ns=STALL_NS)
    asked = request_of(settings, RequestFiles(program, boot_loader()))
    asked["join"] = False
    return asked


def measure(
    platform: Platform, cluster: Cluster, say: Callable[[str], None] = lambda _: None
) -> list[KernelMeasurement]:
    """Run all kernels on a CPU of ``cluster`` at every OPP; the figures.

    :raises EascopeError: when gem5 is missing or the run does not end as it should.
    """
    with tempfile.TemporaryDirectory(prefix="eascope-characterise-") as name:
        say(f"{cluster.name}: {cluster.core.name} at {len(cluster.opps)} OPPs")
        rows, marks = run_kernels(request(platform, cluster), Path(name), cluster.name)
    return evaluate(cluster, rows, marks)


def run_kernels(
    asked: Gem5Request, folder: Path, what: str
) -> tuple[list[dict[str, float]], dict[int, int]]:
    """Let gem5 run ``asked`` in ``folder``; returns the rows, and the time of each mark in ns.

    :param what: the name of the run, for messages.
    :raises EascopeError: when gem5 is missing or the run does not end as it should.
    """
    try:
        supervise(asked, folder, "exit", STALL_S, None)
    except EngineFailed as error:
        reason = f"{what}: {error.reason}"
        raise EngineFailed(reason, error.console_tail, error.log_tail) from error
    table, record = read_rows(folder)
    return table.rows(named=True), dict(record.marks)


def evaluate(
    cluster: Cluster,
    rows: Sequence[Mapping[str, float]],
    marks: Mapping[int, int],
    kernels: Iterable[str] = KERNELS,
) -> list[KernelMeasurement]:
    """The measurements from the rows between each kernel's marks.

    :param kernels: in the order of the program's table.
    :raises EascopeError: when a kernel has no row, or one at another OPP than asked for.
    """
    measured = []
    for level, opp in enumerate(reversed(cluster.opps)):
        for number, kernel in enumerate(kernels):
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
                KernelMeasurement(
                    *(cluster.name, kernel, opp.khz, round(instructions)),
                    ipc=instructions / cycles,
                    events=events,
                )
            )
    return measured


def provenance(platform: Platform) -> dict[str, str]:
    """The inputs of the figures, as digests: gem5's binary, machine, kernels, boot loader."""
    program = find_gem5()
    requests = {cluster.name: request(platform, cluster) for cluster in platform.clusters}
    programs = {
        f"{name} {part}": sha256_file(Path(asked[part]))
        for name, asked in requests.items()
        for part in ("vmlinux", "boot_loader")
    }
    return {
        "gem5": version(program),
        "gem5_sha256": sha256_file(program),
        "machine_sha256": digest_of({name: asked["machine"] for name, asked in requests.items()}),
        "programs_sha256": digest_of(programs),
        "command": f"eascope characterise {platform.name}",
    }
