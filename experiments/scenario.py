# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios: tasks with their phases, the window, and expectations.

A scenario does not depend on a board. CPUs are symbolic (``little:0``, ``big:*``, ``any``). Work is
in microseconds on the platform's largest CPU at its top OPP. Clamps may be relative to a cluster's
capacity. `experiments.scenario_file` reads a scenario for a platform.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from eascope.analysis.records.cell import (
    LOOPS_WORK,
    Expectation,
    FramesRecord,
    InterruptRecord,
    WorkRecord,
)
from eascope.experiments.conditions import SourceConditions
from eascope.experiments.groups import LATENCY_NICE, Group
from eascope.experiments.program import Program
from eascope.experiments.recorded import Recorded
from eascope.experiments.rtapp_grammar import RtAppFile
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
MOST_PHASES = 1000
MOST_EXPECTATIONS = 99
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


@dataclass(frozen=True)
class Phase:
    """A part of a task's life: work, then rest, ``loops`` times (``None``: to the end).

    ``meet_before`` and ``meet`` name the points at which it waits for another task, before and
    after the work.
    """

    loops: int | None
    wait: str | None
    meet_before: tuple[str, ...]
    run_us: int | None
    runtime_us: int | None
    run_instructions: int | None
    meet: tuple[str, ...]
    sleep_us: int | None
    period_us: int | None
    cpus: tuple[int, ...] | None
    #: How long it waits for the I/O device behind the work; None: it does no I/O.
    io_us: int | None = None
    #: Those of its turns; None: the task's.
    attributes: Attributes | None = None


@dataclass(frozen=True)
class Task:
    """``count`` equal threads. ``cpus`` and the clamps are resolved against the platform.

    With ``pinned`` each thread has one of ``cpus`` for itself. The phases are repeated ``repeat``
    times (``None``: to the end).
    """

    name: str
    count: int
    cpus: tuple[int, ...] | None
    pinned: bool
    repeat: int | None
    attributes: Attributes
    phases: tuple[Phase, ...]
    #: How a turn's work varies: its standard deviation divided by its mean.
    work_cv: float = 0.0
    #: What its timer is: one of `CLOCKS`.
    clock: str = "exact"
    #: Share of its time, on the largest CPU at its top OPP, that no clock shortens.
    memory: float = 0.0
    #: The most that its start is shifted by; None: by its own period.
    start_within_us: int | None = None
    #: How much its threads mind to wait; None: not stated, so the kernel's.
    latency_nice: int | None = None
    #: How long EEVDF lets its threads run at a time; None: not stated, so the kernel's.
    slice_us: int | None = None
    #: The CPUs on which its threads do their first `start_turns` turns, one thread after another.
    start_cpus: tuple[int, ...] = ()
    start_turns: int = 1
    #: Of its threads, from their start on; None: the root.
    group: Group | None = None
    #: Its threads in the scenario's recording, which has their bursts; its phase says nothing then.
    recorded: tuple[str, ...] = ()

    @property
    def varies(self) -> bool:
        """Whether a seed draws its turns."""
        return self.work_cv > 0 or self.clock != "exact"

    @property
    def placed(self) -> bool:
        """Whether the agent gives its threads what rt-app cannot."""
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
        """Whether its first phases run once, before an endless phase."""
        return bool(self.start_cpus) or (self.repeat == 1 and len(self.phases) > 1)

    @property
    def period_us(self) -> int | None:
        """The task's period, when all its phases have the same one."""
        periods = {phase.period_us for phase in self.phases}
        return next(iter(periods)) if len(periods) == 1 else None

    @property
    def endless(self) -> bool:
        """Whether it runs until it is ended from outside."""
        return self.repeat is None or self.phases[-1].loops is None


#: The guess for a window that ends with its tasks or programs, in ms: ample, since the buffers of
#: the trace must hold it.
UNKNOWN_MS = 30_000


@dataclass(frozen=True)
class WindowLengths:
    """Durations in simulated milliseconds; ``short_ms`` is ``None`` if the window ends otherwise.

    ``until`` names that end: ``tasks-end`` or ``programs-end``.
    """

    warmup_ms: int
    short_ms: int | None
    full_ms: int | None
    until: str | None = None
    #: Time before the warm-up in which the variant's own switches are not written yet.
    mainline_ms: int = 0

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
    writes: tuple[Write | Move, ...] = ()
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
    def offline(self) -> tuple[int, ...]:
        """CPUs that are offline at the window's end."""
        online = {}
        for event in self.writes:
            if isinstance(event, Write) and (cpu := ONLINE_CPU.fullmatch(event.path)):
                online[int(cpu[1])] = event.value == "1"
        return tuple(cpu for cpu, still in online.items() if not still)

    @property
    def has_clamps(self) -> bool:
        """Whether any thread or group of it has a clamp."""
        own = [attributes for task in self.tasks for attributes in task.all_attributes]
        clamps = {(each.uclamp_min, each.uclamp_max) for each in own}
        members = (program.member for program in self.programs)
        clamps |= {(member.uclamp_min, member.uclamp_max) for member in members if member}
        in_groups = any(group.has_clamps for group in self.groups)
        in_events = any("/cpu.uclamp." in path for path in self.written_paths)
        return in_groups or in_events or bool(clamps - {(None, None)})

    @property
    def has_latency_nice(self) -> bool:
        """Whether it states a latency_nice, which few kernels have."""
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
            if isinstance(event, Move) or not event.path.endswith(f"/{LATENCY_NICE}")
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
