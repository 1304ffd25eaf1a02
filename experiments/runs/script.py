# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest agent's script for one cell: switches, proofs of the kernel's state, trace, window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from eascope.engines.base import Elision
from eascope.experiments.rtapp.compiler import latest_begin_ms, memory_name, process_of
from eascope.experiments.runs.trace_events import TRACE_EVENTS
from eascope.experiments.scenario import groups, interrupts, members, recorded
from eascope.experiments.scenario.model import Bind, Move, Scenario, Task, Write
from eascope.experiments.scenario.program import MEASURED
from eascope.experiments.scenario.workload import Workload
from eascope.kernels.state import cpu_list
from eascope.kernels.switches import (
    ACTIVATIONS,
    ENERGY_AWARE,
    FEATURES,
    FORCE,
    FORCED_LINES,
    IDLE_GOVERNOR,
    INTERRUPTS,
    SCHED_DEBUG,
    STATS,
)
from eascope.rootfs.elide import FUNCTION_OFFSET, OPENED_SYNCHRONOUSLY, OPENS_DEVICE
from eascope.rootfs.image import REPLAY, RT_APP

#: Where uclamp is in use from boot on, as on a phone, every task's clamps count. Else the kernel
#: leaves them out until the first clamp of all, and counts what was runnable by then only from its
#: next wake-up on: never, if it always runs.
UCLAMP_IN_USE = tuple(
    ("/proc/sys/kernel/sched_util_clamp_min_rt_default", value) for value in ("1023", "1024")
)

TRACING_ON = "/sys/kernel/tracing/tracing_on"
TRACE_MARKER = "/sys/kernel/tracing/trace_marker"
#: What is written there is mixed into the kernel's random numbers.
RANDOM = "/dev/urandom"
#: Files of the guest that a run keeps in addition to its trace.
REPORTED = ("/proc/version", "/proc/cmdline", ENERGY_AWARE, FEATURES, IDLE_GOVERNOR)

#: A line of the kernel's table of forced decisions whose activation never comes. A run writes as
#: many lines as the table has, so that runs which differ in them take the same time.
NEVER = "00000001 99999999 000"

#: What copies a program in the guest.
COPY = "/bin/busybox cp"
#: The agent's verb `bytes` takes so many at once.
AGENT_BYTES = 64


def elision_lines(elision: Elision) -> list[str]:
    """Lines that write the eliding copy's busy function as this run needs it."""
    return [
        f"bytes {elision.program} {FUNCTION_OFFSET + start} "
        f"{elision.function[start : start + AGENT_BYTES].hex()}"
        for start in range(0, len(elision.function), AGENT_BYTES)
    ]


def mixture_lines(mixtures: Sequence[Elision]) -> list[str]:
    """Lines that make rt-app's copies for tasks that wait for memory."""
    lines = []
    for number, elision in enumerate(mixtures, 1):
        copy = f"copy{number}"
        lines += [
            f"mkdir {elision.program.rpartition('/')[0]}",
            f"spawn {copy} {COPY} {elision.copied_from} {elision.program}",
            f"wait {copy}",
            *elision_lines(elision),
        ]
    return lines


def script(  # noqa: PLR0913 - all by keyword; each is a part of the script
    scenario: Scenario,
    workload: Workload,
    *,
    elision: Elision | None,
    switches: Iterable[tuple[str, str]],
    expectations: Sequence[Sequence[str]],
    full: bool,
    boot: Iterable[str] = (),
    events: Sequence[str] = TRACE_EVENTS,
    trace_kib: int,
    later: Iterable[tuple[str, str]] = (),
    expected_before: Sequence[Sequence[str]] = (),
    mixtures: Sequence[Elision] = (),
    symbols: Iterable[tuple[str, str]] = (),
    forced: str | None = None,
) -> bytes:
    """The script's bytes, which are part of the simkey.

    :param workload: rt-app's input with the seed's draws.
    :param elision: the eliding copy of rt-app; None: the loop is executed.
    :param switches: (path, value) of the variant, applied first.
    :param expectations: lines that prove the declared state, before the window and after it.
    :param later: those of ``switches`` that are written in front of the warm-up, the state before
        being that of ``expected_before``.
    :param boot: lines that prove the boot arguments.
    :param events: recorded events as ``system:name``; empty: none.
    :param trace_kib: ring buffer of a CPU for them.
    :param mixtures: the copies of rt-app for tasks that wait for memory.
    :param symbols: (address, name) of the kernel's symbols that readers of the trace resolve.
    :param forced: the decisions that are forced; None: the kernel does not count activations.
    """
    replicate = workload.replicate
    if not workload.documents:  # no rt-app, whose loop it would be
        elision = None
    proofs = [" ".join(words) for words in expectations]
    late = [*later]
    first = [switch for switch in switches if switch not in late]
    before = [" ".join(words) for words in expected_before]
    switching = [*(f"write {path} {value}" for path, value in late), *proofs] if before else []
    setup = []
    if events:
        setup = [f"trace-setup {trace_kib} {' '.join(events)}"]
        setup += [f"trace-symbol {address} {name}" for address, name in symbols]
    copies = {name: elision.program if elision else RT_APP for name in workload.documents}
    copies |= {memory_name(n): mixture.program for n, mixture in enumerate(mixtures, 1)}
    body = [
        *setup,
        *(before or proofs),
        "barrier",
        *([f"write {RANDOM} {replicate.rng_seed}"] if replicate.rng_seed else []),
        *([f"sleep-us {replicate.idle_us}"] if replicate.idle_us else []),
        # rt-app opens the trace marker only while tracing is on, so the warm-up is traced too.
        *([f"write {TRACING_ON} 1", "trace-state"] if events else []),
        *_window(scenario, workload, copies, full, switching, forced, bool(events)),
        *_proofs_after(scenario, proofs),
        *(f"report {path}" for path in (*REPORTED, *([] if forced is None else [FORCE]))),
        *groups.reported(scenario.groups, scenario.written_paths),
        *(["trace-collect"] if events else []),
        *(f"collect /tmp/{name}.log {name}.log" for name in workload.documents),
        *(f"collect /tmp/{program.name}.log {program.log}" for program in scenario.programs),
        *members.transactions(scenario),
        "exit",
    ]
    threads = [_affinity(name, cpus) for name, cpus in scenario.kernel_threads]
    head = [
        *_switches(scenario, first),
        *threads,
        *boot,
        *(elision_lines(elision) if elision else []),
    ]
    synchronous = [
        f"bytes {copy} {OPENS_DEVICE} {OPENED_SYNCHRONOUSLY.hex()}"
        for copy in ({*copies.values()} if scenario.io_us else ())
    ]
    return (
        _lines([*head, *mixture_lines(mixtures), *sorted(synchronous)])
        + _files(workload)
        + _lines(body)
    )


def _proofs_after(scenario: Scenario, proofs: list[str]) -> list[str]:
    """The proofs that hold after the window.

    A partition takes its CPUs out of all domains, and a CPU that is offline has no files.
    """
    gone = [f"{name}{cpu}" for cpu in scenario.offline for name in ("/cpu", "/policy")]
    if scenario.offline or any(group.is_partition for group in scenario.groups):
        gone.append(f"{SCHED_DEBUG}/domains")
    return [line for line in proofs if not any(f"{path}/" in line for path in gone)]


def _lines(lines: Iterable[str]) -> bytes:
    return "\n".join(lines).encode() + b"\n"


def _switches(scenario: Scenario, switches: Iterable[tuple[str, str]]) -> list[str]:
    """The first lines: clamps in use where the scenario has some, then the variant's switches."""
    first = UCLAMP_IN_USE if scenario.has_clamps else ()
    return ["eascope-script 1", *(f"write {path} {value}" for path, value in (*first, *switches))]


def _files(workload: Workload) -> bytes:
    """Lines that write rt-app's inputs, which are raw bytes."""
    return b"".join(
        f"file {document_path(name)} {len(document)}\n".encode() + document + b"\n"
        for name, document in workload.documents.items()
    )


def document_path(name: str) -> str:
    """The path of an input of rt-app, or of `replay`, in the guest."""
    return f"/tmp/{recorded.document_name(name)}"


def _command(name: str, rt_app: str) -> str:
    program = f"{REPLAY} {rt_app}" if name == recorded.NAME else rt_app
    return f"{program} {document_path(name)}"


def _threads(scenario: Scenario, workload: Workload, task: Task) -> list[str]:
    """Each thread of a task as the agent finds it: process and name."""
    record = next(record for record in workload.tasks if record.name == task.name)
    return [f"{process_of(scenario, task)} {thread}" for thread in record.threads]


def _attributes(scenario: Scenario, workload: Workload) -> Iterable[str]:
    """Lines that bring threads, once they are there, to their group, latency_nice and slice."""
    for task in scenario.tasks:
        for thread in _threads(scenario, workload, task):
            if task.group is not None:
                yield f"move {thread} {task.group.path}"
            if task.latency_nice is not None:
                yield f"latency-nice {thread} {task.latency_nice}"
        yield from _slices(scenario, workload, task)


def _slices(scenario: Scenario, workload: Workload, task: Task) -> Iterable[str]:
    """Lines that give the threads of a task their slice, and SCHED_BATCH.

    rt-app states a policy as a thread starts, and with it the default slice.
    """
    for thread in _threads(scenario, workload, task):
        if task.attributes.policy == "batch":
            yield f"batch {thread}"
        if task.slice_us is not None:
            yield f"slice {thread} {task.slice_us}"


def _window(
    scenario: Scenario,
    workload: Workload,
    rt_apps: Mapping[str, str],
    full: bool,
    switching: Sequence[str],
    forced: str | None,
    traced: bool,
) -> list[str]:
    """Lines from the start of the workload to its end: stirring, switch, warm-up and window.

    The kernel's counters are read outside the window, next to both of its ends.

    :param rt_apps: the copy that runs each input, by its path in the guest.
    :param switching: lines that end mainline's time, where the window has one.
    :param traced: whether markers can be written.
    """
    window, programs, replicate = scenario.window, scenario.programs, workload.replicate
    length_ms = window.length_ms(full)
    starts = replicate.programs_us
    # The window starts with the first program: what the machine does before is not the program's.
    measured = [p for p in programs if p.role == MEASURED]
    drawn = [starts[program.name] for program in measured if not program.start_us(full)]
    first_us = min(drawn) if drawn and replicate.noise else 0
    begins = {p.name: p.start_us(full) or starts[p.name] - first_us for p in measured}
    # Writes take time, which is not added to the window.
    sleeps = "until-ms" if scenario.writes else "sleep-ms"
    early = [event for event in scenario.writes if not event.at_ms]
    apart = [*groups.partitions(scenario.groups), *_events(scenario, early, workload, traced)]
    # Mainline's time is counted from where all tasks have begun.
    late_ms = latest_begin_ms(scenario, replicate.noise) if window.mainline_ms else 0
    stir_ms = max(0, replicate.stir_ms - late_ms)
    tasks = workload.own
    waited = tasks if window.until == "tasks-end" else ()
    # Tasks that end begin with the window; it must not begin later.
    placing_ms = max(0, scenario.placing_ms - max(0, late_ms - replicate.stir_ms))
    warm_up_ms = window.warmup_ms + (0 if waited else placing_ms)
    # Threads that only stir end before the window.
    ended = [name for name in workload.documents if name not in (*workload.endless, *tasks)]
    read = [f"report {INTERRUPTS}"] if scenario.interrupts else []
    return [
        *members.setup(scenario, full),
        # What rt-app's threads find when they are made decides where they go, often for good.
        *([f"sleep-us {replicate.rt_app_us}"] if workload.documents else []),
        *(f"spawn {name} {_command(name, rt_apps[name])}" for name in workload.documents),
        *_attributes(scenario, workload),
        *members.loads(scenario, full, starts),
        *interrupts.begin(scenario.interrupts),
        *([f"sleep-ms {window.mainline_ms + late_ms}"] if window.mainline_ms else []),
        *switching,
        # Stirring pins threads to every CPU.
        *([f"sleep-us {stir_ms * 1000}", *apart] if apart else []),
        *members.warm_up(scenario, (warm_up_ms + (0 if apart else stir_ms)) * 1000 + first_us),
        *(f"wait {name}" for name in ended),
        # By now rt-app has stated its policies. Of tasks that end before the window none is left.
        *(
            line
            for task in scenario.tasks
            if task.endless or waited
            for line in _slices(scenario, workload, task)
        ),
        f"report {STATS}",
        *read,
        *(f"write {FORCE} {line}" for line in _forced(forced)),
        *([] if forced is None else [f"write {ACTIVATIONS} 1"]),
        "start",
        *(
            members.spawn(program, full, begins[program.name]).replace(
                "{seed}", str(int(replicate.rng_seed[:8] or "0", 16))
            )
            for program in measured
        ),
        *_events(scenario, scenario.writes[len(early) :], workload, traced),
        *([f"{sleeps} {length_ms}"] if length_ms is not None else []),
        *(f"wait {name}" for name in waited),
        *(f"wait {program.name}" for program in programs if program.ends_itself),
        "stop",
        *read,
        *([f"write {INTERRUPTS} stop"] if read else []),
        f"report {STATS}",
        *members.stops(scenario),
        *(f"kill {name}" for name in workload.documents if name not in (*waited, *ended)),
    ]


def _forced(forced: str | None) -> list[str]:
    """All lines of the table; none where nothing is counted."""
    if forced is None:
        return []
    lines = forced.split(",") if forced else []
    return [*lines, *[NEVER] * (FORCED_LINES - len(lines))]


def _affinity(thread: str, cpus: Iterable[int]) -> str:
    return f"affinity {thread} {' '.join(map(str, cpus))}"


def _events(
    scenario: Scenario, events: Iterable[Write | Move | Bind], workload: Workload, traced: bool
) -> Iterator[str]:
    """Lines of events, each with a marker in the trace."""
    tasks = {task.name: task for task in scenario.tasks}
    for event in events:
        if event.at_ms:
            yield f"until-ms {event.at_ms}"
        if isinstance(event, Move):
            done = f"{event.task} > {event.group.name}"
            for thread in _threads(scenario, workload, tasks[event.task]):
                yield f"move {thread} {event.group.path}"
        elif isinstance(event, Bind):
            done = f"{event.thread} > {cpu_list(event.cpus)}"
            yield _affinity(event.thread, event.cpus)
        else:
            done = f"{event.path} = {event.value}"
            if event.path.startswith(groups.ROOT):
                yield from groups.written(event.path, event.value)
            else:
                yield f"write {event.path} {event.value}"
        if traced:  # else nobody may write a marker
            yield f"write {TRACE_MARKER} eascope: {done}"
