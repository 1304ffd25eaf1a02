# SPDX-License-Identifier: GPL-2.0-or-later
"""Activity: how fast each core type runs a workload kernel, from ``configs/activity/*.json``.

The fast engine takes its speed from it (frequency x instructions per cycle) and rt-app's loops
per microsecond follow from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eascope.configs.knobs import ALL_CORES, HARDWARE, SPEEDS
from eascope.configs.platform import Cluster, Platform
from eascope.configs.source import source_text
from eascope.configs.system_activity import load_system
from eascope.host.cache import canonical_json, digest_of, sha256_bytes
from eascope.host.errors import RequestError, unknown
from eascope.host.strict import StrictTable, read_json, shown_path

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
    ipc: float
    source: str
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
    """Whether the platform ``name`` has a file; without one, it inherits all speeds by core."""
    return (directory / f"{name}.json").exists()


def load_activity(platform: Platform, directory: Path = ACTIVITY) -> Activity:
    """The activity of ``platform``, with the measured rate of system code if there is one.

    :raises RequestError: when the file is missing, or one is wrong or of another platform.
    """
    path = directory / f"{platform.name}.json"
    top = read_json(path)
    top.integer("schema", 1, 1)
    if top.name("platform") != platform.name:
        raise top.error("platform", f"{platform.name!r}, the file's own name")
    loop = top.table("busy_loop")
    iteration_instructions = loop.integer("iteration_instructions", 1, 1_000_000)
    iteration_source = source_text(loop)
    loop.finish()
    table = top.table("clusters")
    system = load_system(platform, directory)
    rates = [None] * len(platform.clusters) if system is None else system.ipc
    clusters = []
    for cluster, rate in zip(platform.clusters, rates, strict=True):
        entry = table.table(cluster.name)
        ipc = entry.number("ipc", 0.01, 16, "instructions per cycle")
        clusters.append(ClusterActivity(cluster.name, ipc, source_text(entry), rate))
        entry.finish()
    table.finish()
    measured = _read_measured(top.table("measured"), platform) if top.has("measured") else ()
    hardware: tuple[ClusterActivity, ...] = ()
    if top.has(HARDWARE):
        hardware = _read_hardware(top.table(HARDWARE), tuple(clusters), iteration_instructions)
    top.finish()
    digest = sha256_bytes(canonical_json(top.data))
    if system is not None:
        digest = digest_of({"activity": digest, "system": system.digest})
    return Activity(
        *(
            platform.name,
            path,
            tuple(clusters),
            iteration_instructions,
            iteration_source,
            digest,
            measured,
        ),
        hardware=hardware,
    )


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


def _read_hardware(
    table: StrictTable, clusters: tuple[ClusterActivity, ...], iteration_instructions: int
) -> tuple[ClusterActivity, ...]:
    """Cycles of an iteration of the busy loop on the board, as instructions per cycle."""
    source = source_text(table)
    cycles = table.table("iteration_cycles")
    hardware = tuple(
        replace(
            cluster,
            ipc=iteration_instructions / cycles.number(cluster.name, 1, 100_000, "cycles"),
            source=source,
        )
        for cluster in clusters
    )
    cycles.finish()
    table.finish()
    return hardware


def _read_measured(table: StrictTable, platform: Platform) -> tuple[KernelActivity, ...]:
    """What ``eascope characterise`` wrote: every kernel on every cluster at every OPP."""
    provenance = table.table("provenance")
    for key in provenance.data:
        provenance.text(key)
    provenance.finish()
    table.text("conditions")
    kernels = table.table("kernels")
    entries = []
    for kernel in kernels.data:
        clusters = kernels.table(kernel)
        for cluster in platform.clusters:
            entry = clusters.table(cluster.name)
            rates, events = entry.table("ipc"), entry.table("events_per_instruction")
            ipc = {
                opp.khz: rates.number(str(opp.khz), 0.0001, 16, "instructions per cycle")
                for opp in cluster.opps
            }
            counts = {name: events.number(name, 0, 100) for name in events.data}
            for part in (rates, events, entry):
                part.finish()
            entries.append(KernelActivity(kernel, cluster.name, ipc, counts))
        clusters.finish()
    for part in (kernels, table):
        part.finish()
    return tuple(entries)


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
