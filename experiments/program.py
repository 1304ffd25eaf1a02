# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of a scenario: they run along with its tasks for a count of their own, and give a rate.

A program starts when the window does, at the offset that the seed sets, and the window ends with
it. Everything in it is executed: no part of a program is ever elided.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from analysis.records.cell import ProgramRecord, TaskRecord, UclampRange
from configs.cpunames import CpuNameError
from configs.platform import Platform
from host.errors import RequestError
from host.strict import StrictTable
from rootfs.image import LAUNCH, OVERLAY, PERF, PING_PONG

#: Linux keeps 15 characters of a thread's name; a program's threads have "-a" and "-b" appended.
MOST_CHARACTERS = 13


@dataclass(frozen=True)
class Kind:
    """A program that a scenario may name.

    :param path: where it lies in the guest.
    :param trace_bytes: room in one CPU's trace buffer for one of its count, with some to spare.
    :param summary: what one of its count is.
    """

    path: str
    trace_bytes: int
    summary: str


KINDS = {
    "ping-pong": Kind(PING_PONG, 800, "a round trip of two threads through two pipes"),
    "perf-sched-pipe": Kind(PERF, 800, "a round trip of perf bench sched pipe -T"),
}


@dataclass(frozen=True)
class Program:
    """One program; ``cpus`` are resolved against the platform (``None``: everywhere)."""

    name: str
    run: str
    cpus: tuple[int, ...] | None
    short_count: int
    full_count: int

    def count(self, full: bool) -> int:
        """How often it does what it does."""
        return self.full_count if full else self.short_count

    @property
    def log(self) -> str:
        """What it printed, in the run's folder."""
        return f"program-{self.name}.log"

    @property
    def threads(self) -> list[str]:
        """Names of its threads in traces."""
        if self.run == "ping-pong":
            return [f"{self.name}-a", f"{self.name}-b"]
        return ["perf", "sched-pipe"]

    def command(self, full: bool, offset_us: int) -> str:
        """What the guest agent spawns.

        :param offset_us: how long after the window's start it begins.
        """
        cpus = "any" if self.cpus is None else ",".join(map(str, self.cpus))
        count = self.count(full)
        arguments = f"{self.name} {count}"
        if self.run == "perf-sched-pipe":
            arguments = f"bench sched pipe -T -l {count}"
        return f"{LAUNCH} {offset_us} {cpus} {KINDS[self.run].path} {arguments}"

    def check_present(self) -> None:
        """A program that is not ours must have been put where the guest image takes it from.

        :raises RequestError: one line that says where.
        """
        path = Path(OVERLAY, KINDS[self.run].path[1:])
        if self.run == "perf-sched-pipe" and not path.is_file():
            raise RequestError(
                f"program {self.run} is not there: put a static arm64 perf at {path}"
            )

    def record(self, full: bool) -> ProgramRecord:
        """What ``cell.json`` says about it."""
        return ProgramRecord(name=self.name, run=self.run, count=self.count(full), log=self.log)

    def task(self) -> TaskRecord:
        """The same as a task: its threads have latencies, placement and energy like any others."""
        return TaskRecord(
            name=self.name,
            threads=tuple(self.threads),
            period_us=None,
            deadline_us=None,
            work_us=None,
            turns=(),
            uclamp=UclampRange(None, None),
            cpus=self.cpus,
        )


def read_program(table: StrictTable, platform: Platform) -> Program:
    """One ``[[program]]``.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    name = table.text("name")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or len(name) > MOST_CHARACTERS:
        raise table.error("name", f"1 to {MOST_CHARACTERS} of a-z 0-9 _, beginning with a letter")
    run = table.text("run", KINDS)
    full = table.integer("full_count", 1, 10_000_000)
    short = table.integer("short_count", 1, full, "up to full_count")
    program = Program(name, run, read_cpus(table, platform), short, full)
    table.finish()
    return program


def read_cpus(table: StrictTable, platform: Platform) -> tuple[int, ...] | None:
    """The CPUs that a symbolic name means here, or ``None`` where nothing is said."""
    if not table.has("cpus"):
        return None
    try:
        return platform.resolve(table.data["cpus"])
    except CpuNameError as error:
        raise table.error("cpus", f"{error.allowed} (platform {platform.name})") from error
