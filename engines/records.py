# SPDX-License-Identifier: GPL-2.0-or-later
"""What an engine and the host leave in a run's folder: marks, what a run cost, why one failed.

`read_marks` and `write_marks` are for ``marks.json``, `HostRecord` for ``host.json`` and `Failure`
for ``failed.json``. `COUNTER_COLUMNS` are what every row of ``counters.parquet`` has. `Traits` say
of an engine what its runs are read by. ``done`` is in `host.sealed`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from eascope.host.record import Record, RecordError, load_json
from eascope.rootfs.headers import MESSAGES, numbers, texts

#: Files of a run's folder. The engine writes marks, counters and the console; the guest's agent
#: sends `STATE` and `TRACE`.
MARKS = "marks.json"
COUNTERS = "counters.parquet"
CONSOLE = "console.log"
STATE = texts(MESSAGES)["FILE_STATE"]
TRACE = texts(MESSAGES)["FILE_TRACE"]
HOST = "host.json"
FAILED = "failed.json"

#: Columns of ``counters.parquet`` on every engine: a row per CPU between completed OPP changes of
#: its cluster, START and STOP. Times are in ns since power-on.
COUNTER_COLUMNS = ("cluster", "cpu", "t0_ns", "t1_ns", "khz", "uv", "cycles", "instructions")

#: ``cpu`` of rows that are the memory's, as `SHARED_PART` is of those of a cluster's shared part.
MEMORY_PART = -2
#: ``cluster`` of rows that are no cluster's: of the memory, and of the chip's shared part.
NO_CLUSTER = -1

#: Marks that the guest agent sets.
READY, START, STOP = (numbers(MESSAGES)[f"MARK_{name}"] for name in ("READY", "START", "STOP"))


@dataclass(frozen=True)
class Mark(Record):
    """A mark of the guest agent (`READY`, `START`, `STOP`, or one of its own).

    :param id: which mark it is.
    :param t_ns: when it was set, in ns since power-on.
    :param mono_ns: the same moment by the guest's CLOCK_MONOTONIC.
    """

    id: int
    t_ns: int
    mono_ns: int


def read_marks(path: Path) -> tuple[Mark, ...]:
    """The marks in ``marks.json``, in the order in which they were set.

    :raises RecordError: one line when the file is no list of marks.
    """
    content = load_json(path)
    if not isinstance(content, list):
        raise RecordError(f"{path}: a {type(content).__name__}: allowed: a list of marks")
    return tuple(Mark.decode(entry, path) for entry in content)


def write_marks(marks: Sequence[Mark], path: Path) -> None:
    """Write ``marks.json``."""
    entries = [mark.encode() for mark in marks]
    path.write_text(json.dumps(entries, indent=1) + "\n")


@dataclass(frozen=True)
class Traits(Record):
    """What of an engine decides how its runs are read.

    :param reference: other engines are measured against it.
    :param counts_elided: ``instructions`` of its counters has those of turns that were elided.
    :param stated_rates: CPUs execute at the rates that the activity states, not at their models'.
    :param cpu_words: what its CPUs are, for captions: ``atomic``; empty where rates are stated.
    """

    reference: bool
    counts_elided: bool
    stated_rates: bool
    cpu_words: str


@dataclass(frozen=True)
class HostRecord(Record):
    """What a run cost; it depends on the host's time, so it is outside every digest.

    :param cpu_s: the engine's processor time, in s.
    :param cpus: the host's processors; None where the host does not say.
    :param host_s: seconds that the run took.
    :param machine: the host's architecture.
    :param mips: millions of guest instructions per host second.
    :param python: the version of Python.
    :param sim_s: simulated seconds.
    :param parts_s: host seconds by part, where the engine separates them.
    :param parts_cpu_s: the same of the processor's time.
    """

    ascii_only: ClassVar[bool] = True

    host_s: float
    mips: float
    sim_s: float
    cpu_s: float
    cpus: int | None
    machine: str
    python: str
    parts_s: Mapping[str, float] = field(default_factory=dict)
    parts_cpu_s: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure(Record):
    """Why a run failed.

    :param cause: one line.
    :param console_tail: the guest's last lines, where the engine ran.
    :param log_tail: the engine's last lines, where it ran.
    :param traceback: where in our code, when the cause was none that we know.
    """

    ascii_only: ClassVar[bool] = True

    cause: str
    console_tail: tuple[str, ...] | None = None
    log_tail: tuple[str, ...] | None = None
    traceback: tuple[str, ...] | None = None
