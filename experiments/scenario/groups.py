# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups of a scenario: cgroups of the guest, made and read back before its threads are in them.

All are threaded, because rt-app's threads are of one process and their groups may differ.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eascope.analysis.records.cell import NO_GROUP
from eascope.configs.platform import Platform
from eascope.experiments.scenario.clamps import CPUS, NO_CLAMPS, Clamps
from eascope.host.keys import (
    NAME,
    Context,
    Form,
    Place,
    Placed,
    WrongValue,
    key,
    maybe,
    named,
    read_table,
    schema,
)
from eascope.kernels.state import cpu_list

ROOT = "/sys/fs/cgroup"
MOST_CHARACTERS = 24
A_GROUP = named("the name of a group")
#: A file that only kernels with the queue latnice have.
LATENCY_NICE = "cpu.latency.nice"
#: What the kernel takes as a period, and as the least quota, in us.
LEAST_US, MOST_US, USUAL_US = 1000, 1_000_000, 100_000
_ALL = "us, up to all CPUs' time in a period"
_CPUSET = "cpuset.cpus"
_PARTITION = f"{_CPUSET}.partition"
#: Without it a thread that goes to a group waits for a grace period of RCU, some 15 ms. Android's
#: kernels are built with it (CONFIG_CGROUP_FAVOR_DYNMODS).
_REMOUNT = f"/bin/busybox mount -t cgroup2 -o remount,favordynmods none {ROOT}"

Files = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Group:
    """A cgroup.

    :param files: (name, value) of what is written there, as the kernel reads it back.
    :param cpus: those of its nearest ancestor, where it states none; None: all.
    """

    name: str
    path: str
    files: Files
    cpus: tuple[int, ...] | None

    @property
    def has_clamps(self) -> bool:
        """True if it clamps its threads."""
        return any(file.startswith("cpu.uclamp.") for file, _ in self.files)

    @property
    def is_partition(self) -> bool:
        """True if its CPUs have scheduling domains of their own, or none."""
        return any(file == _PARTITION for file, _ in self.files)

    def without_latency_nice(self) -> Group:
        """The same for a kernel without the attribute."""
        files = (item for item in self.files if item[0] != LATENCY_NICE)
        return replace(self, files=tuple(files))


@dataclass(frozen=True, kw_only=True)
class MaxFile(Placed):
    """The time that a group's threads may have in a period, on all CPUs together."""

    period_us: int = key("the period", LEAST_US, MOST_US, "us", default=USUAL_US)
    quota_us: int = key("runtime in it", LEAST_US, 32 * MOST_US, _ALL)


def _max(value: Any, context: Context) -> str:  # noqa: ANN401 - of TOML
    """``cpu.max`` as the kernel has it."""
    if value == "none":
        return f"max {USUAL_US}"
    if not isinstance(value, dict):
        raise WrongValue("", value, "a table")
    own = read_table(MaxFile, context)
    most = own.period_us * len(context["platform"].cpus)
    own.place.within("quota_us", LEAST_US, most, _ALL)
    return f"{own.quota_us} {own.period_us}"


_MAX = Form('a table, or "none"', {"anyOf": [{"const": "none"}, schema(MaxFile)]}, _max)


@dataclass(frozen=True, kw_only=True)
class Changeable(Placed):
    """Attributes of a group that an event may change, in the order in which they are written."""

    uclamp: Clamps | None = maybe("cpu.uclamp.min and cpu.uclamp.max")
    weight: int | None = maybe("cpu.weight", 1, 10_000)
    idle: bool | None = maybe("cpu.idle")
    max: str | None = maybe("cpu.max: runtime per period, over all CPUs", form=_MAX)
    cpus: tuple[int, ...] | None = maybe("cpuset.cpus", form=CPUS)
    latency_nice: int | None = maybe("for its tasks that set none themselves", -20, 19)

    def check(self) -> None:
        """An idle group has no weight."""
        if self.idle and self.weight is not None:
            allowed = "not together with idle: an idle group has the least weight"
            raise WrongValue("weight", self.weight, allowed)

    def files(self, partition: str | None = None) -> Iterator[tuple[str, str]]:
        """Files of the cgroup, with what is written there."""
        clamps = self.uclamp or NO_CLAMPS
        for name, clamp in (("min", clamps.min), ("max", clamps.max)):
            if clamp is not None:
                # Hundredths of a percent, of which the kernel makes the same clamp again.
                percent, part = divmod(round(clamp * 10_000 / 1024), 100)
                yield f"cpu.uclamp.{name}", "max" if clamp == 1024 else f"{percent}.{part:02}"
        plain = {
            "cpu.weight": self.weight,
            "cpu.idle": self.idle if self.idle is None else int(self.idle),
            "cpu.max": self.max,
            _CPUSET: self.cpus and cpu_list(self.cpus),
            _PARTITION: partition,
            LATENCY_NICE: self.latency_nice,
        }
        yield from ((file, str(value)) for file, value in plain.items() if value is not None)


@dataclass(frozen=True, kw_only=True)
class GroupFile(Changeable):
    """A group of tasks and programs: a cgroup of the guest."""

    name: str = key("unique, and not root", form=NAME)
    parent: str | None = maybe("parent group", form=A_GROUP)
    partition: str | None = maybe("cpuset.cpus.partition", choices=("root", "isolated"))


def groups_of(files: Sequence[GroupFile], platform: Platform) -> tuple[Group, ...]:
    """The groups, parents before children.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    left: dict[str, GroupFile] = {}
    for own in files:
        if own.name in left:
            raise own.place.error("name", "a name that no other group has")
        if own.name == NO_GROUP or len(own.name) > MOST_CHARACTERS:
            whoever = f"{NO_GROUP}: it has whoever is in no group"
            raise own.place.error("name", f"up to {MOST_CHARACTERS} characters, and not {whoever}")
        left[own.name] = own
    known, made = {*left}, dict[str, Group]()
    for own in files:
        if own.parent is not None:
            own.place.one_of("parent", known)
    while left:
        ready = [name for name in left if left[name].parent in (None, *made)]
        if not ready:
            name, own = next(iter(left.items()))
            raise own.place.error("parent", f"a group that is not below {name} itself")
        for name in ready:
            own = left.pop(name)
            made[name] = _group(own, made.get(own.parent or ""), platform)
    return tuple(made.values())


def _group(own: GroupFile, parent: Group | None, platform: Platform) -> Group:
    if own.partition:
        if own.cpus is None or len(own.cpus) == len(platform.cpus):
            allowed = "only together with cpus, which are not all of the platform"
            raise own.place.error("partition", allowed)
        if own.parent:
            raise own.place.error("partition", "in a group without a parent")
    above = parent.cpus if parent else None
    if own.cpus and above and not {*own.cpus} <= {*above}:
        raise own.place.error("cpus", f"CPUs of its parent, which has {cpu_list(above)}")
    path = f"{parent.path if parent else ROOT}/{own.name}"
    return Group(own.name, path, tuple(own.files(own.partition)), own.cpus or above)


def check_change(
    own: Changeable, group: Group, groups: Sequence[Group], inside: Sequence[tuple[int, ...]]
) -> None:
    """Check a change of attributes of ``group`` by an event.

    :param inside: sets of CPUs of each of which the group must keep one, those of its tasks.
    :raises RequestError: one line, for what the kernel would refuse.
    """
    if own.weight is not None and ("cpu.idle", "1") in group.files:
        raise own.place.error("weight", f"no weight: {group.name} is idle, and has the least")
    if own.cpus is not None:
        above = group.path.rpartition("/")[0]
        parent = next((other for other in groups if other.path == above), None)
        if parent and parent.cpus and not {*own.cpus} <= {*parent.cpus}:
            allowed = f"CPUs of its parent, which has {cpu_list(parent.cpus)}"
            raise own.place.error("cpus", allowed)
        if any(not {*own.cpus} & {*some} for some in inside):
            raise own.place.error("cpus", "CPUs of which each task of the group may have one")


def group_of(
    place: Place, groups: Sequence[Group], cpus: Sequence[tuple[int, ...]] = ()
) -> Group | None:
    """The group that a task, a program or an event names.

    :param cpus: sets of CPUs of each of which it must have one, or the kernel refuses them.
    """
    if "group" not in place.data:
        return None
    if not groups:
        raise place.error("group", "the name of a [[group]], and there is none")
    named = {group.name: group for group in groups}
    group = named[place.one_of("group", named)]
    if group.cpus and any(not {*group.cpus} & {*some} for some in cpus):
        raise place.error("group", f"a group with CPUs of its cpus; it has {cpu_list(group.cpus)}")
    return group


def setup(groups: Sequence[Group], written_paths: Collection[str]) -> Iterator[str]:
    """Lines of the agent's script that make the groups and read back what was written."""
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
    """Lines that leave in ``state.txt`` how long each group was throttled, where it has a quota."""
    for group in groups:
        quota = f"{group.path}/cpu.max" in written_paths
        if quota or any(file == "cpu.max" for file, _ in group.files):
            yield f"report {group.path}/cpu.stat"
