# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose recording it is: clusters, capacities and clocks of the recorded device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from eascope.analysis.recordings.tables import Ints, Recording, RecordingError
from eascope.configs.platform import Platform
from eascope.configs.platform_file import PLATFORMS, load_platform
from eascope.host.strict import read_toml

DEVICES = Path(__file__).parent / "devices.toml"
#: CPUs of a policy print their new clock within this time of each other.
_TOGETHER_NS = 1_000_000
#: With fewer clocks than these a device is hardly known by them.
FEW_CLOCKS = 3
#: Clocks that agree, in kHz.
_SAME_KHZ = 1_000


@dataclass(frozen=True)
class DeviceCluster:
    """Recorded CPUs that are alike; ``like`` is a platform's cluster that stands for it."""

    name: str
    cpus: tuple[int, ...]
    dmips: float
    khz: tuple[int, ...]
    like: str

    @property
    def top_khz(self) -> int:
        """Its highest clock."""
        return self.khz[-1]


@dataclass(frozen=True)
class Device:
    """The recorded device.

    :ivar platform: its platform, where it is one of ours or was given; else empty.
    :ivar base: a platform of ours of which a draft differs.
    :ivar gaps: what is not known of it, in words.
    """

    name: str
    platform: str
    base: str
    source: str
    clusters: tuple[DeviceCluster, ...]
    gaps: tuple[str, ...] = ()

    @property
    def cpus(self) -> tuple[int, ...]:
        """Recorded CPUs in the order of the platform's CPUs."""
        return tuple(cpu for cluster in self.clusters for cpu in cluster.cpus)

    def speeds(self) -> dict[int, float]:
        """Work in us that a CPU does in a us for each kHz; the largest CPU at its top does 1."""
        largest = max(cluster.dmips * cluster.top_khz for cluster in self.clusters)
        return {cpu: of.dmips / largest for of in self.clusters for cpu in of.cpus}

    def cluster_of(self, cpu: int) -> DeviceCluster:
        """The cluster of a recorded CPU."""
        return next(cluster for cluster in self.clusters if cpu in cluster.cpus)


def shared_clocks(recording: Recording) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """CPUs whose clock changed together, with the clocks that were seen; the others alone."""
    courses: dict[int, tuple[Ints, Ints]] = {}
    for cpu in range(recording.cpus):
        rows = recording.freq.filter(recording.freq["cpu"] == cpu)
        courses[cpu] = (rows["t_ns"].to_numpy(), rows["khz"].to_numpy())
    groups: list[list[int]] = []
    for cpu, (times, khz) in courses.items():
        for group in groups:
            other_times, other = courses[group[0]]
            alike = len(khz) and len(khz) == len(other) and bool((khz == other).all())
            if alike and bool((np.abs(times - other_times) < _TOGETHER_NS).all()):
                group.append(cpu)
                break
        else:
            groups.append([cpu])
    return [(tuple(group), tuple(sorted({*courses[group[0]][1].tolist()}))) for group in groups]


def device_of(
    recording: Recording, platform: Platform | None = None, capacities: Sequence[float] = ()
) -> Device:
    """The recorded device: what is given, or is known by its name or its clocks, or a guess.

    :raises RecordingError: the platform, or the capacities, have another number of CPUs.
    """
    seen = {cpu: khz for cpus, khz in shared_clocks(recording) for cpu in cpus}
    if platform is not None:
        return _given(recording, platform, seen)
    if capacities:
        return _guessed(recording, seen, capacities)
    candidates = [*_known(), *_ours()]
    for words, device in candidates:
        named = any(word in recording.device.lower() for word in words)
        # A run on a file of one's own has the name of its base, and may have other clocks.
        other = device.platform and any(seen.values()) and not _fits(device, seen, recording.cpus)
        if named and len(device.cpus) == recording.cpus and not other:
            return device
    fitting = [device for _, device in candidates if _fits(device, seen, recording.cpus)]
    if fitting:
        return replace(fitting[0], gaps=(_by_clocks(fitting, seen),))
    said = [recording.capacities.get(cpu, 0) for cpu in range(recording.cpus)]
    return _guessed(recording, seen, said if all(said) else ())


def _by_clocks(fitting: Sequence[Device], seen: Mapping[int, Sequence[int]]) -> str:
    """How sure a device is that was found by its clocks."""
    count = len({khz for clocks in seen.values() for khz in clocks})
    few = "only " if count < FEW_CLOCKS else ""
    said = f"found by its clocks: {few}{count} distinct one{'s' * (count > 1)} seen"
    names = sorted({device.name for device in fitting[1:]} - {fitting[0].name})
    others = ", ".join([*names[:4], *["..."] * (len(names) > 4)])
    return f"{said}; also fits {others} (--platform states it)" if names else said


def _fits(device: Device, seen: Mapping[int, Sequence[int]], cpus: int) -> bool:
    """True if every clock that was seen is one of the device's CPU."""
    if len(device.cpus) != cpus or not any(seen.values()):
        return False
    return all(
        any(abs(khz - known) <= _SAME_KHZ for known in cluster.khz)
        for cluster in device.clusters
        for cpu in cluster.cpus
        for khz in seen[cpu]
    )


def _known() -> list[tuple[tuple[str, ...], Device]]:
    top, devices = read_toml(DEVICES), []
    for key in top.data:
        entry = top.data[key]
        clusters = tuple(
            DeviceCluster(of["name"], tuple(of["cpus"]), of["dmips"], tuple(of["khz"]), of["like"])
            for of in entry["cluster"]
        )
        device = Device(entry["name"], "", entry["base"], entry["source"], clusters)
        devices.append((tuple(entry["words"]), device))
    return devices


def _ours() -> list[tuple[tuple[str, ...], Device]]:
    """Our platforms: as boards number their CPUs, then as ours do, whose recordings say so.

    A Juno numbers its big CPUs 1 and 2, and a platform numbers by cluster.
    """
    devices: list[tuple[tuple[str, ...], Device]] = []
    chips = {"pixel6": ("gs101", "oriole", "raven"), "pixel9": ("zumapro", "tokay")}
    for path in sorted(PLATFORMS.glob("*.toml")):
        platform = load_platform(path.stem)
        name, plain = platform.name, _as_device(platform, platform.cpus)
        devices.append(((f"eascope {name}",), plain))
        board = [0, 3, 4, 5, 1, 2] if name.startswith("juno") else platform.cpus
        devices.append((chips.get(name, (name,)), _as_device(platform, board)))
    return devices


def _as_device(platform: Platform, numbers: Sequence[int]) -> Device:
    clusters = tuple(
        DeviceCluster(
            cluster.name,
            tuple(numbers[cpu] for cpu in cluster.cpus),
            cluster.capacity_dmips_mhz,
            tuple(opp.khz for opp in cluster.opps),
            cluster.name,
        )
        for cluster in platform.clusters
    )
    source = f"the platform {platform.name}"
    name = platform.name if not platform.own else str(platform.path)
    return Device(platform.name, name, platform.name, source, clusters)


def _given(recording: Recording, platform: Platform, seen: Mapping[int, Sequence[int]]) -> Device:
    """The platform that was given; CPUs are in its order, or in another where that fits better.

    A file of one's own is a draft, in the order that its import found, or numbered as it likes.
    """
    if len(platform.cpus) != recording.cpus:
        raise RecordingError(
            f"{recording.path}: {recording.cpus} CPUs, but the platform {platform.name} has "
            f"{len(platform.cpus)}; choose the platform of the recorded device"
        )
    plain, found = _as_device(platform, platform.cpus), device_of(recording)
    devices = [device for _, device in _ours() if device.name == platform.name]
    if [len(of.cpus) for of in found.clusters] == [len(of.cpus) for of in plain.clusters]:
        drafted = _as_device(platform, found.cpus)
        devices += [drafted, plain] if platform.own else [plain, drafted]
    for device in (*devices, plain):
        if _fits(device, seen, recording.cpus):
            return replace(device, platform=plain.platform)
    gaps = ("clocks were recorded that the platform does not have",) if any(seen.values()) else ()
    return replace(plain, gaps=gaps)


def _guessed(
    recording: Recording, seen: Mapping[int, Sequence[int]], capacities: Sequence[float]
) -> Device:
    """Clusters by shared clocks; without capacities, capacity goes with the highest clock seen."""
    if capacities and len(capacities) != recording.cpus:
        raise RecordingError(
            f"--capacities: {len(capacities)} numbers; expected one for each of the "
            f"{recording.cpus} CPUs of {recording.path}"
        )
    top = max((khz for clocks in seen.values() for khz in clocks), default=1_000_000)
    groups: dict[tuple[float, tuple[int, ...]], list[int]] = {}
    for cpu in range(recording.cpus):
        khz = recording.clocks.get(cpu) or tuple(seen[cpu]) or (top,)
        capacity = capacities[cpu] if capacities else 1024 * khz[-1] / top
        groups.setdefault((capacity, khz), []).append(cpu)
    ordered = sorted(groups.items(), key=lambda item: (item[0][0], item[1]))
    known = {1: ["all"], 2: ["little", "big"], 3: ["little", "mid", "big"]}
    names = known.get(len(ordered), [f"c{number}" for number in range(len(ordered))])
    base = "pixel6" if len(ordered) > 2 else "juno-r2"
    clusters = tuple(
        DeviceCluster(
            name,
            tuple(cpus),
            capacity * 1000 / khz[-1],
            khz,
            name if name in ("little", "mid") else "big",
        )
        for name, ((capacity, khz), cpus) in zip(names, ordered, strict=True)
    )
    gaps = []
    if not recording.clocks:
        gaps.append("clocks: those that were seen; the top one may be higher")
    if not capacities:
        gaps.append(
            "capacities: unknown, taken in the ratio of the highest clocks seen "
            "(--capacities or --platform states them)"
        )
    if not any(seen.values()):
        gaps.append("clusters: unknown, since no clock was recorded")
    return Device("an unknown device", "", base, "the recording", clusters, tuple(gaps))
