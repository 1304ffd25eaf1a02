# SPDX-License-Identifier: GPL-2.0-or-later
"""Rates at which each core type runs system code: ``configs/activity/system``.

System code is the kernel, the agent and rt-app without its busy loop. It waits for caches and
predictors; the loop does not. The figures have their own files: the keys of all runs contain the
figures of the busy loop, but only runs on the fast engine depend on these. On gem5 the CPU models
decide the speed of system code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eascope.configs.platform import Platform
from eascope.host.cache import canonical_json, sha256_bytes
from eascope.host.strict import StrictTable, read_json

#: Of these files.
SCHEMA = 1
#: The folder of these files, in that of the activity files.
FOLDER = "system"

#: Fewer instructions than these are a few wake-ups, of which no two take the same.
LEAST_INSTRUCTIONS = 200_000


@dataclass(frozen=True)
class ClusterSystem:
    """Instructions of a cluster's CPUs outside the busy loop, and their cycles."""

    name: str
    instructions: int
    cycles: int
    ipc: float


@dataclass(frozen=True)
class SystemActivity:
    """A platform's file; ``clusters`` are in the platform's order.

    ``provenance`` names the measured cell and its gem5; ``conditions`` describes the cell in words.
    """

    path: Path
    clusters: tuple[ClusterSystem, ...]
    conditions: str
    provenance: Mapping[str, str | int]
    digest: str

    @property
    def ipc(self) -> tuple[float, ...]:
        """Instructions per cycle of each cluster."""
        return tuple(cluster.ipc for cluster in self.clusters)


def system_path(platform: Platform, directory: Path) -> Path:
    """The platform's file; ``directory`` is the one of the activity files."""
    return directory / FOLDER / f"{platform.name}.json"


def digits(value: float) -> float:
    """``value`` with six significant digits."""
    return float(f"{value:.6g}")


def load_system(platform: Platform, directory: Path) -> SystemActivity | None:
    """The measurements on ``platform``'s cores; None if there are none.

    :raises RequestError: when the file is wrong or of another platform.
    """
    path = system_path(platform, directory)
    if not path.exists():
        return None
    top = read_json(path)
    top.integer("schema", SCHEMA, SCHEMA)
    if top.name("platform") != platform.name:
        raise top.error("platform", f"{platform.name!r}, the file's own name")
    origin = top.table("provenance")
    provenance: dict[str, str | int] = {
        key: origin.text(key)
        for key in ("gem5", "gem5_sha256", "simkey", "scenario", "variant", "mode", "command")
    }
    provenance["seed"] = origin.integer("seed", 0, 2**63 - 1)
    origin.finish()
    conditions = top.text("conditions")
    table = top.table("clusters")
    clusters = tuple(
        _read_cluster(table.table(cluster.name), cluster.name) for cluster in platform.clusters
    )
    for part in (table, top):
        part.finish()
    digest = sha256_bytes(canonical_json(top.data))
    return SystemActivity(path, clusters, conditions, provenance, digest)


def _read_cluster(entry: StrictTable, name: str) -> ClusterSystem:
    instructions = entry.integer("instructions", LEAST_INSTRUCTIONS, 10**15)
    cycles = entry.integer("cycles", 1, 10**15)
    ipc = entry.number("ipc", 0.01, 16, "instructions per cycle")
    if ipc != digits(instructions / cycles):
        raise entry.error("ipc", f"{digits(instructions / cycles)}, instructions over cycles")
    entry.finish()
    return ClusterSystem(name, instructions, cycles, ipc)
