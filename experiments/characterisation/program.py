# SPDX-License-Identifier: GPL-2.0-or-later
"""Time of a program's instruction on gem5's detailed cores, from samples of its steady state.

A copy of the program runs on the first CPU of each cluster, alone there, with the arguments of the
first shipped scenario that has it. It starts on atomic CPUs. The machine is saved when the warm-up
is over. From there the detailed cores go on, at one OPP after the other, and samples record what
they execute.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eascope.configs.activity import ACTIVITY
from eascope.configs.platform import Cluster, Platform
from eascope.configs.program_activity import MOST_RESIDUAL
from eascope.engines.gem5.engine import Gem5Engine
from eascope.engines.gem5.inside.request import SampleTimes
from eascope.engines.gem5.provider import find_gem5
from eascope.engines.gem5.samples import CpuSample
from eascope.engines.gem5.settings import machine_settings
from eascope.experiments.characterisation.program_record import write_program
from eascope.experiments.characterisation.program_time import (
    MOST_INTERVAL,
    ProgramTime,
    program_time,
)
from eascope.experiments.runs.cell import machine_of
from eascope.experiments.runs.request import Request, Resolved, resolve
from eascope.experiments.scenario import members
from eascope.experiments.scenario import names as scenario_names
from eascope.experiments.scenario.program import Program
from eascope.experiments.scenario.program_kinds import KINDS, Kind
from eascope.experiments.scenario_file import load_scenario
from eascope.host.errors import EascopeError, RequestError, unknown
from eascope.host.proc import Step, say

VARIANT, MODE = "mainline", "detailed"
#: Simulated time on atomic CPUs before the first sample: programs load, link and reach their loops.
WARMUP_US = 60_000
#: Time with cold caches, predictors and TLBs after that, on detailed CPUs, without samples.
FIRST_NS = 2_000_000
EVERY_NS, LENGTH_NS = 100_000, 20_000
#: At each OPP, and of that the time after a change in which no sample counts.
LEVEL_US, SETTLE_NS = 2_500, 500_000
#: OPPs of a cluster that are measured: the slowest, the fastest, and others between them.
LEVELS = 5
#: How often all OPPs are gone through, one attempt after the other, until the samples suffice.
SWEEPS = (1, 2, 4)
#: What a change of all OPPs itself takes, at most.
CHANGE_US = 400
#: Simulated ms a host second on detailed CPUs, about, for the estimate.
SAMPLED_MS_PER_S = 0.1

_POLICY = "/sys/devices/system/cpu/cpufreq/policy"


@dataclass(frozen=True)
class Sampled:
    """A program that is to be sampled: its cell, and its copies by the platform's clusters."""

    kind: str
    resolved: Resolved
    copies: tuple[Program, ...]


def sampled(platform: Platform, kind: str) -> Sampled:
    """What `measure_program` runs.

    :raises RequestError: no such program, or one that cannot run alone.
    """
    if kind not in KINDS:
        raise unknown("program", kind, KINDS)
    scenario, program = _first(platform, kind)
    request = Request(
        platform=platform.name,
        variant=VARIANT,
        scenario=scenario,
        engine="gem5",
        mode=MODE,
        full=True,
    )
    copies = tuple(
        replace(program, name=f"copy{cluster.index}", cpus=(cluster.cpus[0],))
        for cluster in platform.clusters
    )
    return Sampled(kind, resolve(request), copies)


def _first(platform: Platform, kind: str) -> tuple[str, Program]:
    """The first shipped scenario that fits the platform and has the program; its entry there.

    Those of ``programs/`` come first: elsewhere a program is one of several.
    """
    known: dict[str, tuple[str, Program]] = {}
    for name in sorted(scenario_names.names(), key=lambda name: not name.startswith("programs/")):
        try:
            programs = load_scenario(name, platform).programs
        except RequestError:  # names a cluster that the platform does not have
            continue
        for program in programs:
            if program.member is not None and not _served(program.kind):
                known.setdefault(program.run, (name, program))
    if kind in known:
        return known[kind]
    reason = f"no shipped scenario of {platform.name} has it"
    if _served(KINDS[kind]):
        reason = "a server and its clients do not run alone"
    elif KINDS[kind].arguments is None:
        reason = "only programs of the programs image are measured"
    raise RequestError(f"program {kind!r}: {reason}: allowed: {', '.join(sorted(known))}")


def _served(kind: Kind) -> bool:
    return bool(kind.server or kind.is_server)


def levels(cluster: Cluster, most: int = LEVELS) -> list[int]:
    """The kHz at which a cluster is measured, from the slowest on."""
    last = len(cluster.opps) - 1
    count = min(most, len(cluster.opps))
    places = {round(number * last / max(1, count - 1)) for number in range(count)}
    return [cluster.opps[place].khz for place in sorted(places)]


def script(asked: Sampled) -> bytes:
    """The agent's script: start the copies, warm up, then all OPPs, again and again."""
    platform, scenario = asked.resolved.platform, asked.resolved.scenario
    lines = [
        "eascope-script 1",
        *(f"write {path} {value}" for path, value in asked.resolved.variant.switches),
        # Copies have no groups, and no servers.
        *members.setup(replace(scenario, programs=()), full=True),
        *(f"spawn {copy.name} {members.command(copy, True, 0)}" for copy in asked.copies),
        f"sleep-us {WARMUP_US}",
        *(f"write {_policy(cluster)}/scaling_governor userspace" for cluster in platform.clusters),
        "start",
        f"sleep-us {FIRST_NS // 1000}",
        *(line for _ in range(max(SWEEPS)) for line in _sweep(platform)),
        # Samples end before this does.
        "sleep-ms 60000",
        "exit",
    ]
    return ("\n".join(lines) + "\n").encode()


def _policy(cluster: Cluster) -> str:
    return f"{_POLICY}{cluster.cpus[0]}"


def _sweep(platform: Platform) -> Iterator[str]:
    """Lines that set one OPP after the other, on all clusters at once."""
    own = [levels(cluster) for cluster in platform.clusters]
    for level in range(max(map(len, own))):
        for cluster, speeds in zip(platform.clusters, own, strict=True):
            if level < len(speeds):
                yield f"write {_policy(cluster)}/scaling_setspeed {speeds[level]}"
        yield f"sleep-us {LEVEL_US}"


def times(platform: Platform, sweeps: int) -> SampleTimes:
    """The samples that cover ``sweeps`` of all OPPs."""
    count = max(len(levels(cluster)) for cluster in platform.clusters)
    length_ns = sweeps * count * (LEVEL_US + CHANGE_US) * 1000
    return {
        "first_ns": FIRST_NS,
        "every_ns": EVERY_NS,
        "length_ns": LENGTH_NS,
        "count": length_ns // EVERY_NS,
    }


def evaluate(platform: Platform, kind: str, samples: Sequence[CpuSample]) -> list[ProgramTime]:
    """The time of an instruction on each cluster's core.

    :raises EascopeError: a cluster at less than two of its OPPs, or with too few instructions.
    """
    return [
        program_time(kind, cluster, _settled(cluster, samples)) for cluster in platform.clusters
    ]


def _settled(cluster: Cluster, samples: Sequence[CpuSample]) -> Iterator[CpuSample]:
    """The samples of a cluster's copy that do not follow a change of its clock closely."""
    khz, since = 0, 0
    for sample in samples:
        if sample.cpu != cluster.cpus[0]:
            continue
        if sample.khz != khz:
            khz, since = sample.khz, sample.begin
        # Ticks are ps.
        if khz and sample.begin - since >= SETTLE_NS * 1000:
            yield sample


def measure_program(platform: Platform, kind: str, directory: Path = ACTIVITY) -> Path:
    """Sample a program, with more samples until the figures are exact enough; the file written.

    :raises EascopeError: gem5 failed, or the program gives no steady figures.
    """
    asked = sampled(platform, kind)
    # First: they fail in no time, where a kernel takes minutes.
    find_gem5()
    machine_settings(platform, MODE)
    engine = Gem5Engine(mode=MODE)
    machine = machine_of(asked.resolved, script(asked))
    say(f"{kind}: as in {asked.resolved.request.scenario}, a copy on each cluster")
    for sweeps in SWEEPS:
        wanted = times(platform, sweeps)
        covered_ms = (wanted["first_ns"] + wanted["count"] * EVERY_NS) / 1e6
        label = f"{kind} on gem5's detailed cores of {platform.name}: {wanted['count']} samples"
        with (
            tempfile.TemporaryDirectory(prefix="eascope-characterise-") as folder,
            Step(label, covered_ms / SAMPLED_MS_PER_S),
        ):
            samples = engine.sample(machine, Path(folder), wanted)
        measured = evaluate(platform, kind, samples)
        widest = max(cluster.interval for cluster in measured)
        farthest = max(cluster.residual for cluster in measured)
        say(f"widest 95 % interval {widest:.1%} of the mean, farthest from the fit {farthest:.1%}")
        if widest <= MOST_INTERVAL and farthest <= MOST_RESIDUAL:
            return write_program(platform, kind, measured, provenance(asked, engine), directory)
    raise EascopeError(
        f"{kind} on {platform.name}: after {wanted['count']} samples a mean's 95 % interval is "
        f"{widest:.1%} of it, and an OPP is {farthest:.1%} from the fit; the limits are "
        f"{MOST_INTERVAL:.0%} and {MOST_RESIDUAL:.0%}: the program has no steady state"
    )


def provenance(asked: Sampled, engine: Gem5Engine) -> dict[str, str]:
    """The inputs of the figures."""
    identity, request = engine.identity(), asked.resolved.request
    return {
        "gem5": identity.version,
        "gem5_sha256": identity.binary_sha256,
        "scenario": request.scenario,
        "variant": request.variant,
        "mode": MODE,
        "command": f"eascope characterise {request.platform} --program {asked.kind}",
    }
