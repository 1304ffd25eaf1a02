# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines of the agent's script for programs that the guest's ``member`` starts and stops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from eascope.experiments.scenario import groups
from eascope.experiments.scenario.model import Scenario
from eascope.experiments.scenario.program import LOAD, MEASURED, SERVER, Program
from eascope.experiments.scenario.program_kinds import DATA, READY, READY_MS
from eascope.rootfs.content import PROGRAMS, load_content

#: Where the image has what was prepared for a server.
ARCHIVES = "/data"
BUSYBOX = "/bin/busybox"
#: Where rt-app makes groups of its own: it knows those of version 1.
RT_APP_GROUPS = "/tmp/groups"
#: Beyond `member`'s own limits, so that its words are the ones that are read.
STOP_MS = 60_000
#: Names in the agent's script that no program can have.
SETUP, CHECK = "programs-setup", "programs-alive"
#: How long before the window the other programs are looked at: the look itself is over by then.
CHECK_US = 100_000


def member() -> str:
    """The program that starts the others, by its path in the guest."""
    return load_content().programs["member"].path


def setup(scenario: Scenario, full: bool) -> Iterator[str]:
    """Lines for groups, the programs' environment, and the servers, which must be ready."""
    yield from groups.setup(scenario.groups, scenario.written_paths)
    if scenario.rt_app and scenario.rt_app.in_groups:
        yield f"mkdir {RT_APP_GROUPS}"
        yield from _done("groups", f"{BUSYBOX} mount -t cgroup -o cpu none {RT_APP_GROUPS}")
    if scenario.image != PROGRAMS:
        return
    yield from _done(SETUP, f"{member()} setup")
    for program in scenario.programs:
        if program.role == SERVER:
            yield from _server(program, full)


def _done(name: str, command: str) -> Iterator[str]:
    yield f"spawn {name} {command}"
    yield f"wait {name}"


def _server(program: Program, full: bool) -> Iterator[str]:
    kind, name = program.kind, program.name
    if kind.prepared:
        archive = f"{ARCHIVES}/{kind.prepared}.tar"
        yield from _done(f"{name}-folder", f"{BUSYBOX} mkdir -p {DATA}")
        yield from _done(f"{name}-data", f"{BUSYBOX} tar -xf {archive} -C {DATA}")
    yield spawn(program, full, 0)
    asked = f"{member()} ready {name} {READY_MS} {READY} {kind.ready}"
    yield from _done(f"{name}-ready", asked)


def loads(scenario: Scenario, full: bool, starts: Mapping[str, int]) -> Iterator[str]:
    """Lines for the loads, which run before the warm-up begins."""
    for program in scenario.programs:
        if program.role == LOAD:
            yield spawn(program, full, starts[program.name])


def warm_up(scenario: Scenario, length_us: int) -> Iterator[str]:
    """Lines that wait; near their end, loads and servers must still run.

    Without this check the run would go on to the end of its window, or a client would fail.
    """
    names = [program.name for program in scenario.programs if program.role != MEASURED]
    if not names:
        yield f"sleep-us {length_us}"
        return
    yield f"sleep-us {length_us - CHECK_US}"
    yield f"spawn {CHECK} {member()} alive {' '.join(names)}"
    yield f"sleep-us {CHECK_US}"
    yield f"wait {CHECK}"


def spawn(program: Program, full: bool, offset_us: int) -> str:
    """The line that starts a program, in its group.

    :param offset_us: how long after that the program begins.
    """
    verb = f"spawn-in {program.group.path}" if program.group else "spawn"
    return f"{verb} {program.name} {command(program, full, offset_us)}"


def command(program: Program, full: bool, offset_us: int) -> str:
    """The command that the agent spawns.

    :param offset_us: how long after that the program begins.
    """
    given = program.member
    if given is None:
        return program.command(full, offset_us)
    words = [member(), "run", program.name, f"delay-us={offset_us}"]
    words += [f"limit-ms={1000 * given.limit_s}", f"exit={given.exit}"]
    words += [f"endless={int(not program.ends_itself)}"]
    if program.cpus is not None:
        words.append("cpus=" + ",".join(map(str, program.cpus)))
    optional = {
        "nice": given.nice,
        "latency-nice": given.latency_nice,
        "uclamp-min": given.uclamp_min,
        "uclamp-max": given.uclamp_max,
        "uid": program.kind.user,
    }
    words += [f"{key}={value}" for key, value in optional.items() if value is not None]
    variables = {**dict(program.kind.environment), **dict(given.environment)}
    words += [f"env={name}={value}" for name, value in variables.items()]
    return " ".join([*words, "--", program.words(full)])


def stops(scenario: Scenario) -> Iterator[str]:
    """Lines after the window: end the programs that still run, servers last."""
    order = sorted(scenario.programs, key=lambda item: (item.role != MEASURED, item.role == SERVER))
    for program in order:
        if program.member and not program.ends_itself:
            yield from _done(f"{program.name}-stop", f"{member()} stop {program.name}")
            yield f"wait {program.name} {STOP_MS}"


def transactions(scenario: Scenario) -> Iterator[str]:
    """The transactions that programs have logged, each program's in one file."""
    for program in scenario.programs:
        if program.transactions:
            joined = f"/tmp/{program.name}.transactions"
            words = f"{member()} gather {joined} /tmp/{program.name}-tx-"
            yield from _done(f"{program.name}-gather", words)
            yield f"collect {joined} {program.transactions}"
