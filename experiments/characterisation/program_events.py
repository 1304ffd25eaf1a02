# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of programs on gem5's detailed cores, per instruction and OPP.

A program runs on the first CPU of each cluster, alone there, from the fastest OPP on. It starts on
atomic CPUs, which go on until it is in its loops. From there the detailed cores execute it: for a
while that is not counted, then at one OPP after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from eascope.configs.platform import Cluster, Platform
from eascope.configs.program_events import ClusterEvents, OppEvents
from eascope.configs.system_activity import digits
from eascope.engines.gem5.inside.columns import FIXED
from eascope.experiments.characterisation.program import levels
from eascope.experiments.characterisation.program_time import time_parts
from eascope.host.errors import EascopeError
from eascope.power.model import SHARED_PART

#: Enough for a program that is linked with few libraries.
WARMUP_US = 8_000
#: Time on detailed cores that is not counted: caches, predictors and TLBs are cold at first.
FIRST_US = 2_000
#: Time at each OPP.
LEVEL_US = 1_250
#: OPPs of a cluster at which events are counted: the slowest, the fastest, and others between them.
LEVELS = 3
#: A CPU that is busy may wait for so little of its time.
MOST_IDLE = 0.01

_POLICY = "/sys/devices/system/cpu/cpufreq/policy"


@dataclass(frozen=True)
class Guest:
    """What a guest is told besides the programs themselves.

    :param files: what the script writes, by path; ``setup`` are further lines after that.
    :param warmup_us: simulated time on atomic CPUs: programs load, link and reach their loops.
    """

    files: Mapping[str, bytes]
    setup: tuple[str, ...] = ()
    warmup_us: int = WARMUP_US


def script(platform: Platform, guest: Guest, commands: Sequence[str]) -> bytes:
    """The agent's script.

    :param commands: what the agent spawns for each cluster, in the platform's order.
    """
    parts = [b"eascope-script 1\n"]
    for path, content in guest.files.items():
        parts += [f"file {path} {len(content)}\n".encode(), content, b"\n"]
    policies = [f"{_POLICY}{cluster.cpus[0]}" for cluster in platform.clusters]
    lines = [
        *guest.setup,
        *(f"write {policy}/scaling_governor userspace" for policy in policies),
        *(
            f"write {policy}/scaling_setspeed {cluster.max_khz}"
            for policy, cluster in zip(policies, platform.clusters, strict=True)
        ),
        *(
            f"spawn {cluster.name} {command}"
            for cluster, command in zip(platform.clusters, commands, strict=True)
        ),
        f"sleep-us {guest.warmup_us}",
        "barrier",
        "start",
        f"sleep-us {FIRST_US}",
        *_sweep(platform, policies),
        "stop",
        "exit",
    ]
    parts.append(("\n".join(lines) + "\n").encode())
    return b"".join(parts)


def _sweep(platform: Platform, policies: Sequence[str]) -> Iterator[str]:
    """Lines that set one OPP after the other, on all clusters at once."""
    own = [levels(cluster, LEVELS) for cluster in platform.clusters]
    for level in range(max(map(len, own))):
        for policy, speeds in zip(policies, own, strict=True):
            if level < len(speeds):
                yield f"write {policy}/scaling_setspeed {speeds[level]}"
        yield f"sleep-us {LEVEL_US}"


def evaluate(program: str, cluster: Cluster, rows: pl.DataFrame) -> ClusterEvents:
    """Time and events of an instruction of the cluster's program, by OPP from the slowest on.

    :param rows: of a run of `script`, a row for the CPU and one for the shared part between any
        two changes of the cluster's OPP.
    :raises EascopeError: when an OPP of `LEVELS` has no row, or the program waited.
    """
    own = rows.filter(pl.col("cluster") == cluster.index).sort("t0_ns")
    # The first row is the one that is not counted.
    cpu = own.filter(pl.col("cpu") == cluster.cpus[0]).rows(named=True)[1:]
    shared = own.filter(pl.col("cpu") == SHARED_PART).rows(named=True)[1:]
    measured = []
    there = {row["khz"] for row in cpu}
    if missing := {*levels(cluster, LEVELS)} - there:
        raise EascopeError(f"{cluster.name}: no row at {min(missing)} kHz")
    for khz in sorted(map(round, there)):
        busy = [row for row in cpu if row["khz"] == khz]
        beside = [row for row in shared if row["khz"] == khz]
        ns = sum(row["t1_ns"] - row["t0_ns"] for row in busy)
        idle = 1 - sum(row["on_ns"] for row in busy) / ns
        if idle > MOST_IDLE:
            raise EascopeError(f"{cluster.name}: its program waited {idle:.0%} of the time")
        instructions = sum(row["instructions"] for row in busy)
        events = {
            name: digits(sum(row[name] for row in (*busy, *beside)) / instructions)
            for name in rows.columns
            if name not in FIXED and any(row[name] for row in (*busy, *beside))
        }
        measured.append(OppEvents(khz, round(instructions), digits(ns / instructions), events))
    ipc = {opp.khz: 1e6 / (opp.khz * opp.ns) for opp in measured}
    cycles, memory_ns = time_parts(program, cluster.name, ipc)
    opps = tuple(measured)
    return ClusterEvents(program, cluster.name, digits(cycles), digits(memory_ns), opps)
