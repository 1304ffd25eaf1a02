# SPDX-License-Identifier: GPL-2.0-or-later
"""McPAT's events of programs on each core type: ``configs/activity/events/PLATFORM``.

Counts are those of a CPU that runs the program alone, with the kernel's work for it and its L2's.
No run depends on these files: they say how the power of one program relates to that of another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from eascope.configs.activity import ACTIVITY
from eascope.configs.platform import Cluster, Platform
from eascope.host.keys import NAME, Placed, key
from eascope.host.strict import read_json

#: Of these files.
SCHEMA = 1
#: The folder of these files, in that of the activity files.
FOLDER = "events"


@dataclass(frozen=True)
class OppEvents:
    """An instruction of a program at an OPP: its time, and McPAT's events by name.

    :param instructions: that were counted.
    """

    khz: int
    instructions: int
    ns: float
    events: Mapping[str, float]


@dataclass(frozen=True)
class ClusterEvents:
    """A program on a cluster's core: an instruction takes ``cycles / f + memory_ns``.

    :param opps: those at which events were counted, slowest first.
    """

    program: str
    name: str
    cycles: float
    memory_ns: float
    opps: tuple[OppEvents, ...]

    def ns(self, khz: int) -> float:
        """Time of an instruction at ``khz``."""
        return self.cycles * 1e6 / khz + self.memory_ns

    @property
    def residual(self) -> float:
        """How far this time lies from what was counted, relative to it, at the worst OPP."""
        return max(abs(self.ns(opp.khz) / opp.ns - 1) for opp in self.opps)

    def events(self, khz: int) -> dict[str, float]:
        """Events of an instruction at ``khz``: linear in the period between two counted OPPs.

        Beyond the slowest and the fastest one they are those of that OPP.
        """
        slow = max((opp for opp in self.opps if opp.khz <= khz), key=_khz, default=self.opps[0])
        fast = min((opp for opp in self.opps if opp.khz >= khz), key=_khz, default=self.opps[-1])
        share = 0.0
        if slow.khz != fast.khz:
            share = (1 / slow.khz - 1 / khz) / (1 / slow.khz - 1 / fast.khz)
        return {
            name: (1 - share) * slow.events.get(name, 0.0) + share * fast.events.get(name, 0.0)
            for name in {**slow.events, **fast.events}
        }


def _khz(opp: OppEvents) -> int:
    return opp.khz


@dataclass(frozen=True)
class _Opp:
    instructions: int = key("that were counted", 1, 10**15)
    ns: float = key("of an instruction", 0.01, 100_000, "ns")
    events_per_instruction: Mapping[str, float] = key("McPAT's", 0, 100)


@dataclass(frozen=True, kw_only=True)
class _Cluster(Placed):
    conditions: str = key("the conditions of the measurement")
    cycles: float = key("of an instruction", 0.05, 1000, "cycles per instruction")
    memory_ns: float = key("that no clock shortens", 0, 1000, "ns per instruction")
    opps: Mapping[str, _Opp] = key("by the kHz of OPPs, one or more")

    def of(self, program: str, cluster: Cluster) -> ClusterEvents:
        """The same for a cluster, whose OPPs these must be."""
        known = {str(opp.khz): opp.khz for opp in cluster.opps}
        if not {*self.opps} & {*known}:
            raise self.place.error("opps", f"tables named by the kHz of {cluster.name}'s OPPs")
        self.place.inside("opps").only(known)
        opps = tuple(
            OppEvents(known[khz], own.instructions, own.ns, own.events_per_instruction)
            for khz in known
            if (own := self.opps.get(khz))
        )
        return ClusterEvents(program, cluster.name, self.cycles, self.memory_ns, opps)


@dataclass(frozen=True)
class EventsFile:
    """A program's file."""

    schema_version: ClassVar[int] = SCHEMA

    platform: str = key("the platform, by the place of the file", form=NAME)
    program: str = key("the program, by the place of the file", form=NAME)
    provenance: Mapping[str, str] = key("gem5, the program's packages and the command")
    clusters: Mapping[str, _Cluster] = key("rates by cluster, one or more")


def events_path(platform: Platform, program: str, directory: Path = ACTIVITY) -> Path:
    """The file of a program; ``directory`` is the one of the activity files."""
    return directory / FOLDER / platform.name / f"{program}.json"


def load_events_of(
    platform: Platform, program: str, directory: Path = ACTIVITY
) -> dict[str, ClusterEvents]:
    """The events of a program by cluster, of those on whose core it was measured, in order.

    :raises RequestError: when the file is wrong, or of another platform or program.
    """
    path = events_path(platform, program, directory)
    if not path.exists():
        return {}
    top = read_json(path)
    own = top.decoded(EventsFile)
    for name, is_own in (("platform", platform.name), ("program", program)):
        if top.data[name] != is_own:
            raise top.error(name, f"{is_own!r}, by the file's place")
    known = [cluster.name for cluster in platform.clusters]
    top.inside("clusters").only(known)
    return {
        cluster.name: own.clusters[cluster.name].of(program, cluster)
        for cluster in platform.clusters
        if cluster.name in own.clusters
    }


def encoded(events: ClusterEvents, conditions: str) -> dict[str, Any]:
    """The entry of a cluster in such a file."""
    return {
        "conditions": conditions,
        "cycles": events.cycles,
        "memory_ns": events.memory_ns,
        "opps": {
            str(opp.khz): {
                "instructions": opp.instructions,
                "ns": opp.ns,
                "events_per_instruction": dict(sorted(opp.events.items())),
            }
            for opp in events.opps
        },
    }
