# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of a scenario: they run along with its tasks, and their output becomes measures.

A program is executed in full: no part of it is ever elided.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from eascope.analysis.records.cell import ProgramRecord, TaskRecord, UclampRange
from eascope.experiments.scenario.clamps import CPUS, NO_CLAMPS, Clamps
from eascope.experiments.scenario.groups import A_GROUP, Group, group_of
from eascope.experiments.scenario.program_kinds import KINDS, Kind, measured
from eascope.host.keys import (
    Context,
    Form,
    Placed,
    WrongValue,
    entries_of,
    is_line,
    key,
    label,
    maybe,
    same,
)
from eascope.rootfs.content import MINIMAL
from eascope.rootfs.image import LAUNCH

#: Linux keeps 15 characters of a thread's name; a program's threads have "-a" and "-b" appended.
MOST_CHARACTERS = 13
#: Words of a program's arguments: with all other keys but variables, the guest's agent takes them.
MOST_WORDS = 40
MEASURED, LOAD, SERVER = "measured", "load", "server"
#: When a measured program ends.
ITSELF, WINDOW = "itself", "window"
#: Longest time from the window's start to a program's.
MOST_START_MS = 600_000
_VARIABLE = re.compile(r"[A-Za-z_]\w*")
_WORDS = re.compile(r"[\x21-\x7e]+( [\x21-\x7e]+)*")


def _environment(value: Any, context: Context) -> tuple[tuple[str, str], ...]:  # noqa: ANN401
    if not isinstance(value, dict):
        raise WrongValue("", value, _ENVIRONMENT.allowed)
    for name, text in value.items():
        if not is_line(text) or not _VARIABLE.fullmatch(name) or " " in text:
            allowed = "a name of letters, digits and _, a value without spaces"
            raise WrongValue(name, text, allowed)
    return tuple(value.items())


_ENVIRONMENT = Form(
    "a table", {"type": "object", "additionalProperties": {"type": "string"}}, _environment
)


@dataclass(frozen=True)
class Member:
    """Further settings of a program of the programs image: its start, its stop and its role."""

    role: str = key("what it is for", choices=(MEASURED, LOAD, SERVER), default="")
    stop: str = key("when it ends", choices=(ITSELF, WINDOW), default="")
    arguments: str = key("arguments; {count} stands for the count", default="")
    nice: int | None = maybe("its nice value", -20, 19)
    uclamp_min: int | None = None
    uclamp_max: int | None = None
    environment: tuple[tuple[str, str], ...] = key("environment", form=_ENVIRONMENT, default=())
    exit: int = key("the expected exit status", 0, 125, default=0)
    limit_s: int = key("simulated seconds after which it counts as hung", 1, 3600, "s", default=120)
    latency_nice: int | None = maybe("its latency_nice", -20, 19)

    def without_latency_nice(self) -> Member:
        """The same for a kernel that has no such attribute."""
        return replace(self, latency_nice=None)


@dataclass(frozen=True)
class Program:
    """One program; ``cpus`` are resolved against the platform (``None``: everywhere).

    :param member: None for one that `launch` starts, with its name and a count.
    :param group: in which it starts; None: the root.
    """

    name: str
    run: str
    cpus: tuple[int, ...] | None
    short_count: int
    full_count: int
    member: Member | None = None
    group: Group | None = None
    short_start_ms: int = 0
    full_start_ms: int = 0

    @property
    def kind(self) -> Kind:
        """The kind of program."""
        return KINDS[self.run]

    @property
    def role(self) -> str:
        """Measured, load or server."""
        return self.member.role if self.member else MEASURED

    @property
    def ends_itself(self) -> bool:
        """True if the window may end with it."""
        return self.member is None or (self.role == MEASURED and self.member.stop == ITSELF)

    def count(self, full: bool) -> int:
        """The number of its operations; 0 if its scenario does not state it."""
        return self.full_count if full else self.short_count

    def start_us(self, full: bool) -> int:
        """How long after the window's start it starts."""
        return 1000 * (self.full_start_ms if full else self.short_start_ms)

    @property
    def log(self) -> str:
        """The file with its output, in the run's folder."""
        return f"program-{self.name}.log"

    @property
    def transactions(self) -> str:
        """Its log of transactions, in the run's folder; empty if it has none."""
        wanted = self.member is not None and self.kind.transactions
        return f"program-{self.name}-transactions.log" if wanted else ""

    @property
    def threads(self) -> list[str]:
        """Names of its threads in traces."""
        if self.member:
            return [self.name, *self.kind.threads]
        if self.run == "ping-pong":
            return [f"{self.name}-a", f"{self.name}-b"]
        return ["perf", "sched-pipe"]

    def trace_bytes(self, full: bool) -> int:
        """Bytes that it needs in one CPU's trace buffer."""
        return self.count(full) * self.kind.trace_bytes

    def words(self, full: bool) -> str:
        """The program with all its arguments, as words."""
        count = self.count(full)
        if self.member:
            given = self.member.arguments.replace("{count}", str(count))
            template = self.kind.arguments or ""
            text = template.replace("{name}", self.name).replace("{arguments}", given)
            return " ".join([self.kind.path, *text.split()])
        arguments = f"{self.name} {count}"
        if self.run == "perf-sched-pipe":
            arguments = f"bench sched pipe -T -l {count}"
        return f"{self.kind.path} {arguments}"

    def command(self, full: bool, offset_us: int) -> str:
        """The guest agent's command for a program that `launch` starts.

        :param offset_us: how long after the window's start it begins.
        """
        cpus = "any" if self.cpus is None else ",".join(map(str, self.cpus))
        return f"{LAUNCH} {offset_us} {cpus} {self.words(full)}"

    def record(self, full: bool) -> ProgramRecord:
        """Its record for ``cell.json``."""
        return ProgramRecord(
            name=self.name,
            run=self.run,
            count=self.count(full),
            log=self.log,
            role=self.role,
            command=self.words(full) if self.member else "",
            transactions=self.transactions,
        )

    def task(self) -> TaskRecord:
        """The program as a task: its threads have latencies, placement and energy like others."""
        low, high = (
            (self.member.uclamp_min, self.member.uclamp_max) if self.member else (None, None)
        )
        return TaskRecord(
            name=self.name,
            threads=tuple(self.threads),
            period_us=None,
            deadline_us=None,
            work_us=None,
            turns=(),
            uclamp=UclampRange(low, high),
            cpus=self.cpus,
            group=self.group.name if self.group else "",
        )


@dataclass(frozen=True, kw_only=True)
class ProgramFile(Placed, Member):
    """A real program of the guest's image."""

    name: str = key("its name in measures", form=label(MOST_CHARACTERS))
    run: str = key("the kind of program", choices=KINDS)
    full_count: int = key("operations with --full", 1, 10_000_000, default=0)
    short_count: int = key("operations otherwise", 1, 10_000_000, "up to full_count", default=0)
    cpus: tuple[int, ...] | None = maybe("affinity", form=CPUS)
    short_start_ms: int = key("start, after the window begins", 1, MOST_START_MS, "ms", default=0)
    full_start_ms: int = key("the same with --full", 1, MOST_START_MS, "ms", default=0)
    group: str | None = maybe("cgroup in which it starts", form=A_GROUP)
    uclamp: Clamps | None = maybe("utilization clamps")


def program_from(own: ProgramFile, image: str, groups: Sequence[Group]) -> Program:
    """One ``[[program]]``.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    place, kind = own.place, KINDS[own.run]
    if kind.content and image not in kind.content.images:
        images = " or ".join(f'image = "{image}"' for image in kind.content.images)
        raise place.error("run", f"programs of the image {image!r}; {own.run} needs {images}")
    if image == MINIMAL and own.run == "busybox":
        raise place.error("run", 'busybox needs image = "programs"')
    # What exists on the minimal image is started as ever: its runs keep their keys.
    member = None
    if kind.arguments is not None:
        member = _member(own, kind)
    else:
        place.only({*entries_of(ProgramFile)} - {*entries_of(Member), "uclamp"})
    counted = "{count}" in own.arguments
    if member is None or counted or own.full_count:
        own.need("full_count", "short_count")
        place.within("short_count", 1, own.full_count, "up to full_count")
    elif own.short_count:
        place.only({*entries_of(ProgramFile)} - {"short_count"})
    if member and own.full_count and not counted:
        raise place.error("arguments", "a text with {count}, since full_count says how often")
    if own.short_start_ms or own.full_start_ms:
        own.need("short_start_ms", "full_start_ms")
        if member and (member.role != MEASURED or member.stop != ITSELF):
            raise place.error("short_start_ms", "only for a measured program that ends by itself")
    group = group_of(place, groups, [own.cpus] if own.cpus else ())
    return Program(**same(Program, own) | {"member": member, "group": group})


def _member(own: ProgramFile, kind: Kind) -> Member:
    place, run, is_measured = own.place, own.run, measured(own.run)
    role = own.role or (SERVER if kind.is_server else MEASURED if is_measured else LOAD)
    if (role == SERVER) != kind.is_server:
        raise place.error("role", f'"{SERVER}" for servers, and for these only')
    if role == MEASURED and not is_measured:
        raise place.error("role", f'"{LOAD}": no measure reads what {run} prints')
    stop = own.stop or (WINDOW if role != MEASURED else ITSELF)
    if role == MEASURED and stop == WINDOW and not kind.reports_when_stopped:
        raise place.error("stop", f'"{ITSELF}": {run} prints no results when it is stopped')
    if role != MEASURED and stop != WINDOW:
        raise place.error("stop", f'"{WINDOW}": a {role} does not end by itself')
    _check_arguments(own, kind.refused if role == MEASURED else None)
    clamps = own.uclamp or NO_CLAMPS
    clamped = {"uclamp_min": clamps.min, "uclamp_max": clamps.max}
    return Member(**same(Member, own) | {"role": role, "stop": stop} | clamped)


def _check_arguments(own: ProgramFile, refused: tuple[str, str] | None) -> None:
    """Check that a program's arguments are plain words.

    :param refused: as a `Kind` has it; None: its output is not read.
    """
    place, text = own.place, own.arguments
    if text and (not _WORDS.fullmatch(text) or len(text.split()) > MOST_WORDS):
        raise place.error("arguments", f"up to {MOST_WORDS} words with single spaces, no quoting")
    if refused and any(re.fullmatch(refused[0], word) for word in text.split()):
        raise place.error("arguments", refused[1])
