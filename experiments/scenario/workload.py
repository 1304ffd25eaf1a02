# SPDX-License-Identifier: GPL-2.0-or-later
"""What rt-app is given in a run: its inputs, and the settings and steps that all of them share."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from eascope.analysis.records.cell import ReplicateRecord, TaskRecord
from eascope.configs.activity import Activity
from eascope.configs.platform import Cluster, Platform

#: ns per iteration that rt-app is given: makes ``run: N`` mean N iterations (see above).
CALIBRATION = 1000
#: The device that I/O is done on, and a request of it.
IO_DEVICE, IO_BYTES = "/dev/nullb0", 4096
#: Under which names rt-app runs: with the scenario's threads, and with others alone.
RT_APP_NAME, OTHERS_NAME = "rt-app", "others"
#: Kinds of markers that rt-app writes into the trace.
FTRACE = "main,task,stats"
#: rt-app logs into the trace alone.
LOG = {"logdir": "/tmp", "log_size": "disable", "gnuplot": False, "ftrace": FTRACE}


@dataclass(frozen=True)
class Workload:
    """rt-app's input, and its record for ``cell.json``.

    :param documents: inputs as bytes, by the name under which rt-app runs.
    :param endless: of these names, those that run until they are ended from outside.
    :param own: of these names, those with threads of the scenario's tasks.
    """

    documents: dict[str, bytes]
    endless: tuple[str, ...]
    tasks: tuple[TaskRecord, ...]
    replicate: ReplicateRecord
    own: tuple[str, ...] = ()

    @property
    def document(self) -> bytes:
        """The input with the scenario's threads."""
        return self.documents[RT_APP_NAME]


def iterations_per_us(
    platform: Platform, activity: Activity, cluster: Cluster | None = None
) -> Fraction:
    """Iterations of the busy loop that a CPU does in a microsecond at its top OPP.

    :param cluster: the CPU's; None: the largest.
    """
    cluster = cluster or platform.largest
    ipc = Fraction(str(activity.ipc(cluster)))
    return ipc * cluster.max_khz / (1000 * activity.iteration_instructions)


def is_endless(entry: dict[str, Any]) -> bool:
    """True if a thread runs until another process ends it."""
    return entry["loop"] == -1 or any(phase.get("loop") == -1 for phase in entry["phases"].values())


def document_of(entries: dict[str, dict[str, Any]]) -> bytes:
    """The whole input, a line for each thread and each of its phases."""
    settings = {
        "duration": -1,
        "calibration": CALIBRATION,
        "default_policy": "SCHED_OTHER",
        "pi_enabled": False,
        "lock_pages": False,
        **LOG,
        # Markers of attributes have no name that rt-app reads: they come with all kinds alone.
        "ftrace": True if _attributes_change(entries) else FTRACE,
    }
    if any("iorun" in phase for entry in entries.values() for phase in entry["phases"].values()):
        settings |= {"io_device": IO_DEVICE, "mem_buffer_size": IO_BYTES}
    threads = []
    for key, entry in entries.items():
        head = compact({name: value for name, value in entry.items() if name != "phases"})
        phases = [f"{compact(name)}:{compact(phase)}" for name, phase in entry["phases"].items()]
        lines = ",\n".join(phases)
        threads.append(f'{compact(key)}:{head[:-1]},"phases":{{\n{lines}}}}}')
    tasks = ",\n".join(threads)
    return f'{{"global":{compact(settings)},\n"tasks":{{\n{tasks}}}}}\n'.encode()


def _attributes_change(entries: dict[str, dict[str, Any]]) -> bool:
    phases = [phase for entry in entries.values() for phase in entry["phases"].values()]
    return any("policy" in phase for phase in phases)


def compact(value: object) -> str:
    """JSON without spaces."""
    return json.dumps(value, separators=(",", ":"))


def deadline_us(period_us: int | None, policies: Collection[int | None]) -> int | None:
    """The deadline of a task's jobs, if they have a steady pace: the period's end or the policy's.

    :param policies: deadlines of its policies; None: of one without. If they differ, it has none.
    """
    if not period_us or len(policies) != 1:
        return None
    return next(iter(policies)) or period_us
