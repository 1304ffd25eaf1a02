# SPDX-License-Identifier: GPL-2.0-or-later
"""``cell.json``: the simulated cell in words and digests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from eascope.engines.records import Traits
from eascope.host.keys import key, maybe, named, text_form
from eascope.host.record import REST, Record
from eascope.kernels.provenance import KERNEL_SRC, KernelProvenance
from eascope.kernels.releases import number
from eascope.rootfs.provenance import ImageProvenance

#: How work is counted: ends of a task's jobs, its wake-ups, operations of all programs, or the
#: busy loop's work of all tasks, in seconds of the largest CPU at its top OPP.
TURNS, WAKE_UPS, PROGRAMS, BUSY_LOOP = "turns", "wakeups", "programs", "busy_loop"

_TASK = named("the name of a task")
_UNIT = text_form(
    re.compile("[a-z][a-z -]{0,23}").fullmatch,
    "what one unit is called, in 1 to 24 of a-z, space and -",
    "^[a-z][a-z -]{0,23}$",
)


@dataclass(frozen=True)
class WorkRecord(Record):
    """The unit in which a scenario counts work."""

    unit: str = key("its name, such as frame", form=_UNIT)
    counted: str = key("what is counted", form=named("turns.TASK, wakeups.TASK or programs"))


#: What is counted where a scenario says nothing and has no programs.
LOOPS_WORK = WorkRecord("s of work", BUSY_LOOP)


@dataclass(frozen=True)
class FramesRecord(Record):
    """The tasks that make frames; each has one thread."""

    paced_by: str = key("the task whose periods frames begin with", form=_TASK)
    drawn_by: str = key("the task whose job ends with the frame", form=_TASK)
    periods: int = key("how many periods after its beginning a frame is due", 1, 9, default=1)


CELL = "cell.json"
SCHEMA = 1
#: Of `CellRecord.set_otherwise`: a seed draws starts alone.
NO_NOISE = "no-noise"

#: What names of threads that only stir begin with; no task's name does.
STIR = "stir"

#: The group of tasks that are in none of the scenario's.
NO_GROUP = "root"


@dataclass(frozen=True, kw_only=True)
class KernelRecord(KernelProvenance):
    """A built kernel: its name, the output of ``uname -r``, and its origin."""

    name: str
    version: str

    @property
    def source_words(self) -> str:
        """The release series, and the digest of the tree where it is a person's own."""
        series = ".".join(map(str, number(self.upstream)))
        if self.source != KERNEL_SRC:
            return series
        return f"{series} ({KERNEL_SRC}, {self.source_sha256[:12]})"


@dataclass(frozen=True)
class EnergyModelRecord(Record):
    """The powers that the kernel was given.

    :param source: their origin (`power.given.SOURCES`).
    :param errors_percent: errors that were put into them, by cluster.
    :param opp_microwatt: uW of a busy CPU by cluster and kHz.
    """

    source: str
    errors_percent: Mapping[str, float]
    words: str
    opp_microwatt: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Inputs(Record):
    """Digests of the files that a cell was made from."""

    platform: str
    activity: str
    scenario: str
    others: Mapping[str, Any] = field(default_factory=dict, metadata=REST)


@dataclass(frozen=True)
class ControlsRecord(Record):
    """The controls of a comparison; see `experiments.controls`.

    :param speeds: which relative speeds core types have (`configs.activity.SPEEDS`).
    :param trace_events: the recorded events as ``system:event``.
    :param trace_kib_per_cpu: the size of a CPU's trace buffer; 0 without a trace.
    """

    hz: int
    rate_limit_us: int
    transition_latency_us: int
    speeds: str
    trace_events: tuple[str, ...]
    trace_kib_per_cpu: int
    others: Mapping[str, Any] = field(default_factory=dict, metadata=REST)


@dataclass(frozen=True)
class UclampRange(Record):
    """A task's utilization clamps; None: the kernel's default."""

    min: int | None
    max: int | None


@dataclass(frozen=True)
class TaskRecord(Record):
    """A task of the scenario.

    :param period_us: None for a task that has no period; the mean where it is at random.
    :param deadline_us: within which a job has to end; None: it has no deadline.
    :param work_us: of a job, in us of the largest CPU at its top OPP; None where phases differ.
    :param turns: iterations of the busy loop, by phase.
    :param cpus: the CPUs on which it may run; None: all.
    :param waits: whether it waits for other tasks, or meets them.
    :param rest_us: its longest rest.
    :param memory: share of its time, on the largest CPU at its top OPP, that no clock shortens.
    :param group: in which its threads start; empty: the root.
    """

    name: str
    threads: tuple[str, ...]
    period_us: int | None
    deadline_us: int | None
    work_us: int | None
    turns: tuple[int | None, ...]
    uclamp: UclampRange
    cpus: tuple[int, ...] | None
    waits: bool = False
    rest_us: int = 0
    memory: float = 0.0
    group: str = ""


@dataclass(frozen=True)
class ProgramRecord(Record):
    """A program that runs together with the tasks.

    :param run: its kind (`experiments.scenario.program_kinds.KINDS`).
    :param count: the number of its operations.
    :param log: the file in the run's folder with its output.
    :param role: ``measured``, ``load`` or ``server``.
    :param command: its command with all arguments.
    :param transactions: the file in the run's folder that has its transactions; may be empty.
    """

    name: str
    run: str
    count: int
    log: str
    role: str = "measured"
    command: str = ""
    transactions: str = ""


@dataclass(frozen=True)
class InterruptRecord(Record):
    """A load of interrupts: a timer on each of ``cpus``, with a handler that takes ``work_us``."""

    name: str
    cpus: tuple[int, ...]
    period_us: int
    work_us: int
    start_us: int = 0

    def line(self, cpu: int) -> str:
        """It on one CPU, as the kernel takes and prints it: times in ns."""
        times = (1000 * us for us in (self.period_us, self.work_us, self.start_us))
        return " ".join(map(str, (self.name, cpu, *times)))


@dataclass(frozen=True)
class ReplicateRecord(Record):
    """The seed's draws: the same for every variant, on every engine.

    :param noise: whether more was drawn than starts.
    :param idle_us: how long the machine idled before the workload.
    :param rt_app_us: when rt-app started, after that.
    :param programs_us: the draw for each program's start. The first of those measured starts with
        the window; one whose start the scenario states starts then.
    :param starts_us: when each thread of the scenario starts.
    :param order: the threads in the order in which rt-app made them.
    :param work_cv: spread of a job's work, by task, where there is one.
    :param clocks: the kind of timer, by task that varies (`experiments.scenario.model.CLOCKS`).
    :param others: names in traces of threads outside the scenario.
    :param background: which other threads ran (`experiments.scenario.model.BACKGROUNDS`).
    :param stir_ms: how long CPUs were stirred before the warm-up.
    :param rng_seed: the seed of the kernel's random numbers.
    :param threads_sha256: of every thread's jobs, in rt-app's input.
    """

    noise: bool
    idle_us: int
    rt_app_us: int
    programs_us: Mapping[str, int]
    starts_us: Mapping[str, int]
    order: tuple[str, ...]
    work_cv: Mapping[str, float]
    clocks: Mapping[str, str]
    others: tuple[str, ...]
    background: str
    stir_ms: int
    rng_seed: str
    threads_sha256: str

    @property
    def stirring(self) -> tuple[str, ...]:
        """Threads that only stir."""
        return tuple(name for name in self.others if name.startswith(STIR))


@dataclass(frozen=True)
class WindowRecord(Record):
    """Lengths in ms, as asked; ``window_ms`` is None if the tasks' end is the window's.

    :param mainline_ms: time before the warm-up without the variant's own switches.
    :param writes: ``AT_MS PATH=VALUE`` of files that are written within the window, ``AT_MS TASK >
        GROUP`` of tasks that change their group.
    """

    warmup_ms: int
    window_ms: int | None
    mainline_ms: int = 0
    writes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Expectation(Record):
    """A statement over measures (`analysis.statement`), with its variant and its source."""

    variant: str = key("the variant that it is about")
    statement: str = key("comparisons of measures")
    source: str = key("who states it, and where")
    size_percent: float | None = maybe("the effect that the source measured", -100, 1000)
    fails_under: tuple[str, ...] = key(
        "of which it must not hold", count=(0, 99), default=(), allowed="a list of other variants"
    )
    size: float | None = maybe("the same in the unit of the comparison", -1e9, 1e9)
    size_of: int = key("that the size is of", 1, 99, "comparisons from 1", default=1)
    measured: str = key("who measured it", default="", form=named("a name of sources.toml"))
    states: int = key("the number of the sentence in statements.toml", 1, 999, default=0)


@dataclass(frozen=True)
class SourceConditionsRecord(Record):
    """The conditions of the scenario's source (`experiments.scenario.conditions`).

    :param source: who states them, with kernel and board.
    :param platform: the platform of its board; may be empty.
    :param controls: controls that differed from the defaults, in the words of
        `CellRecord.set_otherwise`.
    """

    source: str
    platform: str
    controls: tuple[str, ...]


@dataclass(frozen=True)
class ClusterModel(Record):
    """gem5's settings of a cluster, for its CPU model."""

    name: str
    model: str
    others: Mapping[str, Any] = field(default_factory=dict, metadata=REST)


@dataclass(frozen=True)
class MachineRecord(Record):
    """gem5's settings of the machine; `engines.gem5.settings` has all of them."""

    clusters: tuple[ClusterModel, ...]
    others: Mapping[str, Any] = field(default_factory=dict, metadata=REST)


@dataclass(frozen=True)
class EngineSettings(Record):
    """The engine's settings; ``machine`` on gem5 alone."""

    machine: MachineRecord | None = None
    others: Mapping[str, Any] = field(default_factory=dict, metadata=REST)


@dataclass(frozen=True)
class Settings(Record):
    """The settings of engine, kernel command line and memory."""

    engine: EngineSettings
    cmdline: str
    elide: bool
    memory_mib: int


@dataclass(frozen=True)
class IdentityRecord(Record):
    """The engine's name, its simulator's version, and versions and digests of its other parts."""

    engine: str
    version: str
    others: Mapping[str, Any] = field(default_factory=dict, metadata=REST)


@dataclass(frozen=True)
class CellRecord(Record):
    """``cell.json``.

    :param duration: ``short`` or ``full``.
    :param declares: the state that the variant stands for, such as ``eas``.
    :param switches: paths and values that the guest's agent wrote.
    :param frames: its frames; None if it draws none.
    :param own_platform: whether ``platform`` is a person's own file, for which there are no
        records.
    :param digests: of the bytes that the run's key is made from.
    :param set_otherwise: controls that are not at their defaults.
    :param borrowed: figures of the platform that come from another board.
    :param engine_traits: properties of the engine that readers of the run need.
    :param source_conditions: conditions of the scenario's source; None: not stated.
    :param assumed: activity and system rates that were not measured on this platform.
    """

    schema_read: ClassVar[int] = SCHEMA

    schema: int
    simkey: str
    platform: str
    variant: str
    scenario: str
    engine: str
    mode: str
    seed: int
    duration: str
    elide: bool
    kernel: KernelRecord
    energy_model: EnergyModelRecord
    declares: Mapping[str, Any]
    switches: tuple[tuple[str, str], ...]
    initramfs: ImageProvenance
    digests: Mapping[str, str]
    inputs: Inputs
    set_otherwise: tuple[str, ...]
    controls: ControlsRecord
    tasks: tuple[TaskRecord, ...]
    programs: tuple[ProgramRecord, ...]
    window: WindowRecord
    expect: tuple[Expectation, ...]
    borrowed: tuple[str, ...]
    assumed: tuple[str, ...]
    engine_identity: IdentityRecord
    engine_traits: Traits
    settings: Settings
    replicate: ReplicateRecord
    work: WorkRecord
    own_platform: bool = False
    source_conditions: SourceConditionsRecord | None = None
    frames: FramesRecord | None = None
    interrupts: tuple[InterruptRecord, ...] = ()

    @property
    def replicates(self) -> bool:
        """True if the seed drew more than the starts of threads."""
        return self.replicate.noise

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups in which tasks start, `NO_GROUP` among them; empty where none is in one."""
        groups = dict.fromkeys(task.group or NO_GROUP for task in self.tasks)
        return () if {*groups} == {NO_GROUP} else tuple(groups)

    @property
    def threads(self) -> dict[str, str]:
        """``{thread: task}`` of the scenario's tasks."""
        return {thread: task.name for task in self.tasks for thread in task.threads}


def event_times(cell: CellRecord) -> list[int]:
    """When events come within the window, in ms after its start, each time once."""
    return sorted({int(write.partition(" ")[0]) for write in cell.window.writes} - {0})
