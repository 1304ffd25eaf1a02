# SPDX-License-Identifier: GPL-2.0-or-later
"""Mixtures: the time of an iteration in a task that waits for memory.

A task's ``memory`` is the share of its time, on the largest CPU at its top OPP, that no clock of a
core shortens. Its iteration consists of ``busy`` iterations of the busy loop and of ``misses``
dependent misses: each of these loads needs the value of the last one, from a line that no cache
holds. On a core such an iteration takes::

    cycles / f + memory_ns

Both figures come from ``eascope characterise``, which measures the two workload kernels. ``busy``
is chosen so that ``run_us`` keeps its meaning: at the reference, an iteration takes as long as an
iteration of the busy loop alone. There, with the cycles ``c`` of a busy iteration, ``C`` and ``M``
of a miss and the frequency ``f``::

    misses M = memory c / f        busy c / f + misses C / f = (1 - memory) c / f
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from eascope.configs.activity import Activity, KernelActivity
from eascope.configs.platform import Cluster, Platform
from eascope.engines.timing.kernel_time import kernel_time
from eascope.host.errors import RequestError
from eascope.host.strict import shown_path

#: The workload kernel whose loads miss every cache, as ``eascope characterise`` calls it.
MEMORY = "memory"
#: Instructions of that kernel for each miss.
MISS_INSTRUCTIONS = 7


@dataclass(frozen=True)
class Miss:
    """A dependent miss on a cluster's core: cycles of its clock, and ns that no clock changes."""

    cycles: float
    memory_ns: float


@dataclass(frozen=True)
class Mixture:
    """An iteration in a task that waits for memory.

    :param memory: the task's share; 0: the iteration is one of the busy loop.
    :param busy: iterations of the busy loop in this one.
    :param misses: dependent misses in an iteration.
    :param instructions: of an iteration, a whole number.
    :param cycles: of an iteration, by cluster.
    :param memory_ns: of an iteration, by cluster.
    """

    memory: float
    busy: float
    misses: float
    instructions: int
    cycles: tuple[float, ...]
    memory_ns: tuple[float, ...]

    def iteration_ns(self, cluster: Cluster, khz: int) -> float:
        """Time of an iteration on ``cluster`` at ``khz``, in ns."""
        return self.cycles[cluster.index] * 1e6 / khz + self.memory_ns[cluster.index]


def misses_of(platform: Platform, activity: Activity) -> tuple[Miss, ...]:
    """A dependent miss on each cluster's core.

    :raises RequestError: when the platform's cores were not characterised, or at one OPP only.
    """
    missed = misses(activity.measured)
    for cluster in platform.clusters:
        if cluster.name not in missed:
            raise RequestError(
                f"{shown_path(activity.path)}: the time of a miss on {cluster.name} is missing, "
                f"which a task with memory needs; eascope characterise {platform.name} measures "
                "it, for clusters of two OPPs or more"
            )
    return tuple(missed[cluster.name] for cluster in platform.clusters)


def misses(measured: Iterable[KernelActivity]) -> dict[str, Miss]:
    """A dependent miss by cluster, if it was measured at two OPPs or more."""
    return {
        entry.cluster: Miss(time.cycles * MISS_INSTRUCTIONS, time.memory_ns * MISS_INSTRUCTIONS)
        for entry in measured
        if entry.kernel == MEMORY and (time := kernel_time(entry)) is not None
    }


def mixture(platform: Platform, activity: Activity, memory: float) -> Mixture:
    """The iteration of a task with this share of memory.

    :raises RequestError: as `misses_of`, or a share that leaves the core less than no time.
    """
    turns = tuple(
        activity.iteration_instructions / activity.ipc(cluster) for cluster in platform.clusters
    )
    if not memory:
        zeros = (0.0,) * len(turns)
        return Mixture(
            memory=memory,
            busy=1.0,
            misses=0.0,
            instructions=activity.iteration_instructions,
            cycles=turns,
            memory_ns=zeros,
        )
    missed = misses_of(platform, activity)
    largest = platform.largest
    turn, miss = turns[largest.index], missed[largest.index]
    count = memory * turn * 1e6 / largest.max_khz / miss.memory_ns
    busy = 1 - memory - count * miss.cycles / turn
    if busy < 0:
        most = 1 / (1 + miss.cycles * 1e6 / largest.max_khz / miss.memory_ns)
        raise RequestError(
            f"memory = {memory:g}: {platform.name} supports 0 to {int(100 * most) / 100:g}, "
            f"because a miss takes {miss.cycles:.0f} cycles of {largest.name}'s own"
        )
    return Mixture(
        memory=memory,
        busy=busy,
        misses=count,
        instructions=round(busy * activity.iteration_instructions + count * MISS_INSTRUCTIONS),
        cycles=tuple(
            busy * own + count * miss.cycles for own, miss in zip(turns, missed, strict=True)
        ),
        memory_ns=tuple(count * miss.memory_ns for miss in missed),
    )
