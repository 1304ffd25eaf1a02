# SPDX-License-Identifier: GPL-2.0-or-later
"""Activity of platforms without measurements: by core type, from measured platforms.

A core executes the kernel at the same rate on another board if its caches are alike. So a platform
without its own files has the rates of the first platform that measured the same core. Its base
comes before other platforms. Inherited rates are marked, in records and on the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from eascope.configs.activity import (
    ACTIVITY,
    Activity,
    ClusterActivity,
    KernelActivity,
    has_activity,
    load_activity,
)
from eascope.configs.core import CORES
from eascope.configs.platform import Cluster, Platform
from eascope.configs.platform_file import PLATFORMS, load_platform
from eascope.host.cache import digest_of
from eascope.host.errors import RequestError


@dataclass(frozen=True)
class Donor:
    """A platform with its own files."""

    platform: Platform
    activity: Activity

    def like(self, cluster: Cluster) -> Iterator[Cluster]:
        """Its clusters with the core of ``cluster``."""
        return (other for other in self.platform.clusters if other.core.name == cluster.core.name)


def activity_of(platform: Platform, directory: Path = ACTIVITY) -> Activity:
    """The activity of ``platform``: its own, completed by other platforms' measurements.

    :raises RequestError: as `load_activity`.
    """
    own = has_activity(platform.name, directory)
    activity = load_activity(platform, directory) if own else None
    if activity is not None and all(speeds.system_ipc is not None for speeds in activity.clusters):
        return activity
    donors = _donors(platform, directory)
    if activity is None:
        activity = _as_capacities_say(platform, donors, directory)
    clusters = tuple(
        speeds if speeds.system_ipc is not None else _with_system_rate(speeds, cluster, donors)
        for speeds, cluster in zip(activity.clusters, platform.clusters, strict=True)
    )
    if clusters == activity.clusters:
        return activity
    rates = [speeds.system_ipc for speeds in clusters]
    digest = digest_of({"activity": activity.digest, "inherited": rates})
    return replace(activity, clusters=clusters, digest=digest)


def _donors(platform: Platform, directory: Path) -> list[Donor]:
    """Platforms with an activity file, the base of ``platform`` first.

    One whose files are wrong gives nothing, but what is wrong with the base is an error.
    """
    donors = []
    names = sorted(path.stem for path in directory.glob("*.json"))
    for name in sorted(names, key=lambda name: name != platform.base):
        if name == platform.name:
            continue
        try:
            donors.append(_donor(name, directory, _state_of_files(directory)))
        except RequestError:
            if name == platform.base:
                raise
    return donors


@lru_cache
def _donor(name: str, directory: Path, state: tuple[tuple[str, int, int], ...]) -> Donor:
    """The donor ``name``: a campaign asks for it once for each of its platforms.

    :param state: of the files that it is read from.
    """
    other = load_platform(name)
    return Donor(other, load_activity(other, directory))


def _state_of_files(directory: Path) -> tuple[tuple[str, int, int], ...]:
    """Name, length and time of every file that a donor is read from."""
    files = [path for root in (directory, PLATFORMS, CORES) for path in root.rglob("*.*")]
    states = ((str(path), path.stat()) for path in sorted(files))
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in states)


def _as_capacities_say(platform: Platform, donors: Sequence[Donor], directory: Path) -> Activity:
    """The busy loop in the ratio of the capacities, as every platform has it at board's speeds.

    How much capacity is one instruction per cycle is the base's to say, or else that of the first
    donor with a core of ``platform``: capacities per MHz have no unit of their own.
    """
    loop = donors[0].activity
    capacity, ipc, words = _scale(platform, donors)
    clusters = tuple(
        ClusterActivity(
            cluster.name,
            cluster.capacity_dmips_mhz * ipc / capacity,
            f"assumed: capacity per MHz {cluster.capacity_dmips_mhz}, where {capacity} is "
            f"{ipc:g} ({words})",
        )
        for cluster in platform.clusters
    )
    measured = tuple(entry for cluster in platform.clusters for entry in _measured(cluster, donors))
    figures = {
        "ipc": [entry.ipc for entry in clusters],
        "iteration_instructions": loop.iteration_instructions,
        "measured": [
            [entry.kernel, entry.cluster, *entry.ipc.items(), entry.events] for entry in measured
        ],
    }
    return Activity(
        platform=platform.name,
        path=directory / f"{platform.name}.json",
        clusters=clusters,
        iteration_instructions=loop.iteration_instructions,
        iteration_source=loop.iteration_source,
        digest=digest_of(figures),
        measured=measured,
        hardware=_hardware(platform, donors),
    )


def _hardware(platform: Platform, donors: Sequence[Donor]) -> tuple[ClusterActivity, ...]:
    """The busy loop on boards with the same cores; nothing where one core is on none of them."""
    clusters = []
    for cluster in platform.clusters:
        same = (
            donor.activity.hardware[other.index]
            for donor in donors
            if donor.activity.hardware
            for other in donor.like(cluster)
        )
        if (entry := next(same, None)) is None:
            return ()
        clusters.append(replace(entry, name=cluster.name))
    return tuple(clusters)


def _scale(platform: Platform, donors: Sequence[Donor]) -> tuple[int, float, str]:
    """A capacity per MHz, the busy loop's instructions per cycle at it, and whose they are."""
    base = donors[0]
    if base.platform.name == platform.base:
        first = base.platform.clusters[0]
        rate = base.activity.ipc(first)
        return first.capacity_dmips_mhz, rate, f"{base.platform.name}'s {first.name}"
    for cluster in platform.clusters:
        for donor in donors:
            for like in donor.like(cluster):
                words = f"{donor.platform.name}'s {cluster.core.name}"
                return cluster.capacity_dmips_mhz, donor.activity.ipc(like), words
    smallest = min(cluster.capacity_dmips_mhz for cluster in platform.clusters)
    return smallest, 1.0, "no platform has any of its cores: one instruction per cycle"


def _measured(cluster: Cluster, donors: Sequence[Donor]) -> Iterator[KernelActivity]:
    """Workload kernels on the core of ``cluster``; its OPPs have the rates of the nearest ones."""
    for donor in donors:
        for like in donor.like(cluster):
            kernels = [entry for entry in donor.activity.measured if entry.cluster == like.name]
            for entry in kernels:
                rates = {
                    opp.khz: entry.ipc[min(entry.ipc, key=lambda khz: abs(khz - opp.khz))]
                    for opp in cluster.opps
                }
                yield replace(entry, cluster=cluster.name, ipc=rates)
            if kernels:
                return


def _with_system_rate(
    entry: ClusterActivity, cluster: Cluster, donors: Sequence[Donor]
) -> ClusterActivity:
    """``entry`` with the rate of everything but the busy loop, where a platform has measured it."""
    for donor in donors:
        for like in donor.like(cluster):
            rate = donor.activity.clusters[like.index].system_ipc
            if rate is not None:
                whose = f"{donor.platform.name}'s {like.name} ({cluster.core.name})"
                return replace(entry, system_ipc=rate, system_inherited=whose)
    return entry
