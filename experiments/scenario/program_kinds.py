# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that a scenario may name: their paths, arguments and outputs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from eascope.analysis.programs import PARSERS
from eascope.host.errors import RequestError
from eascope.rootfs.content import GuestProgram, load_content
from eascope.rootfs.image import OVERLAY, PERF, PING_PONG

#: User under which a server runs in the guest (`rootfs.debian.USERS`).
SERVER_USER = 100
#: How long a server may take to be ready.
READY_MS = 60_000
#: Where a server's prepared data are, below the guest's /tmp.
DATA = "/tmp/server"


@dataclass(frozen=True)
class Kind:
    """A program that a scenario may name.

    :param trace_bytes: room in one CPU's trace buffer for one operation, with a margin.
    :param summary: the meaning of one operation.
    :param program: its name in ``rootfs/content.toml``; empty for one of the overlay.
    :param arguments: its arguments; ``{arguments}`` are the scenario's, ``{name}`` is its name
        there, ``{seed}`` a draw of the seed; None: its arguments are a name and a count
        (`Program.command`).
    :param threads: names that its threads take, besides its own.
    :param transactions: it leaves further files, which begin with ``/tmp/NAME-tx-``.
    :param reports_when_stopped: it prints its results also when it is stopped.
    :param user: the user under which it runs.
    :param ready: arguments of the program that says when it is ready; empty for all but servers.
    :param prepared: the name of its prepared files at `DATA`; empty: none.
    :param server: the kind of program that serves it; empty: it needs none.
    :param refused: a pattern of arguments whose output would be read wrongly, and what is allowed.
    """

    path: str
    trace_bytes: int
    summary: str
    program: str
    arguments: str | None = None
    threads: tuple[str, ...] = ()
    transactions: bool = False
    reports_when_stopped: bool = False
    environment: tuple[tuple[str, str], ...] = ()
    user: int | None = None
    ready: str = ""
    prepared: str = ""
    server: str = ""
    refused: tuple[str, str] | None = None

    @property
    def content(self) -> GuestProgram | None:
        """Its entry in ``rootfs/content.toml``."""
        return load_content().programs[self.program] if self.program else None

    @property
    def kernel(self) -> tuple[str, ...]:
        """Fragments of the kernel that it needs."""
        return self.content.kernel if self.content else ()

    @property
    def is_server(self) -> bool:
        """True if it serves others, and must be ready before them."""
        return bool(self.ready)


def _kind(
    program: str, trace_bytes: int, summary: str, arguments: str = "{arguments}", **more: object
) -> Kind:
    """A kind from the content list that takes the scenario's arguments."""
    path = load_content().programs[program].path
    return Kind(path, trace_bytes, summary, program, arguments, **more)  # type: ignore[arg-type]


_DATABASE = "-h /tmp -U postgres"
KINDS = {
    "ping-pong": Kind(PING_PONG, 800, "a round trip of two threads through two pipes", "ping-pong"),
    "perf-sched-pipe": Kind(PERF, 800, "a round trip of perf bench sched pipe -T", ""),
    "cyclictest": _kind(
        *("cyclictest", 800, "a cycle of each thread", "-q {arguments}"),
        reports_when_stopped=True,
        # A word of short options, and what getopt takes for --nsecs.
        refused=(
            r"-[MmnqRrSsuvx]*N.*|--n(s|se|sec|secs)?",
            "no -N and no --nsecs: measures are read as us",
        ),
    ),
    "hackbench": _kind("hackbench", 100_000, "a loop of all senders"),
    "sysbench-cpu": _kind(
        *("sysbench", 100_000, "a second", "cpu {arguments} run"),
        refused=(r"--percentile(?!=95$).*", "--percentile=95, the percentile that is read"),
    ),
    "stress-ng": _kind(
        *("stress-ng", 100_000, "a second", "{arguments} --metrics"),
        threads=("stress-ng-cpu", "stress-ng-vm", "stress-ng-pipe", "stress-ng-sched"),
        reports_when_stopped=True,
    ),
    "perf-bench-pipe": _kind(
        *("perf", 800, "a round trip", "bench sched pipe {arguments}"), threads=("sched-pipe",)
    ),
    "perf-bench-messaging": _kind(
        *("perf", 100_000, "a loop of all senders", "bench sched messaging {arguments}"),
        threads=("sched-messaging",),
    ),
    "schbench": _kind("schbench", 400_000, "a second"),
    "policy-browser": _kind(
        *("policy", 100_000, "an event of the launch", "browser seed={seed} {arguments}"),
        threads=("ui", "loader", "compositor", "binder", "scan", "policyd"),
    ),
    "policy-migrate": _kind(
        *("policy", 100_000, "a round at each OPP", "migrate seed={seed} {arguments}"),
        threads=("migrated",),
    ),
    "pgbench": _kind(
        *("pgbench", 400_000, "a second"),
        f"-n {{arguments}} -l --log-prefix=/tmp/{{name}}-tx- {_DATABASE} postgres",
        transactions=True,
        server="postgres",
        environment=(("HOME", "/tmp"),),
    ),
    "postgres": _kind(
        *("postgres", 0, "it serves until it is stopped", f"-D {DATA}/data {{arguments}}"),
        user=SERVER_USER,
        ready=f"{_DATABASE} -q",
        prepared="postgres",
    ),
    "busybox": Kind("/bin/busybox", 100_000, "whatever the applet does", "", "{arguments}"),
}
#: Program that says whether a server is ready.
READY = load_content().programs["pg_isready"].path


def check_present(run: str) -> None:
    """Check that a program from outside is in the folder from which the image takes it.

    :raises RequestError: one line with the path.
    """
    path = Path(OVERLAY, KINDS[run].path[1:])
    if run == "perf-sched-pipe" and not path.is_file():
        raise RequestError(f"program {run} is not there: put a static arm64 perf at {path}")


def measured(run: str) -> bool:
    """True if its output gives measures."""
    return run in PARSERS
