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

from eascope.configs.activity import ACTIVITY
from eascope.configs.platform import Cluster, Platform
from eascope.host.cache import canonical_json, sha256_bytes
from eascope.host.strict import StrictTable, read_json

#: Of these files.
SCHEMA = 1
#: The folder of these files, in that of the activity files.
FOLDER = "programs"
#: How far the time of an instruction may lie from what was measured at an OPP.
MOST_RESIDUAL = 0.05
#: Where the figures come from: keys of ``provenance`` whose values are texts.
PROVENANCE = ("gem5", "gem5_sha256", "scenario", "variant", "mode", "command")


@dataclass(frozen=True)
class ProgramSamples:
    """Samples of a program on a cluster's core at one OPP.

    :param count: the number of samples.
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
    top.integer("schema", SCHEMA, SCHEMA)
    for key, own in (("platform", platform.name), ("program", program)):
        if top.name(key) != own:
            raise top.error(key, f"{own!r}, by the file's place")
    origin = top.table("provenance")
    provenance = {key: origin.text(key) for key in PROVENANCE}
    origin.finish()
    conditions = top.text("conditions")
    table = top.table("clusters")
    clusters = tuple(
        _read_cluster(table.table(cluster.name), cluster) for cluster in platform.clusters
    )
    for part in (table, top):
        part.finish()
    digest = sha256_bytes(canonical_json(top.data))
    return ProgramActivity(program, path, clusters, conditions, provenance, digest)


def _read_cluster(entry: StrictTable, cluster: Cluster) -> ClusterProgram:
    cycles = entry.number("cycles", 0.05, 1000, "cycles per instruction")
    memory_ns = entry.number("memory_ns", 0, 1000, "ns per instruction")
    table = entry.table("samples")
    samples = tuple(
        _read_samples(table.table(str(opp.khz)), opp.khz)
        for opp in cluster.opps
        if table.has(str(opp.khz))
    )
    if not samples:
        raise entry.error("samples", f"tables named by the kHz of {cluster.name}'s OPPs")
    for part in (table, entry):
        part.finish()
    read = ClusterProgram(cluster.name, cycles, memory_ns, samples)
    for sample in samples:
        measured = sample.cycles / sample.instructions
        stated = read.ns(sample.khz) * sample.khz / 1e6
        if abs(stated / measured - 1) > MOST_RESIDUAL:
            allowed = (
                f"such that an instruction takes {measured:.4g} cycles at {sample.khz} kHz within "
                f"{MOST_RESIDUAL:.0%}, as measured, and not {stated:.4g}"
            )
            raise entry.error("cycles", allowed)
    return read


def _read_samples(entry: StrictTable, khz: int) -> ProgramSamples:
    samples = ProgramSamples(
        khz=khz,
        count=entry.integer("count", 1, 10**6),
        instructions=entry.integer("instructions", 1, 10**15),
        cycles=entry.integer("cycles", 1, 10**15),
        interval=entry.number("interval", 0, 10),
    )
    entry.finish()
    return samples
