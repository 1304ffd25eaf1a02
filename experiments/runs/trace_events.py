# SPDX-License-Identifier: GPL-2.0-or-later
"""The trace events that a run records: always, for ``--events``, and for ``--decisions``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from eascope.analysis.energies import COMPUTE_EVENT
from eascope.analysis.trace import DECISION_EVENT
from eascope.configs.platform import Platform
from eascope.experiments.scenario.model import Phase, Scenario, Task
from eascope.host.errors import RequestError, nearest
from eascope.kernels.events import added_by, built_events, qualified
from eascope.kernels.patch_series import folders_of_series, own_files
from eascope.kernels.variants import SERIES, Kernel

#: What every run records; compared variants record the same, so that tracing costs them the same.
TRACE_EVENTS = (
    "sched:sched_switch",
    "sched:sched_waking",
    "sched:sched_wakeup",
    "sched:sched_wakeup_new",
    "sched:sched_migrate_task",
    "task:task_rename",
    "power:cpu_frequency",
    "power:cpu_idle",
    "lisa:lisa__sched_overutilized",
)
#: What a group of `--events` stands for: events of base, so every kernel of ours has them.
GROUPS = {
    "eas": (
        "eascope:sched_compute_energy",
        "lisa:lisa__sched_cpu_capacity",
        "lisa:lisa__sched_util_est_cfs",
        "lisa:lisa__sched_util_est_se",
    ),
    "pelt": (
        "lisa:lisa__sched_pelt_cfs",
        "lisa:lisa__sched_pelt_dl",
        "lisa:lisa__sched_pelt_rt",
        "lisa:lisa__sched_pelt_se",
    ),
    "uclamp": ("eascope:sched_uclamp_cpu", "eascope:sched_uclamp_task"),
    "irq": ("irq:irq_handler_entry", "irq:irq_handler_exit"),
    "cpufreq": ("eascope:gem5_dvfs", "eascope:sched_cpufreq_req"),
}
#: Ring buffer of a CPU per second of tracing; an overrun fails the run, it never loses events.
TRACE_KIB_PER_S = 512
#: Bytes that a job of rt-app writes (a marker; measured: 90), and its least us besides the work.
JOB_BYTES, JOB_US = 128, 10
#: What a rest adds to both (a wake-up, switches, idle states; measured: 310 bytes).
REST_BYTES, REST_US = 384, 20
#: Instructions that no CPU executes faster than in a us.
MOST_PER_US = 10_000
TRACE_KIB_LEAST = 2048
#: How often that where decisions are recorded: they are as long as a wake-up's other events.
ROOM_FOR_DECISIONS = 2
#: Where other events are: those of load tracking come with each update, of tasks and of CPUs.
ROOM_FOR_EVENTS = 8
#: Share of the guest's memory that the buffers may take together.
TRACE_MEMORY_SHARE = 0.5
#: How much larger the buffers of a run are if the trace did not fit into those before.
GROWTH = 4

_EVENT = re.compile(r"(?:\w+:)?\w+")


def read_events(texts: Iterable[str]) -> tuple[str, ...]:
    """The events that values of ``--events`` name, groups written out, sorted.

    :raises RequestError: a wrong name.
    """
    asked: set[str] = set()
    for text in texts:
        for word in text.split(","):
            if not _EVENT.fullmatch(word):
                raise RequestError(
                    f"--events {text!r}: {word!r}: allowed: names such as sched_compute_energy or "
                    f"irq:irq_handler_entry, and the groups {', '.join(GROUPS)}, separated by "
                    "commas"
                )
            asked.update(GROUPS.get(word, (word,)))
    return tuple(sorted(asked))


def check_series_have(events: Iterable[str], kernel: Kernel, variant: str) -> None:
    """Refuse events of series that ``kernel`` does not have, before it is built.

    A person's tree may have a series applied already, so its events are known only after the build.

    :raises RequestError: the first event that it cannot have.
    """
    events = tuple(events)
    # Nearly no cell asks for events, and reading the series for each costs a campaign seconds.
    if kernel.tree or not events:
        return
    its = {name for folder in kernel.folders(SERIES) for name in _added_in(folder)}
    for event in events:
        name = event.rpartition(":")[2]
        have = [series.name for series in folders_of_series(SERIES) if name in _added_in(series)]
        if have and name not in its:
            raise RequestError(
                f"--events: the kernel {kernel.name!r} of {variant!r} has no event {name}; use "
                f"variants of a kernel with the series {' or '.join(have)}"
            )


def _added_in(series: Path) -> set[str]:
    return added_by([*series.rglob("*.patch"), *own_files(series).values()])


def recorded_events(
    events: Sequence[str], *, decisions: bool, traced: bool, vmlinux: Path, kernel: str
) -> tuple[str, ...]:
    """The events that a run records, as ``system:name``.

    :param events: asked for, of `read_events`.
    :param decisions: whether decisions of EAS are recorded, by the more detailed of two events.
    :param vmlinux: the built kernel, which is read where something is asked for.
    :param kernel: its name, for messages.
    :raises RequestError: the kernel has no such event.
    """
    if not traced:
        return ()
    if not events and not decisions:
        return TRACE_EVENTS
    known = built_events(vmlinux)
    more = {_system_and_name(event, known, kernel) for event in events} - {*TRACE_EVENTS}
    last: tuple[str, ...] = ()
    if decisions:
        wanted = DECISION_EVENT if DECISION_EVENT in known else COMPUTE_EVENT
        last = (_system_and_name(wanted, known, kernel),)
    return (*TRACE_EVENTS, *sorted(more - {*last}), *last)


def _system_and_name(event: str, systems: dict[str, tuple[str, ...]], kernel: str) -> str:
    """``system:name`` of an event that may be named without its system.

    :raises RequestError: the kernel has none, or several of that name.
    """
    known = qualified(systems)
    named = [candidate for candidate in known if event in (candidate, candidate.partition(":")[2])]
    if len(named) == 1:
        return named[0]
    if named:
        allowed = f"; use {' or '.join(named)}"
    else:
        near = nearest(event, known if ":" in event else systems, 3)
        allowed = f"{near}; expected one of the {len(known)} events that it was built with"
    raise RequestError(f"--events: the kernel {kernel!r} has no event {event!r}{allowed}")


def trace_kib(
    scenario: Scenario,
    full: bool,
    platform: Platform,
    events: Sequence[str] = TRACE_EVENTS,
    *,
    stir_ms: int = 0,
) -> int:
    """Ring buffer per CPU in KiB for a window and its programs, bounded by the guest's memory.

    0 where nothing is recorded.

    :param events: the recorded events, from `recorded_events`.
    :param stir_ms: duration of the stirring before the warm-up.
    """
    if not events:
        return 0
    seconds = scenario.window.simulated_s(full) + stir_ms / 1000
    programs = sum(program.trace_bytes(full) for program in scenario.programs)
    kib_per_s = max(TRACE_KIB_PER_S, _jobs_kib_per_s(scenario.tasks))
    wanted = (round(seconds * kib_per_s) + programs // 1024) * _room(events)
    return min(most_kib(platform), max(TRACE_KIB_LEAST, wanted))


def _jobs_kib_per_s(tasks: Iterable[Task]) -> float:
    """What jobs write on one CPU: those of all threads, but no more than a busy CPU's."""
    of_all, of_busy = 0.0, 0.0
    for task in tasks:
        rates = [_rates(phase) for phase in task.phases]
        of_all += task.count * max(rate for rate, _ in rates)
        of_busy = max(of_busy, *(busy for _, busy in rates))
    return min(of_all, of_busy)


def _rates(phase: Phase) -> tuple[float, float]:
    """KiB per s that a phase's jobs write, and per s in which they run; 0 where others pace it."""
    if phase.wait or phase.meet or phase.meet_before:
        return 0.0, 0.0
    work_us = phase.run_us or phase.runtime_us or (phase.run_instructions or 0) / MOST_PER_US
    kib, busy_us = JOB_BYTES / 1024, work_us + JOB_US
    sleep_us, period_us = phase.sleep_us or 0, phase.period_us or 0
    if sleep_us or period_us:
        kib, busy_us = kib + REST_BYTES / 1024, busy_us + REST_US
    return kib * 1e6 / max(busy_us + sleep_us, period_us), kib * 1e6 / busy_us


def most_kib(platform: Platform) -> int:
    """The largest ring buffer per CPU that the guest's memory allows, in KiB."""
    return int(platform.memory_mib * 1024 * TRACE_MEMORY_SHARE / len(platform.cpus))


def larger_kib(kib: int, platform: Platform) -> int:
    """The ring buffer per CPU where the trace does not fit into ``kib``; 0: there is none."""
    most = most_kib(platform)
    return min(most, kib * GROWTH) if kib < most else 0


def _room(events: Sequence[str]) -> int:
    """The factor by which ``events`` need more than the usual ring buffer."""
    more = [event.partition(":")[2] for event in events if event not in TRACE_EVENTS]
    if not more:
        return 1
    of_decisions = all(name in (DECISION_EVENT, COMPUTE_EVENT) for name in more)
    return ROOM_FOR_DECISIONS if of_decisions else ROOM_FOR_EVENTS
