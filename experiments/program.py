# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of a scenario: they run along with its tasks, and their output becomes measures.

A program is executed in full: no part of it is ever elided.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from eascope.analysis.records.cell import ProgramRecord, TaskRecord, UclampRange
from eascope.configs.platform import Platform
from eascope.experiments.groups import Group, read_clamps, read_cpus, read_group
from eascope.experiments.program_kinds import KINDS, Kind, measured
from eascope.host.strict import StrictTable
from eascope.rootfs.content import MINIMAL
from eascope.rootfs.image import LAUNCH

#: Linux keeps 15 characters of a thread's name; a program's threads have "-a" and "-b" appended.
MOST_CHARACTERS = 13
#: Words of a program's arguments: with all other keys but variables, the guest's agent takes them.
MOST_WORDS = 40
MEASURED, LOAD, SERVER = "measured", "load", "server"
ROLES = (MEASURED, LOAD, SERVER)
#: When a measured program ends.
ITSELF, WINDOW = "itself", "window"
#: Simulated seconds after which a program is taken to hang.
LIMIT_S = 120
#: Longest time from the window's start to a program's.
MOST_START_MS = 600_000
#: Keys of a program that the guest's `member` starts.
_VARIABLE = re.compile(r"[A-Za-z_]\w*")
_WORDS = re.compile(r"[\x21-\x7e]+( [\x21-\x7e]+)*")


@dataclass(frozen=True)
class Member:
    """Further settings of a program of the programs image: its start, its stop and its role.

    :param role: one of `ROLES`.
    :param stop: `ITSELF` or `WINDOW`.
    :param arguments: the scenario's, with ``{count}`` in place of its count.
    :param latency_nice: its own; None: not stated.
    :param exit: the expected exit status.
    """

    role: str
    stop: str
    arguments: str
    nice: int | None
    uclamp_min: int | None
    uclamp_max: int | None
    environment: tuple[tuple[str, str], ...]
    exit: int
    limit_s: int
    latency_nice: int | None = None

    def without_latency_nice(self) -> Member:
        """The same for a kernel that has no such attribute."""
        return replace(self, latency_nice=None)


@dataclass(frozen=True)
class Program:
    """One program; ``cpus`` are resolved against the platform (``None``: everywhere).

    :param member: None for one that `launch` starts, with its name and a count.
    :param group: in which it starts; None: the root.
    :param short_start_ms: how long after the window's start it starts, in a short run.
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
        """One of `ROLES`."""
        return self.member.role if self.member else MEASURED

    @property
    def ends_itself(self) -> bool:
        """Whether the window may end with it."""
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


def read_program(
    table: StrictTable, platform: Platform, image: str, groups: Sequence[Group]
) -> Program:
    """One ``[[program]]``.

    :param image: the scenario's guest image.
    :param groups: the scenario's.
    :raises RequestError: one line: file, key, value, what is allowed.
    """
    name = table.text("name")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or len(name) > MOST_CHARACTERS:
        raise table.error("name", f"1 to {MOST_CHARACTERS} of a-z 0-9 _, beginning with a letter")
    run = table.text("run", KINDS)
    content = KINDS[run].content
    if content and image not in content.images:
        images = " or ".join(f'image = "{image}"' for image in content.images)
        raise table.error("run", f"programs of the image {image!r}; {run} needs {images}")
    if image == MINIMAL and run == "busybox":
        raise table.error("run", 'busybox needs image = "programs"')
    # What exists on the minimal image is started as ever: its runs keep their keys.
    member = _member(table, platform, KINDS[run]) if KINDS[run].arguments is not None else None
    full = short = 0
    if member is None or "{count}" in member.arguments or table.has("full_count"):
        full = table.integer("full_count", 1, 10_000_000)
        short = table.integer("short_count", 1, full, "up to full_count")
    if member and full and "{count}" not in member.arguments:
        raise table.error("arguments", "a text with {count}, since full_count says how often")
    cpus = read_cpus(table, platform)
    later = [0, 0]
    if table.has("short_start_ms") or table.has("full_start_ms"):
        keys = ("short_start_ms", "full_start_ms")
        later = [table.integer(key, 1, MOST_START_MS, "ms") for key in keys]
        if member and (member.role != MEASURED or member.stop != ITSELF):
            raise table.error("short_start_ms", "only for a measured program that ends by itself")
    program = Program(
        name=name,
        run=run,
        cpus=cpus,
        short_count=short,
        full_count=full,
        member=member,
        group=read_group(table, groups, [cpus] if cpus else ()),
        short_start_ms=later[0],
        full_start_ms=later[1],
    )
    table.finish()
    return program


def _member(table: StrictTable, platform: Platform, kind: Kind) -> Member:
    run = table.text("run")
    default = SERVER if kind.is_server else MEASURED if measured(run) else LOAD
    role = table.text("role", ROLES) if table.has("role") else default
    if (role == SERVER) != kind.is_server:
        raise table.error("role", f'"{SERVER}" for servers, and for these only')
    if role == MEASURED and not measured(run):
        raise table.error("role", f'"{LOAD}": no measure reads what {run} prints')
    stop = WINDOW if role != MEASURED else ITSELF
    if table.has("stop"):
        stop = table.text("stop", (ITSELF, WINDOW))
    if role == MEASURED and stop == WINDOW and not kind.reports_when_stopped:
        raise table.error("stop", f'"{ITSELF}": {run} prints no results when it is stopped')
    if role != MEASURED and stop != WINDOW:
        raise table.error("stop", f'"{WINDOW}": a {role} does not end by itself')
    low, high = read_clamps(table, platform)
    member = Member(
        role=role,
        stop=stop,
        arguments=_arguments(table, kind.refused if role == MEASURED else None),
        nice=table.integer("nice", -20, 19) if table.has("nice") else None,
        uclamp_min=low,
        uclamp_max=high,
        environment=tuple(_environment(table)) if table.has("environment") else (),
        exit=table.integer("exit", 0, 125) if table.has("exit") else 0,
        limit_s=table.integer("limit_s", 1, 3600, "s") if table.has("limit_s") else LIMIT_S,
        latency_nice=table.integer("latency_nice", -20, 19) if table.has("latency_nice") else None,
    )
    return member


def _arguments(table: StrictTable, refused: tuple[str, str] | None) -> str:
    """The program's arguments as words; none if not stated.

    :param refused: as a `Kind` has it; None: its output is not read.
    """
    if not table.has("arguments"):
        return ""
    text = table.text("arguments")
    if not _WORDS.fullmatch(text) or len(text.split()) > MOST_WORDS:
        raise table.error("arguments", f"up to {MOST_WORDS} words with single spaces, no quoting")
    if refused and any(re.fullmatch(refused[0], word) for word in text.split()):
        raise table.error("arguments", refused[1])
    return text


def _environment(table: StrictTable) -> Iterator[tuple[str, str]]:
    variables = table.table("environment")
    for name in variables.data:
        value = variables.text(name)
        if not _VARIABLE.fullmatch(name) or " " in value:
            raise variables.error(name, "a name of letters, digits and _, a value without spaces")
        yield name, value
