# SPDX-License-Identifier: GPL-2.0-or-later
"""juno-r2 with idle states that take long, and how long a guest's sleeps are there."""

from dataclasses import replace
from pathlib import Path

from eascope.configs.platform import Platform, Takes
from eascope.engines.records import MARKS, START, STOP, read_marks

ENTRY_MS, EXIT_MS = 20, 5
LAST_ENTRY_MS, FIRST_EXIT_MS = 30, 7
#: Slept in this order by a CPU that is alone awake. The kernel chooses what it is told of.
ASKED_MS = (50, 10)
#: The last CPU of its cluster leaves the cluster's sleep; an interrupt waits for the entry.
CLUSTER_MS = (50 + FIRST_EXIT_MS, LAST_ENTRY_MS + FIRST_EXIT_MS)
#: The same where the cluster's sleep is off.
ALONE_MS = (50 + EXIT_MS, ENTRY_MS + EXIT_MS)
#: The kernel's own time for a sleep, and rounding of the counter's ticks.
SLACK_MS = 0.4


def slow(platform: Platform, first_exit_ms: int = FIRST_EXIT_MS) -> Platform:
    """``platform`` on which idle states take `ENTRY_MS` and so on, but the kernel is told of us."""
    changed = []
    for cluster in platform.clusters:
        wfi, *deep = cluster.idle_states
        for number, state in enumerate(deep):
            sleeps = number + 1 == cluster.cluster_sleep
            takes = Takes(
                entry_us=1000 * ENTRY_MS,
                exit_us=1000 * EXIT_MS,
                last_entry_us=1000 * (LAST_ENTRY_MS if sleeps else ENTRY_MS),
                first_exit_us=1000 * (first_exit_ms if sleeps else EXIT_MS),
                source="assumed: for a test",
            )
            deep[number] = replace(state, takes=takes)
        changed.append(replace(cluster, idle_states=(wfi, *deep)))
    return replace(platform, clusters=tuple(changed))


def sleeps_script(*, cluster_sleep: bool) -> bytes:
    """The agent sleeps for each of `ASKED_MS` between a START and a STOP of its own."""
    lines = ["eascope-script 1"]
    if not cluster_sleep:
        disable = "write /sys/devices/system/cpu/cpu{}/cpuidle/state2/disable 1"
        lines += [disable.format(cpu) for cpu in range(6)]
    # By then no kernel worker has anything left of the boot.
    lines += ["barrier", "sleep-ms 400"]
    for ms in ASKED_MS:
        lines += ["start", f"sleep-ms {ms}", "stop"]
    return "\n".join([*lines, "exit", ""]).encode()


def slept_ms(out: Path) -> list[float]:
    """How long each sleep was."""
    marks = read_marks(out / MARKS)
    starts, stops = ([mark.t_ns / 1e6 for mark in marks if mark.id == id_] for id_ in (START, STOP))
    return [stop - start for start, stop in zip(starts, stops, strict=True)]
