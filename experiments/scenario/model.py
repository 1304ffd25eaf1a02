# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios: tasks with their phases, the window, and expectations.

A scenario does not depend on a board. CPUs are symbolic (``little:0``, ``big:*``, ``any``). Work is
in microseconds on the platform's largest CPU at its top OPP. Clamps may be relative to a cluster's
capacity. `experiments.scenario_file` reads a scenario for a platform.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eascope.analysis.records.cell import (
    LOOPS_WORK,
    Expectation,
    FramesRecord,
    InterruptRecord,
    WorkRecord,
)
from eascope.configs.cpunames import CpuNameError
from eascope.experiments.scenario.clamps import CPUS
from eascope.experiments.scenario.conditions import SourceConditions
from eascope.experiments.scenario.groups import LATENCY_NICE, Group
from eascope.experiments.scenario.program import Program
from eascope.experiments.scenario.recorded import Recorded
from eascope.experiments.scenario.rtapp_grammar import RtAppFile
from eascope.host.keys import Context, Form, WrongValue, is_line, is_plain, key, label, maybe, named
from eascope.kernels.switches import ONLINE_CPU
from eascope.rootfs.content import MINIMAL

#: What a task's timer is, and how far it is from an exact one.
CLOCKS = {
    "exact": "every period, to the microsecond",
    "vsync": "every period, each time up to 0.2 ms early or late",
    "audio": "a clock of its own, up to 20 ppm slow or fast",
    "exponential": "at random, with the period as the mean",
}
#: Which threads run besides a scenario's own.
BACKGROUNDS = {
    "none": "no other",
    "board": "those of an idle device",
}
#: Policies of threads, by class.
FAIR, REALTIME, DEADLINE = ("other", "batch", "idle"), ("fifo", "rr"), "deadline"
MOST_THREADS = 99
#: Of a task's name: Linux keeps 15 of a thread's; rt-app appends ``-N``.
MOST_CHARACTERS = 12
#: rt-app's load argument is a 32-bit int; ten minutes of work in one burst stays below it.
LONGEST_US = 600_000_000
#: Of a task's time; beyond it, a core's own cycles for each miss leave no time on some platforms.
MOST_MEMORY = 0.7
#: A task's load signals follow its changes within 100 to 200 ms.
LEAST_WARMUP_MS = 200
#: How long it takes until threads are in their groups, by thread (measured on juno-r2: 1.1 ms).
PLACING_MS = 3


@dataclass(frozen=True)
class Attributes:
    """What a thread asks the scheduler for; clamps of None are the kernel's.

    :param deadline: with this policy alone: runtime, deadline and period in us.
    """

    policy: str = "other"
    nice: int = 0
    priority: int = 10
    uclamp_min: int | None = None
    uclamp_max: int | None = None
    deadline: tuple[int, int, int] | None = None


def _meet(value: Any, context: Context) -> tuple[str, ...]:  # noqa: ANN401 - of TOML
    names = [value] if isinstance(value, str) else value
    good = lambda name: isinstance(name, str) and re.fullmatch("[a-z][a-z0-9_]*", name)  # noqa: E731
    if not isinstance(names, list) or not names or not all(map(good, names)):
        raise WrongValue("", value, MEET.allowed)
    return tuple(names)


#: Names of meeting points, in the order in which they are reached.
MEET = Form(
    "a name of a-z 0-9 _, or a list of such names",
    {"type": ["string", "array"], "minLength": 1, "minItems": 1, "items": {"type": "string"}},
    _meet,
)


@dataclass(frozen=True)
class Phase:
    """A part of a task's life: work, then rest, ``loops`` times (``None``: to the end)."""

    loops: int | None = maybe("number of jobs (default: until the end)", 1, 1_000_000)
    wait: str | None = maybe(
        "sleep until that task has done its work", form=named("the name of another task")
    )
    meet_before: tuple[str, ...] = key("the same before the work", form=MEET, default=())
    run_us: int | None = maybe("work: its time on the largest CPU at top OPP", 1, LONGEST_US, "us")
    runtime_us: int | None = maybe("busy for this time, whatever the CPU", 1, LONGEST_US, "us")
    run_instructions: int | None = maybe("work: busy-loop instructions", 1, 10**12)
    meet: tuple[str, ...] = key("rendezvous with another task", form=MEET, default=())
    sleep_us: int | None = maybe("sleep for this time", 1, LONGEST_US, "us")
    period_us: int | None = maybe("sleep until the next period begins", 100, LONGEST_US, "us")
    cpus: tuple[int, ...] | None = maybe("affinity from this phase on", form=CPUS)
    io_us: int | None = maybe("sleep in I/O after the work", 1, 1_000_000, "us")
    #: Those of its jobs; None: the task's.
    attributes: Attributes | None = None


def _count(value: Any, context: Context) -> int:  # noqa: ANN401 - of TOML
    if isinstance(value, str):  # as many as the CPUs of that name
        try:
            return len(context["platform"].resolve(value))
        except CpuNameError as error:
            raise WrongValue("", value, f"an integer, or {error.allowed}") from error
    if not is_plain(int, value) or not 1 <= value <= MOST_THREADS:
        raise WrongValue("", value, f"an integer in 1..{MOST_THREADS}")
    return int(value)


def _repeat(value: Any, context: Context) -> int | None:  # noqa: ANN401 - of TOML
    if not (is_plain(int, value) and 1 <= value <= 1_000_000) and value != "forever":
        raise WrongValue("", value, REPEAT.allowed)
    return None if value == "forever" else int(value)


def _recorded(value: Any, context: Context) -> tuple[str, ...]:  # noqa: ANN401 - of TOML
    if value != "others" and not (isinstance(value, list) and value and all(map(is_line, value))):
        raise WrongValue("", value, RECORDED.allowed)
    return () if value == "others" else tuple(value)


_WORDS = ["integer", "string"]
COUNT = Form(
    f"an integer in 1..{MOST_THREADS}, or a name of CPUs",
    {"type": _WORDS, "minimum": 1, "maximum": MOST_THREADS},
    _count,
)
REPEAT = Form(
    'an integer in 1..1000000, or "forever"',
    {"type": _WORDS, "minimum": 1, "maximum": 1_000_000, "pattern": "^forever$"},
    _repeat,
)
RECORDED = Form(
    'threads of the scenario\'s recording that no task above has, or "others": the rest',
    {"type": ["string", "array"], "pattern": "^others$", "items": {"type": "string"}},
    _recorded,
)


@dataclass(frozen=True)
class Task:
    """Equal threads; CPUs and clamps are resolved against the platform.

    With ``pinned`` each thread has one of ``cpus`` for itself.
    """

    name: str = key("unique name", form=label(MOST_CHARACTERS))
    count: int = key("number of equal threads", form=COUNT, default=1)
    cpus: tuple[int, ...] | None = maybe("affinity of its threads", form=CPUS)
    pinned: bool = False
    repeat: int | None = key("how often the phases run", form=REPEAT, default=1)
    attributes: Attributes = Attributes()
    phases: tuple[Phase, ...] = ()
    #: Beyond 2, most jobs would do next to nothing.
    work_cv: float = key("standard deviation / mean of a job's work", 0, 2.0, default=0.0)
    clock: str = key("timer that starts its periods", choices=CLOCKS, default="exact")
    memory: float = key("share of its time spent waiting for memory", 0, MOST_MEMORY, default=0.0)
    start_within_us: int | None = maybe("latest start that a seed selects", 0, LONGEST_US, "us")
    latency_nice: int | None = maybe("latency_nice of its threads", -20, 19)
    slice_us: int | None = maybe("EEVDF slice of its threads", 100, 100_000, "us")
    start_cpus: tuple[int, ...] = key("the CPUs on which it starts", form=CPUS, default=())
    start_turns: int = key("jobs done on start_cpus", 1, 100, default=1)
    #: Of its threads, from their start on; None: the root.
    group: Group | None = None
    recorded: tuple[str, ...] = key("recorded threads to replay", form=RECORDED, default=())

    @property
    def varies(self) -> bool:
        """True if a seed draws its jobs."""
        return self.work_cv > 0 or self.clock != "exact"

    @property
    def placed(self) -> bool:
        """True if the agent gives its threads what rt-app cannot."""
        stated = self.latency_nice is not None or self.slice_us is not None
        return bool(self.group) or stated or self.attributes.policy == "batch"

    @property
    def all_attributes(self) -> list[Attributes]:
        """Its own attributes, and those of its phases."""
        return [self.attributes, *(phase.attributes for phase in self.phases if phase.attributes)]

    @property
    def affinities(self) -> list[tuple[int, ...]]:
        """Each set of CPUs to which a thread of it is ever confined."""
        own = [(cpu,) for cpu in self.cpus or ()] if self.pinned else [self.cpus]
        own += [(cpu,) for cpu in self.start_cpus]
        return [cpus for cpus in (*own, *(phase.cpus for phase in self.phases)) if cpus]

    @property
    def names_met(self) -> frozenset[str]:
        """The names of the points at which it meets other tasks."""
        return frozenset(
            name for phase in self.phases for name in (*phase.meet_before, *phase.meet)
        )

    @property
    def has_prelude(self) -> bool:
        """True if its first phases run once, before an endless phase."""
        return bool(self.start_cpus) or (self.repeat == 1 and len(self.phases) > 1)

    @property
    def period_us(self) -> int | None:
        """The task's period, when all its phases have the same one."""
        periods = {phase.period_us for phase in self.phases}
        return next(iter(periods)) if len(periods) == 1 else None

    @property
    def endless(self) -> bool:
        """True if it runs until it is ended from outside."""
        return self.repeat is None or self.phases[-1].loops is None


#: The guess for a window that ends with its tasks or programs, in ms: ample, since the buffers of
#: the trace must hold it.
UNKNOWN_MS = 30_000


@dataclass(frozen=True)
class WindowLengths:
    """Durations in simulated milliseconds; ``short_ms`` is ``None`` if the window ends otherwise.

    ``until`` names that end: ``tasks-end`` or ``programs-end``.
    """

    warmup_ms: int = key("before the window", LEAST_WARMUP_MS, 600_000, "ms: PELT settles in 200")
    short_ms: int | None = maybe("length", 1, 3_000_000, "ms, up to full_ms")
    full_ms: int | None = maybe("length with --full", 1, 3_000_000, "ms")
    until: str | None = maybe("what ends the window", choices=("tasks-end", "programs-end"))
    #: Time before the warm-up in which the variant's own switches are not written yet.
    mainline_ms: int = key("time on mainline settings", LEAST_WARMUP_MS, 600_000, "ms", default=0)

    def length_ms(self, full: bool) -> int | None:
        """The measured part's length, or ``None``: until the tasks or programs end."""
        return self.full_ms if full else self.short_ms

    def simulated_s(self, full: bool) -> float:
        """Warm-up and measured part in s, with `UNKNOWN_MS` where the length is not known."""
        length_ms = self.length_ms(full)
        before_ms = self.mainline_ms + self.warmup_ms
        return (before_ms + (UNKNOWN_MS if length_ms is None else length_ms)) / 1000


@dataclass(frozen=True)
class Write:
    """A file of the guest's kernel that is written ``at_ms`` after the window's start."""

    at_ms: int
    path: str
    value: str


@dataclass(frozen=True)
class Move:
    """A task that goes to a group ``at_ms`` after the window's start."""

    at_ms: int
    task: str
    group: Group


@dataclass(frozen=True)
class Bind:
    """A thread of the kernel that goes to some CPUs ``at_ms`` after the window's start."""

    at_ms: int
    thread: str
    cpus: tuple[int, ...]


@dataclass(frozen=True)
class Scenario:
    """A scenario, checked against one platform."""

    name: str
    path: Path
    summary: str
    source: str
    loads: str
    tasks: tuple[Task, ...]
    programs: tuple[Program, ...]
    window: WindowLengths
    expect: tuple[Expectation, ...]
    digest: str
    #: One of `BACKGROUNDS`.
    background: str = "none"
    work: WorkRecord = LOOPS_WORK
    #: What its source had; None: nothing is said.
    source_conditions: SourceConditions | None = None
    frames: FramesRecord | None = None
    #: In the order of time.
    writes: tuple[Write | Move | Bind, ...] = ()
    #: How much later its tasks start than others': by then the agent has given all of them what
    #: rt-app cannot. The same on every kernel, also on one without such an attribute.
    placing_ms: int = 0
    #: Parents before children.
    groups: tuple[Group, ...] = ()
    #: The guest image: one of ``rootfs/content.toml``.
    image: str = MINIMAL
    #: rt-app's own file, whose tasks its tasks are.
    rt_app: RtAppFile | None = None
    #: The CPUs on which threads of the kernel may run, by name.
    kernel_threads: tuple[tuple[str, tuple[int, ...]], ...] = ()
    recording: Recorded | None = None
    interrupts: tuple[InterruptRecord, ...] = ()

    @property
    def memory(self) -> tuple[float, ...]:
        """The shares of tasks that wait for memory, each once."""
        return tuple(sorted({task.memory for task in self.tasks if task.memory}))

    @property
    def written_paths(self) -> list[str]:
        """The files that its events write."""
        return [event.path for event in self.writes if isinstance(event, Write)]

    @property
    def bound_threads(self) -> list[str]:
        """Threads of the kernel whose CPUs it states, before the window or within it."""
        own = [event.thread for event in self.writes if isinstance(event, Bind)]
        return [*(name for name, _ in self.kernel_threads), *own]

    @property
    def offline(self) -> tuple[int, ...]:
        """CPUs that are offline at the window's end."""
        online = {}
        for event in self.writes:
            if isinstance(event, Write) and (cpu := ONLINE_CPU.fullmatch(event.path)):
                online[int(cpu[1])] = event.value == "1"
        return tuple(cpu for cpu, still in online.items() if not still)

    @property
    def has_clamps(self) -> bool:
        """True if any thread or group of it has a clamp."""
        own = [attributes for task in self.tasks for attributes in task.all_attributes]
        clamps = {(each.uclamp_min, each.uclamp_max) for each in own}
        members = (program.member for program in self.programs)
        clamps |= {(member.uclamp_min, member.uclamp_max) for member in members if member}
        in_groups = any(group.has_clamps for group in self.groups)
        in_events = any("/cpu.uclamp." in path for path in self.written_paths)
        return in_groups or in_events or bool(clamps - {(None, None)})

    @property
    def has_latency_nice(self) -> bool:
        """True if it states a latency_nice, which few kernels have."""
        return self != self.without_latency_nice()

    def without_latency_nice(self) -> Scenario:
        """The same as a kernel without the attribute runs it."""
        programs = (
            replace(program, member=program.member and program.member.without_latency_nice())
            for program in self.programs
        )
        tasks = (replace(task, latency_nice=None) for task in self.tasks)
        writes = (
            event
            for event in self.writes
            if not isinstance(event, Write) or not event.path.endswith(f"/{LATENCY_NICE}")
        )
        return replace(
            self,
            tasks=tuple(tasks),
            programs=tuple(programs),
            writes=tuple(writes),
            groups=tuple(group.without_latency_nice() for group in self.groups),
        )

    @property
    def io_us(self) -> int | None:
        """The service time of the I/O device; None: no phase needs one."""
        times = (phase.io_us for task in self.tasks for phase in task.phases)
        return next((us for us in times if us), None)

    @property
    def kernel_fragments(self) -> tuple[str, ...]:
        """Fragments that it needs in addition to a kernel's own configuration."""
        needed = {name for program in self.programs for name in program.kind.kernel}
        needed |= {"io"} if self.io_us else set()
        return tuple(sorted(needed | ({"irq"} if self.interrupts else set())))

    @property
    def boot(self) -> str:
        """Boot arguments that it needs: a device that answers each request by a timer."""
        if not self.io_us:
            return ""
        settings = {"irqmode": 2, "completion_nsec": 1000 * self.io_us, "bs": 4096}
        return " ".join(f"null_blk.{name}={value}" for name, value in settings.items())

    @property
    def prepared(self) -> str:
        """The name of a server's prepared files in the guest; empty: none."""
        return next(
            (program.kind.prepared for program in self.programs if program.kind.prepared), ""
        )
