# SPDX-License-Identifier: GPL-2.0-or-later
"""Activity: how fast each core type runs a workload kernel, from ``configs/activity/*.json``.

The fast engine takes its speed from it (frequency x instructions per cycle) and rt-app's loops
per microsecond follow from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from eascope.configs.knobs import ALL_CORES, HARDWARE, SPEEDS
from eascope.configs.platform import Cluster, Platform
from eascope.configs.source import SOURCE
from eascope.configs.system_activity import load_system
from eascope.host.cache import canonical_json, digest_of, sha256_bytes
from eascope.host.errors import RequestError, unknown
from eascope.host.keys import NAME, Place, key, maybe
from eascope.host.strict import read_json, shown_path

ACTIVITY = Path(__file__).resolve().parent / "activity"

#: rt-app's busy loop, as ``eascope characterise`` calls it.
BUSY_LOOP = "busy_loop"

#: How far the device tree's relative capacities may lie from the engine's speeds.
CAPACITY_TOLERANCE = 0.01


@dataclass(frozen=True)
class ClusterActivity:
    """Instructions per cycle of the busy loop on a cluster's core, and their source.

    ``system_ipc`` is that of all other code, mainly the kernel. It is None if it was not measured;
    the busy loop's then counts. ``system_inherited`` names the platform whose figure it is, if it
    is another one's.
    """

    name: str
    ipc: float = key("at the board's speeds", 0.01, 16, "instructions per cycle")
    source: str = key("where it is from", form=SOURCE)
    system_ipc: float | None = None
    system_inherited: str = ""


@dataclass(frozen=True)
class KernelActivity:
    """Rates of one workload kernel on a cluster's core, measured on gem5's detailed cores.

    ``ipc`` is instructions per cycle by kHz, ``events`` McPAT's events per instruction at the
    fastest OPP.
    """

    kernel: str
    cluster: str
    ipc: Mapping[int, float]
    events: Mapping[str, float]


@dataclass(frozen=True)
class _Loop:
    iteration_instructions: int = key("instructions of one iteration", 1, 1_000_000)
    source: str = key("where it is from", form=SOURCE)


@dataclass(frozen=True)
class _Hardware:
    iteration_cycles: Mapping[str, float] = key("of an iteration, by cluster", 1, 100_000, "cycles")
    source: str = key("who measured it", form=SOURCE)


@dataclass(frozen=True)
class _Kernel:
    ipc: Mapping[str, float] = key("at each OPP, by kHz", 0.0001, 16, "instructions per cycle")
    events_per_instruction: Mapping[str, float] = key("McPAT's, at the fastest OPP", 0, 100)


@dataclass(frozen=True)
class _Measured:
    provenance: Mapping[str, str] = key("gem5, machine, programs and command")
    conditions: str = key("the conditions of the measurement")
    kernels: Mapping[str, Mapping[str, _Kernel]] = key("rates by workload kernel and cluster")


@dataclass(frozen=True, kw_only=True)
class ActivityFile:
    """A platform's file."""

    schema_version: ClassVar[int] = 1

    platform: str = key("the platform; also the name of the file", form=NAME)
    busy_loop: _Loop = key("rt-app's busy loop")
    clusters: Mapping[str, ClusterActivity] = key("its speeds, by cluster", label="name")
    measured: _Measured | None = maybe("for `--speeds measured`: gem5's cores")
    hardware: _Hardware | None = maybe("for `--speeds hardware`: the board itself")


@dataclass(frozen=True)
class Activity:
    """Activity of a platform; ``clusters`` are in the platform's order.

    ``iteration_instructions`` is the number of instructions of one iteration of rt-app's busy loop.
    ``measured`` is from ``eascope characterise``. ``clusters`` has the rates of the engines, which
    may differ. ``hardware`` is the busy loop on the board itself, where it is known.
    """

    platform: str
    path: Path
    clusters: tuple[ClusterActivity, ...]
    iteration_instructions: int
    iteration_source: str
    digest: str
    measured: tuple[KernelActivity, ...] = ()
    hardware: tuple[ClusterActivity, ...] = ()

    def ipc(self, cluster: Cluster) -> float:
        """Instructions per cycle of the busy loop on ``cluster``."""
        return self.clusters[cluster.index].ipc

    def system_ipc(self, cluster: Cluster) -> float:
        """Instructions per cycle on ``cluster`` of everything but the busy loop."""
        entry = self.clusters[cluster.index]
        return entry.ipc if entry.system_ipc is None else entry.system_ipc

    def instructions_per_us(self, cluster: Cluster, khz: int) -> float:
        """Instructions of the busy loop per microsecond on ``cluster`` at ``khz``."""
        return self.ipc(cluster) * khz / 1000

    @property
    def assumed(self) -> tuple[str, ...]:
        """One line for each cluster whose figure is not measured, for records and reports."""
        return tuple(
            f"{entry.name}: instructions per cycle {entry.ipc:.4f}: {entry.source}"
            for entry in self.clusters
            if not entry.source.startswith("measured")
        )

    @property
    def assumed_system(self) -> tuple[str, ...]:
        """The same for all other code; only the fast engine takes its rate from here."""
        return tuple(
            f"{entry.name}: the kernel's instructions per cycle: {words}"
            for entry in self.clusters
            if (words := _system_words(entry, self.platform))
        )


def _system_words(entry: ClusterActivity, platform: str) -> str:
    """Where the rate of all but the busy loop comes from, unless ``platform`` measured it."""
    if entry.system_ipc is None:
        return f"as the busy loop's; eascope characterise {platform} measures them"
    if entry.system_inherited:
        return f"{entry.system_ipc:.4f}, inherited from {entry.system_inherited}"
    return ""


def has_activity(name: str, directory: Path = ACTIVITY) -> bool:
    """True if the platform ``name`` has a file; without one, it inherits all speeds by core."""
    return (directory / f"{name}.json").exists()


def load_activity(platform: Platform, directory: Path = ACTIVITY) -> Activity:
    """The activity of ``platform``, with the measured rate of system code if there is one.

    :raises RequestError: when the file is missing, or one is wrong or of another platform.
    """
    path = directory / f"{platform.name}.json"
    top = read_json(path)
    own = top.decoded(ActivityFile)
    if own.platform != platform.name:
        raise top.error("platform", f"{platform.name!r}, the file's own name")
    names, loop = [cluster.name for cluster in platform.clusters], own.busy_loop
    top.inside("clusters").exactly(names)
    system = load_system(platform, directory)
    rates = [None] * len(names) if system is None else system.ipc
    speeds = zip(names, rates, strict=True)
    clusters = [replace(own.clusters[name], system_ipc=rate) for name, rate in speeds]
    hardware: tuple[ClusterActivity, ...] = ()
    if board := own.hardware:
        top.inside(HARDWARE).inside("iteration_cycles").exactly(names)
        iteration = {
            name: loop.iteration_instructions / board.iteration_cycles[name] for name in names
        }
        hardware = tuple(replace(c, ipc=iteration[c.name], source=board.source) for c in clusters)
    measured = (
        tuple(_measured(own.measured, top.inside("measured"), platform)) if own.measured else ()
    )
    digest = sha256_bytes(canonical_json(top.data))
    if system is not None:
        digest = digest_of({"activity": digest, "system": system.digest})
    return Activity(
        *(platform.name, path, tuple(clusters), loop.iteration_instructions, loop.source),
        *(digest, measured, hardware),
    )


def _measured(own: _Measured, place: Place, platform: Platform) -> Iterator[KernelActivity]:
    """What ``eascope characterise`` wrote: every kernel on every cluster at every OPP."""
    names, kernels = [cluster.name for cluster in platform.clusters], place.inside("kernels")
    for kernel, table in own.kernels.items():
        clusters = kernels.inside(kernel)
        clusters.exactly(names)
        for cluster in platform.clusters:
            rates, khz = table[cluster.name], {str(opp.khz): opp.khz for opp in cluster.opps}
            clusters.inside(cluster.name).inside("ipc").exactly(khz, "a number in 0.0001..16")
            ipc = {khz[name]: rates.ipc[name] for name in khz}
            yield KernelActivity(kernel, cluster.name, ipc, rates.events_per_instruction)


def measured_ipc(platform: Platform, activity: Activity) -> tuple[float, ...]:
    """IPC of the busy loop on gem5's cores, at each cluster's fastest OPP; others hardly differ.

    :raises RequestError: when the platform's cores were not characterised.
    """
    loops = {entry.cluster: entry for entry in activity.measured if entry.kernel == BUSY_LOOP}
    if len(loops) != len(platform.clusters):
        raise RequestError(
            f"speeds measured: {shown_path(activity.path)} has none: allowed: board, or after "
            f"eascope characterise {platform.name}: {', '.join(SPEEDS)}"
        )
    return tuple(loops[cluster.name].ipc[cluster.max_khz] for cluster in platform.clusters)


def with_speeds(platform: Platform, ipc: Sequence[float], source: str) -> Platform:
    """``platform`` with the ``capacity_dmips_mhz`` that fit ``ipc``; the largest cluster keeps its.

    :param ipc: work per cycle of each cluster's CPUs, in any unit.
    """
    largest = platform.largest
    clusters = tuple(
        replace(
            cluster,
            capacity_dmips_mhz=round(largest.capacity_dmips_mhz * rate / ipc[largest.index]),
            capacity_source=source,
        )
        for cluster, rate in zip(platform.clusters, ipc, strict=True)
    )
    return replace(platform, clusters=clusters)


def at_measured_speeds(platform: Platform, activity: Activity) -> tuple[Platform, Activity]:
    """Both with the busy loop's speeds on gem5's cores, and with the capacities that fit.

    System code keeps its IPC; where that was not measured, it remains the loop's. Digests change.

    :raises RequestError: as `measured_ipc`.
    """
    measured = measured_ipc(platform, activity)
    source = "measured: rt-app's busy loop at the fastest OPP on gem5's models of the cores"
    speeds = tuple(
        replace(cluster, ipc=ipc, source=source)
        for cluster, ipc in zip(activity.clusters, measured, strict=True)
    )
    choice = {"speeds": "measured"}
    return (
        replace(
            with_speeds(platform, measured, source),
            digest=digest_of({"platform": platform.digest, **choice}),
        ),
        replace(
            activity, clusters=speeds, digest=digest_of({"activity": activity.digest, **choice})
        ),
    )


def at_kernel_rate(
    platform: Platform, activity: Activity, percent: int, cores: str = ALL_CORES
) -> Activity:
    """``activity`` with ``percent`` of the rate of everything but the busy loop.

    :param cores: on which: `ALL_CORES`, or one of `configs.core.PIPELINES`.
    :raises RequestError: when the platform has no such cores.
    """
    kinds = [cluster.core.pipeline for cluster in platform.clusters]
    if cores not in (ALL_CORES, *kinds):
        raise unknown("cores", cores, (ALL_CORES, *dict.fromkeys(kinds)))
    clusters = tuple(
        replace(
            entry,
            system_ipc=(entry.ipc if entry.system_ipc is None else entry.system_ipc)
            * percent
            / 100,
        )
        if cores in (ALL_CORES, kind)
        else entry
        for entry, kind in zip(activity.clusters, kinds, strict=True)
    )
    changed = {"activity": activity.digest, "kernel_rate_percent": percent}
    digest = digest_of(changed if cores == ALL_CORES else {**changed, "kernel_rate_of": cores})
    return replace(activity, clusters=clusters, digest=digest)


def at_hardware_speeds(activity: Activity) -> Activity:
    """The busy loop's speeds on the board itself; the device tree keeps its capacities.

    A board's device tree states capacities for all code, so a kernel there gets a ratio that this
    loop does not have.

    :raises RequestError: when nobody measured the loop on the board.
    """
    if not activity.hardware:
        raise RequestError(
            f"speeds {HARDWARE}: {shown_path(activity.path)} has none: allowed: "
            f"{', '.join(speeds for speeds in SPEEDS if speeds != HARDWARE)}"
        )
    return replace(
        activity,
        clusters=tuple(
            replace(cluster, ipc=board.ipc, source=board.source)
            for cluster, board in zip(activity.clusters, activity.hardware, strict=True)
        ),
        digest=digest_of({"activity": activity.digest, "speeds": HARDWARE}),
    )


def check_capacity(platform: Platform, activity: Activity) -> None:
    """Refuse a platform whose device tree would state wrong relative speeds of the engine.

    For each cluster, capacity_dmips_mhz x f_max and IPC x f_max, both relative to the largest
    cluster's, must agree within `CAPACITY_TOLERANCE`: EAS must not be lied to by accident.

    :raises RequestError: naming the cluster, its capacity and the one that would fit.
    """
    largest = platform.largest
    for cluster in platform.clusters:
        stated = (cluster.capacity_dmips_mhz * cluster.max_khz) / (
            largest.capacity_dmips_mhz * largest.max_khz
        )
        run = (activity.ipc(cluster) * cluster.max_khz) / (activity.ipc(largest) * largest.max_khz)
        if abs(stated / run - 1) > CAPACITY_TOLERANCE:
            fits = largest.capacity_dmips_mhz * activity.ipc(cluster) / activity.ipc(largest)
            raise RequestError(
                f"{shown_path(platform.path)}: cluster[{cluster.index}].capacity_dmips_mhz = "
                f"{cluster.capacity_dmips_mhz}: allowed: {fits:.0f} within "
                f"{CAPACITY_TOLERANCE:.0%}, the engine's speed by the instructions per cycle "
                f"in {shown_path(activity.path)} ({activity.ipc(cluster):.4f}; {largest.name} has "
                f"{activity.ipc(largest):.4f})"
            )
