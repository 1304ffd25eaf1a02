# SPDX-License-Identifier: GPL-2.0-or-later
"""Rates at which each core type runs a program: ``configs/activity/programs/PLATFORM``.

A program is named as scenarios name it (`experiments.scenario.program_kinds`). Its figures are
those of its own code and its libraries, not of the kernel that works for it. They have files of
their own: only runs of that program on the fast engine depend on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from eascope.configs.activity import ACTIVITY
from eascope.configs.platform import Cluster, Platform
from eascope.configs.system_activity import ORIGIN
from eascope.host.cache import canonical_json, sha256_bytes
from eascope.host.keys import NAME, Placed, key
from eascope.host.strict import read_json

#: Of these files.
SCHEMA = 1
#: The folder of these files, in that of the activity files.
FOLDER = "programs"
#: How far the time of an instruction may lie from what was measured at an OPP.
MOST_RESIDUAL = 0.05


@dataclass(frozen=True)
class ProgramSamples:
    """Samples of a program on a cluster's core at one OPP.

    :param instructions: of the program in all samples; ``cycles`` are theirs.
    :param interval: half the width of the mean's 95 % interval, relative to it.
    """

    khz: int
    count: int
    instructions: int
    cycles: int
    interval: float


@dataclass(frozen=True)
class ClusterProgram:
    """An instruction of a program on a cluster's core takes ``cycles / f + memory_ns``."""

    name: str
    cycles: float
    memory_ns: float
    samples: tuple[ProgramSamples, ...]

    def ns(self, khz: int) -> float:
        """Time of an instruction at ``khz``."""
        return self.cycles * 1e6 / khz + self.memory_ns


@dataclass(frozen=True)
class _Samples:
    count: int = key("samples that have the program's code", 1, 10**6)
    instructions: int = key("of all samples, in user space", 1, 10**15)
    cycles: int = key("of all samples, in user space", 1, 10**15)
    interval: float = key("half of the mean's 95 % interval, relative to it", 0, 10)


@dataclass(frozen=True, kw_only=True)
class _Times(Placed):
    cycles: float = key("of an instruction", 0.05, 1000, "cycles per instruction")
    memory_ns: float = key("that no clock shortens", 0, 1000, "ns per instruction")
    samples: Mapping[str, _Samples] = key("by the kHz of OPPs, one or more")

    def of(self, cluster: Cluster) -> ClusterProgram:
        """The same for a cluster, where it agrees with the samples."""
        known = {str(opp.khz): opp.khz for opp in cluster.opps}
        if not {*self.samples} & {*known}:
            raise self.place.error("samples", f"tables named by the kHz of {cluster.name}'s OPPs")
        self.place.inside("samples").only(known)
        there = [khz for khz in known if khz in self.samples]
        samples = [ProgramSamples(known[khz], **vars(self.samples[khz])) for khz in there]
        program = ClusterProgram(cluster.name, self.cycles, self.memory_ns, tuple(samples))
        for sample in samples:
            measured = sample.cycles / sample.instructions
            stated = program.ns(sample.khz) * sample.khz / 1e6
            if abs(stated / measured - 1) > MOST_RESIDUAL:
                allowed = (
                    f"such that an instruction takes {measured:.4g} cycles at {sample.khz} kHz "
                    f"within {MOST_RESIDUAL:.0%}, as measured, and not {stated:.4g}"
                )
                raise self.place.error("cycles", allowed)
        return program


@dataclass(frozen=True)
class ProgramFile:
    """A program's file."""

    schema_version: ClassVar[int] = SCHEMA

    platform: str = key("the platform, by the place of the file", form=NAME)
    program: str = key("the program, by the place of the file", form=NAME)
    provenance: Any = key("the cell that was sampled", table=ORIGIN)
    conditions: str = key("the conditions of the samples")
    clusters: Mapping[str, _Times] = key("times by cluster")


@dataclass(frozen=True)
class ProgramActivity:
    """A program's file; ``clusters`` are in the platform's order.

    ``provenance`` names gem5 and the command; ``conditions`` describes the samples in words.
    """

    program: str
    path: Path
    clusters: tuple[ClusterProgram, ...]
    conditions: str
    provenance: Mapping[str, str]
    digest: str


def program_path(platform: Platform, program: str, directory: Path = ACTIVITY) -> Path:
    """The file of a program; ``directory`` is the one of the activity files."""
    return directory / FOLDER / platform.name / f"{program}.json"


def load_program(
    platform: Platform, program: str, directory: Path = ACTIVITY
) -> ProgramActivity | None:
    """The figures of a program on ``platform``'s cores; None if there are none.

    :raises RequestError: when the file is wrong, or of another platform or program.
    """
    path = program_path(platform, program, directory)
    if not path.exists():
        return None
    top = read_json(path)
    own = top.decoded(ProgramFile)
    for name, is_own in (("platform", platform.name), ("program", program)):
        if top.data[name] != is_own:
            raise top.error(name, f"{is_own!r}, by the file's place")
    top.inside("clusters").exactly([cluster.name for cluster in platform.clusters])
    clusters = tuple(own.clusters[cluster.name].of(cluster) for cluster in platform.clusters)
    digest = sha256_bytes(canonical_json(top.data))
    return ProgramActivity(program, path, clusters, own.conditions, vars(own.provenance), digest)
