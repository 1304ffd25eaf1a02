# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups of a scenario: cgroups of the guest, made and read back before its threads are in them.

All are threaded, because rt-app's threads are of one process and their groups may differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from eascope.analysis.records.cell import NO_GROUP
from eascope.configs.cpunames import CpuNameError
from eascope.configs.platform import Platform
from eascope.host.strict import StrictTable
from eascope.kernels.state import cpu_list

ROOT = "/sys/fs/cgroup"
MOST_GROUPS, MOST_CHARACTERS = 20, 24
#: A file that only kernels with the queue latnice have.
LATENCY_NICE = "cpu.latency.nice"
#: What the kernel takes as a period, and as the least quota, in us.
LEAST_US, MOST_US, USUAL_US = 1000, 1_000_000, 100_000
_CPUSET = "cpuset.cpus"
_PARTITION = f"{_CPUSET}.partition"
#: Without it a thread that goes to a group waits for a grace period of RCU, some 15 ms. Android's
#: kernels are built with it (CONFIG_CGROUP_FAVOR_DYNMODS).
_REMOUNT = f"/bin/busybox mount -t cgroup2 -o remount,favordynmods none {ROOT}"

Files = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Group:
    """A cgroup.

    :param path: in the guest.
    :param files: (name, value) of what is written there, as the kernel reads it back.
    :param cpus: those of its nearest ancestor, where it states none; None: all.
    """

    name: str
    path: str
    files: Files
    cpus: tuple[int, ...] | None

    @property
    def has_clamps(self) -> bool:
        """Whether it clamps its threads."""
        return any(file.startswith("cpu.uclamp.") for file, _ in self.files)

    @property
    def is_partition(self) -> bool:
        """Whether its CPUs have scheduling domains of their own, or none."""
        return any(file == _PARTITION for file, _ in self.files)

    def without_latency_nice(self) -> Group:
        """The same for a kernel without the attribute."""
        files = (item for item in self.files if item[0] != LATENCY_NICE)
        return replace(self, files=tuple(files))


def read_cpus(table: StrictTable, platform: Platform, key: str = "cpus") -> tuple[int, ...] | None:
    """The CPUs that a symbolic name means here, or ``None`` if no name is stated."""
    if not table.has(key):
        return None
    try:
        return platform.resolve(table.data[key])
    except CpuNameError as error:
        raise table.error(key, f"{error.allowed} (platform {platform.name})") from error


def _uclamp(table: StrictTable, platform: Platform) -> Iterator[tuple[str, str]]:
    for name, clamp in zip(("min", "max"), read_clamps(table, platform), strict=True):
        if clamp is not None:
            # Hundredths of a percent, of which the kernel makes the same clamp again.
            percent, part = divmod(round(clamp * 10_000 / 1024), 100)
            yield f"cpu.uclamp.{name}", "max" if clamp == 1024 else f"{percent}.{part:02}"


def _idle(table: StrictTable, _: Platform) -> Iterator[tuple[str, str]]:
    yield "cpu.idle", str(int(table.flag("idle")))
    if table.flag("idle") and table.has("weight"):
        raise table.error("weight", "not together with idle: an idle group has the least weight")


def _weight(table: StrictTable, _: Platform) -> Iterator[tuple[str, str]]:
    yield "cpu.weight", str(table.integer("weight", 1, 10_000))


def _max(table: StrictTable, platform: Platform) -> Iterator[tuple[str, str]]:
    if table.data["max"] == "none":
        yield "cpu.max", f"max {USUAL_US}"
        return
    own = table.table("max")
    period = USUAL_US
    if own.has("period_us"):
        period = own.integer("period_us", LEAST_US, MOST_US, "us")
    most = period * len(platform.cpus)
    quota = own.integer("quota_us", LEAST_US, most, "us, up to all CPUs' time in a period")
    own.finish()
    yield "cpu.max", f"{quota} {period}"


def _cpus(table: StrictTable, platform: Platform) -> Iterator[tuple[str, str]]:
    if (cpus := read_cpus(table, platform)) is not None:
        yield _CPUSET, cpu_list(cpus)


def _partition(table: StrictTable, platform: Platform) -> Iterator[tuple[str, str]]:
    yield _PARTITION, table.text("partition", ("root", "isolated"))
    cpus = read_cpus(table, platform)
    if cpus is None or len(cpus) == len(platform.cpus):
        raise table.error("partition", "only together with cpus, which are not all of the platform")
    if table.has("parent"):
        raise table.error("partition", "in a group without a parent")


def _latency_nice(table: StrictTable, _: Platform) -> Iterator[tuple[str, str]]:
    yield LATENCY_NICE, str(table.integer("latency_nice", -20, 19))


#: Keys of a group, in the order in which their files are written.
_ATTRIBUTES: dict[str, Callable[[StrictTable, Platform], Iterator[tuple[str, str]]]] = {
    "uclamp": _uclamp,
    "weight": _weight,
    "idle": _idle,
    "max": _max,
    "cpus": _cpus,
    "partition": _partition,
    "latency_nice": _latency_nice,
}
KEYS = ("name", "parent", *_ATTRIBUTES)
#: Of those, keys that an event may change.
CHANGEABLE = tuple(key for key in _ATTRIBUTES if key != "partition")


def read_files(table: StrictTable, platform: Platform) -> Files:
    """The attributes of a group, or of an event that changes some, as files of its cgroup."""
    return tuple(
        item
        for key, files in _ATTRIBUTES.items()
        if table.has(key)
        for item in files(table, platform)
    )


def read_groups(top: StrictTable, platform: Platform) -> tuple[Group, ...]:
    """The tables ``[[group]]``, parents before children.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    tables: dict[str, StrictTable] = {}
    for table in top.tables("group", 1, MOST_GROUPS) if top.has("group") else ():
        table.only(KEYS)
        name = table.name("name")
        if name in tables:
            raise table.error("name", "a name that no other group has")
        if name == NO_GROUP or len(name) > MOST_CHARACTERS:
            whoever = f"{NO_GROUP}: it has whoever is in no group"
            raise table.error("name", f"up to {MOST_CHARACTERS} characters, and not {whoever}")
        tables[name] = table
    made: dict[str, Group] = {}
    while len(made) < len(tables):
        left = [name for name in tables if name not in made]
        ready = [name for name in left if _parent(tables[name], tables) in (None, *made)]
        if not ready:
            table = tables[left[0]]
            raise table.error("parent", f"a group that is not below {left[0]} itself")
        for name in ready:
            parent = made.get(_parent(tables[name], tables) or "")
            made[name] = _group(tables[name], name, parent, platform)
    return tuple(made.values())


def _parent(table: StrictTable, known: dict[str, StrictTable]) -> str | None:
    return table.text("parent", known) if table.has("parent") else None


def _group(table: StrictTable, name: str, parent: Group | None, platform: Platform) -> Group:
    files = read_files(table, platform)
    table.finish()
    cpus = read_cpus(table, platform)
    above = parent.cpus if parent else None
    if cpus and above and not {*cpus} <= {*above}:
        raise table.error("cpus", f"CPUs of its parent, which has {cpu_list(above)}")
    return Group(name, f"{parent.path if parent else ROOT}/{name}", files, cpus or above)


def read_change(
    table: StrictTable,
    group: Group,
    groups: Sequence[Group],
    platform: Platform,
    inside: Sequence[tuple[int, ...]],
) -> Files:
    """The attributes of ``group`` that an event changes; none: it names none.

    :param inside: sets of CPUs of each of which the group must keep one, those of its tasks.
    :raises RequestError: one line, for what the kernel would refuse.
    """
    files = read_files(table, platform)
    if table.has("weight") and ("cpu.idle", "1") in group.files:
        raise table.error("weight", f"no weight: {group.name} is idle, and has the least")
    if (cpus := read_cpus(table, platform)) is not None:
        above = group.path.rpartition("/")[0]
        parent = next((other for other in groups if other.path == above), None)
        if parent and parent.cpus and not {*cpus} <= {*parent.cpus}:
            raise table.error("cpus", f"CPUs of its parent, which has {cpu_list(parent.cpus)}")
        if any(not {*cpus} & {*some} for some in inside):
            raise table.error("cpus", "CPUs of which each task of the group may have one")
    return files


def read_group(
    table: StrictTable, groups: Sequence[Group], cpus: Sequence[tuple[int, ...]] = ()
) -> Group | None:
    """The group that a task, a program or an event names.

    :param cpus: sets of CPUs of each of which it must have one, or the kernel refuses them.
    """
    if not table.has("group"):
        return None
    if not groups:
        raise table.error("group", "the name of a [[group]], and there is none")
    name = table.text("group", [group.name for group in groups])
    group = next(group for group in groups if group.name == name)
    if group.cpus and any(not {*group.cpus} & {*some} for some in cpus):
        raise table.error("group", f"a group with CPUs of its cpus; it has {cpu_list(group.cpus)}")
    return group


def setup(groups: Sequence[Group], written_paths: Collection[str]) -> Iterator[str]:
    """Lines of the agent's script that make the groups and read back what was written.

    :param written_paths: files that events write.
    """
    if not groups:
        return
    with_cpus = any(group.cpus for group in groups)
    with_cpus |= any(path.endswith(_CPUSET) for path in written_paths)
    controllers = "+cpu +cpuset" if with_cpus else "+cpu"
    parents = {group.path.rpartition("/")[0] for group in groups}
    yield f"spawn groups {_REMOUNT}"
    yield "wait groups"
    yield f"write {ROOT}/cgroup.subtree_control {controllers}"
    for group in groups:
        yield f"mkdir {group.path}"
        yield f"write {group.path}/cgroup.type threaded"
        if group.path in parents:
            yield f"write {group.path}/cgroup.subtree_control {controllers}"
        for file, value in group.files:
            if file != _PARTITION:
                yield from written(f"{group.path}/{file}", value)


def partitions(groups: Sequence[Group]) -> Iterator[str]:
    """Lines that make partitions, from where on no other thread can be pinned to their CPUs."""
    for group in groups:
        for file, value in group.files:
            if file == _PARTITION:
                yield from written(f"{group.path}/{file}", value)


def written(path: str, value: str) -> Iterator[str]:
    """Lines that write a file of a group and read it back."""
    yield f"write {path} {value}"
    yield f"expect {path} {value}"
    if path.endswith(_CPUSET):  # else the kernel may give it its parent's
        yield f"expect {path}.effective {value}"


def reported(groups: Sequence[Group], written_paths: Collection[str]) -> Iterator[str]:
    """Lines that leave in ``state.txt`` how long each group was throttled, where it has a quota.

    :param written_paths: files that events write.
    """
    for group in groups:
        quota = f"{group.path}/cpu.max" in written_paths
        if quota or any(file == "cpu.max" for file, _ in group.files):
            yield f"report {group.path}/cpu.stat"


def read_clamps(owner: StrictTable, platform: Platform) -> tuple[int | None, int | None]:
    """``uclamp.min`` and ``uclamp.max`` of a task or program; None if not stated.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    if not owner.has("uclamp"):
        return None, None
    table = owner.table("uclamp")
    low, high = (_clamp(table, key, platform) for key in ("min", "max"))
    table.finish()
    if low is not None and high is not None and low > high:
        raise table.error("min", f"up to max, which is {high}")
    return low, high


def _clamp(table: StrictTable, key: str, platform: Platform) -> int | None:
    """An absolute clamp, or one relative to a cluster's capacity: ``1.0*little+1``."""
    if not table.has(key):
        return None
    value = table.data[key]
    clusters = {cluster.name: cluster for cluster in platform.clusters}
    clamp: int | None = None
    if isinstance(value, int) and not isinstance(value, bool):
        clamp = value
    elif isinstance(value, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*\*\s*([\w-]+?)\s*(?:([+-])\s*(\d+))?", value)
        if match and match[2] in clusters:
            capacity = platform.capacities[clusters[match[2]].cpus[0]]
            offset = int(match[4] or 0) * (-1 if match[3] == "-" else 1)
            clamp = int(Fraction(match[1]) * capacity) + offset
    if clamp is None or not 0 <= clamp <= 1024:
        example = platform.clusters[0].name
        raise table.error(
            key,
            f'0..1024, or relative to the capacity of {" or ".join(clusters)} like "0.5*{example}" '
            f'or "1.0*{example}+1", with a result in 0..1024',
        )
    return clamp
