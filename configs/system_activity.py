# SPDX-License-Identifier: GPL-2.0-or-later
"""Rates at which each core type runs system code: ``configs/activity/system``.

System code is the kernel, the agent and rt-app without its busy loop. It waits for caches and
predictors; the loop does not. The figures have their own files: the keys of all runs contain the
figures of the busy loop, but only runs on the fast engine depend on these. On gem5 the CPU models
decide the speed of system code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Any, ClassVar

from eascope.configs.platform import Platform
from eascope.host.cache import canonical_json, sha256_bytes
from eascope.host.keys import NAME, WrongValue, key
from eascope.host.strict import read_json

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
    instructions: int = key("instructions in the window", LEAST_INSTRUCTIONS, 10**15)
    cycles: int = key("cycles that they took", 1, 10**15)
    ipc: float = key("their quotient, with six digits", 0.01, 16, "instructions per cycle")

    def check(self) -> None:
        """The quotient is that of the others."""
        if self.ipc != (quotient := digits(self.instructions / self.cycles)):
            raise WrongValue("ipc", self.ipc, f"{quotient}, instructions over cycles")


_TEXTS = ("gem5", "gem5_sha256", "scenario", "variant", "mode", "command")
#: The cell that was measured.
ORIGIN: Any = make_dataclass("Origin", [(name, str, key(f"its {name}")) for name in _TEXTS])
_RUN = [("simkey", str, key("its run")), ("seed", int, key("its seed", 0, 2**63 - 1))]


@dataclass(frozen=True)
class SystemFile:
    """A platform's file."""

    schema_version: ClassVar[int] = SCHEMA

    platform: str = key("the platform; also the name of the file", form=NAME)
    provenance: Any = key("the measured cell", table=make_dataclass("Run", _RUN, bases=(ORIGIN,)))
    conditions: str = key("the conditions of the measurement")
    clusters: Mapping[str, ClusterSystem] = key("rates by cluster", label="name")


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
    own = top.decoded(SystemFile)
    if own.platform != platform.name:
        raise top.error("platform", f"{platform.name!r}, the file's own name")
    names = [cluster.name for cluster in platform.clusters]
    top.inside("clusters").exactly(names)
    clusters = tuple(own.clusters[name] for name in names)
    digest = sha256_bytes(canonical_json(top.data))
    return SystemActivity(path, clusters, own.conditions, vars(own.provenance), digest)
