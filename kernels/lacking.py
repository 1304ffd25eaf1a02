# SPDX-License-Identifier: GPL-2.0-or-later
"""Boot arguments and files that act on what the simulated machine lacks, whatever their value.

The kernel takes some of them in silence, and refuses others where our configuration lacks them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from eascope.kernels.switches import Switches

#: What the machine lacks: names of boot arguments, and paths of switches below ``/proc/sys``.
LACKING = {
    "no device interrupts it, and [[interrupt]] is each CPU's own timer": (
        r"irqaffinity|threadirqs|noirqdebug|irqfixup|irqpoll|irqchip[.].*",
        r"$^",
    ),
    "it is one NUMA node": (r"numa|numa_\w+|mempolicy[.].*", r"kernel/numa_\w+|vm/(numa|zone)_\w+"),
    "it has no watchdog": (
        r"nowatchdog|nmi_watchdog|nosoftlockup|(softlockup|hung_task)_\w+|watchdog_thresh",
        r"kernel/(\w*watchdog\w*|\w*softlockup\w*|\w*hardlockup\w*|hung_task_\w+)",
    ),
    "it has no swap": (r"zswap[.].*", r"vm/(swappiness|page-cluster|watermark_boost_factor)"),
    "it has no storage": (
        r"elevator|rootdelay|rootwait|ro|rw|rootfstype",
        r"vm/(dirty_\w+|dirtytime_\w+|laptop_mode|vfs_cache_pressure)",
    ),
    "its cores have one thread each": (r"nosmt|smt", r"$^"),
}
_SYSCTL = "/proc/sys/"


def without_effect(boot: str, switches: Switches) -> Iterator[str]:
    """A line for each boot argument and switch that acts on nothing that the machine has."""
    told: list[tuple[str, str]] = []
    for word in boot.split():
        name = word.partition("=")[0]
        path = name.removeprefix("sysctl.").replace(".", "/") if name.startswith("sysctl.") else ""
        told.append((word, path or name.replace("-", "_")))
    for path, value in switches:
        told.append((f"{path}={value}", path.removeprefix(_SYSCTL)))
    for word, name in told:
        for lacks, patterns in LACKING.items():
            if any(re.fullmatch(pattern, name) for pattern in patterns):
                yield f"{word} has no effect: {lacks}"
