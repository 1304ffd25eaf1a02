# SPDX-License-Identifier: GPL-2.0-or-later
"""The unit in which a scenario counts work, for records."""

from __future__ import annotations

from dataclasses import dataclass

from eascope.host.record import Record

#: How work is counted: ends of a task's turns, its wake-ups, operations of all programs, or the
#: busy loop's work of all tasks, in seconds of the largest CPU at its top OPP.
TURNS, WAKE_UPS, PROGRAMS, BUSY_LOOP = "turns", "wakeups", "programs", "busy_loop"


@dataclass(frozen=True)
class WorkRecord(Record):
    """The unit in which a scenario counts work.

    :param unit: its name, such as ``frame``.
    :param counted: ``turns.TASK``, ``wakeups.TASK``, ``programs`` or ``busy_loop``.
    """

    unit: str
    counted: str


#: What is counted where a scenario says nothing and has no programs.
LOOPS_WORK = WorkRecord("s of work", BUSY_LOOP)
