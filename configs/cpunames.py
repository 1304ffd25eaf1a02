# SPDX-License-Identifier: GPL-2.0-or-later
"""Symbolic CPU names, so that one scenario runs on any platform.

A name is ``any`` (every CPU), a cluster (``big``, ``big:*``), one of its CPUs by its index in the
cluster (``little:0``) or a range of its CPUs (``little:0-1``). The name ``largest`` stands for the
cluster with the greatest capacity. Commas join names: ``little:0,big:*``. ``!`` takes CPUs away:
``big,!big:0``; ``!big:0`` alone is every other CPU.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from eascope.host.errors import RequestError, nearest, shown

#: As many CPUs as every kernel knows (CONFIG_NR_CPUS); an engine states its own limit.
MAX_CPUS = 32
#: Names that no cluster may have: every CPU, and the CPUs of the cluster with the most capacity.
ANY, LARGEST = "any", "largest"

_PART = re.compile(r"!?([a-z][a-z0-9-]*?)(?::(\*|\d{1,3}|\d{1,3}-\d{1,3}))?")


class CpuNameError(RequestError):
    """A CPU name that the platform does not have; ``allowed`` states its names.

    A caller that knows the file and the key makes a message from it with `errors.bad_input`.
    """

    def __init__(self, platform: str, name: object, allowed: str) -> None:
        self.allowed = allowed
        super().__init__(f"platform {platform}: CPU name {shown(name)}: allowed: {allowed}")


def resolve(
    platform: str, clusters: Mapping[str, tuple[int, ...]], name: str, largest: str
) -> tuple[int, ...]:
    """The CPU numbers, ascending, that ``name`` means.

    :param platform: the platform's name, for messages.
    :param largest: the cluster that `LARGEST` means.
    :raises CpuNameError: unknown cluster, index outside it, empty range, or a CPU named twice.
    """
    groups = {**clusters, LARGEST: clusters[largest]}
    known = f"{ANY}, " + ", ".join(
        f"{cluster}, {cluster}:*, {cluster}:0-{len(cpus) - 1}" for cluster, cpus in groups.items()
    )
    if not isinstance(name, str):
        raise CpuNameError(platform, name, known)
    chosen: list[int] = []
    gone: list[int] = []
    for part in map(str.strip, name.split(",")):
        match = _PART.fullmatch(part)
        if match is None:
            raise CpuNameError(platform, name, known)
        cluster, index = match[1], match[2]
        if cluster == ANY and index is None:
            cpus: tuple[int, ...] = tuple(cpu for group in clusters.values() for cpu in group)
        elif cluster not in groups:
            raise CpuNameError(platform, name, known + nearest(cluster, [*groups, ANY]))
        elif index in (None, "*"):
            cpus = groups[cluster]
        else:
            first, _, last = index.partition("-")
            low, high = int(first), int(last or first)
            if not low <= high < len(groups[cluster]):
                raise CpuNameError(
                    platform, name, f"{cluster}:0 to {cluster}:{len(groups[cluster]) - 1}"
                )
            cpus = groups[cluster][low : high + 1]
        (gone if part.startswith("!") else chosen).extend(cpus)
    if not chosen:
        chosen = [cpu for group in clusters.values() for cpu in group]
    if len(set(chosen)) != len(chosen) or not set(gone) <= set(chosen):
        raise CpuNameError(platform, name, "every CPU named once, and ! before one that is named")
    left = set(chosen) - set(gone)
    if not left:
        raise CpuNameError(platform, name, "a name that leaves at least one CPU")
    return tuple(sorted(left))
