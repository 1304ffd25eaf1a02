# SPDX-License-Identifier: GPL-2.0-or-later
"""What gem5's side is asked for and answers: the types of ``request.json`` and ``rows.json``.

`engines.gem5.settings` makes the machine and `engines.gem5.request` the request; both sides are
checked against these types. gem5's own Python reads this file, so it needs the standard library
alone.
"""

from __future__ import annotations

from typing import TypedDict

#: Of ``request.json`` and of ``rows.json``.
SCHEMA = 1
#: What the scripts leave of a window.
ROWS_JSON, ROWS_BIN = "rows.json", "rows.bin"
#: What they leave of samples.
SAMPLES_JSON, SAMPLES_TRACE = "samples.json", "samples.trace"


class CacheSettings(TypedDict):
    """One cache; ``prefetch`` in lines, 0 for none."""

    bytes: int
    ways: int
    cycles: int
    mshrs: int
    write_buffers: int
    prefetch: int


class CacheLevels(TypedDict):
    """A CPU's own caches and its cluster's."""

    l1i: CacheSettings
    l1d: CacheSettings
    l2: CacheSettings


class PredictorSettings(TypedDict):
    """A branch predictor: gem5's class, and its tables' sizes."""

    kind: str
    entries: int
    btb_entries: int
    return_stack_entries: int


class TlbSettings(TypedDict):
    """Entries of the TLBs."""

    itlb: int
    dtlb: int


class MinorUnit(TypedDict):
    """A functional unit of MinorCPU: classes of operations, latency and issue interval in cycles.

    ``relative`` is how many cycles after issue the operands must be there, ``assumed`` what an
    access to memory is taken to need beyond the unit's own cycle.
    """

    operations: list[str]
    latency: int
    issue: int
    relative: int
    assumed: int


class O3Unit(TypedDict):
    """Functional units of O3CPU: how many, and [class, latency, pipelined] of their operations."""

    count: int
    operations: list[list[str | int | bool]]


class PipelineSettings(TypedDict):
    """A detailed core: gem5's parameters by name, and its functional units."""

    parameters: dict[str, int]
    units: list[MinorUnit] | list[O3Unit]
    predictor: PredictorSettings
    tlbs: TlbSettings


class Gem5ClusterSettings(TypedDict):
    """CPUs of one clock; frequencies and voltages from the fastest OPP down.

    ``core`` is the core's name in ``configs/cores``, ``model`` gem5's class of CPU. ``caches`` and
    ``pipeline`` are None where the model has none.
    """

    name: str
    index: int
    cpus: list[int]
    core: str
    model: str
    clocks_hz: list[int]
    volts: list[float]
    caches: CacheLevels | None
    pipeline: PipelineSettings | None


class MemorySettings(TypedDict):
    """Where the memory lies, how large it is, and gem5's class of DRAM."""

    base: int
    bytes: int
    device: str
    line_bytes: int


class LoadSettings(TypedDict):
    """Addresses in memory: of the device tree, and of the word at which other CPUs wait."""

    device_tree: int
    release: int


class MarkNumbers(TypedDict):
    """The agent's marks between which rows are wanted."""

    start: int
    stop: int


class RowNumbers(TypedDict):
    """``cpu`` of rows of a cluster's shared part and of the memory; ``cluster`` of the memory's."""

    shared_part: int
    memory_part: int
    no_cluster: int


class EveryMachine(TypedDict):
    """What every machine has; ``l3`` is None where there is no such cache."""

    schema: int
    platform: str
    mode: str
    memory_mode: str
    clusters: list[Gem5ClusterSettings]
    memory: MemorySettings
    load: LoadSettings
    marks: MarkNumbers
    rows: RowNumbers
    l3: CacheSettings | None
    system_hz: int
    transition_latency_ns: int
    energy_ctrl: int
    gic_distributor: int
    counter_hz: int
    extensions: list[str]


class MachineSettings(EveryMachine, total=False):
    """A whole machine: its GICv2 has CPU interfaces, its GICv3 redistributors."""

    gic_cpu_interface: int
    gic_redistributors: int


class PartPower(TypedDict):
    """gem5's expressions of a part's power in W: dynamic, and static by power state."""

    dynamic: str
    static: dict[str, str]


class ClusterPower(TypedDict):
    """Expressions of each CPU of a cluster, and of what its CPUs share."""

    cpus: list[PartPower]
    shared: PartPower


class NeededRequest(TypedDict):
    """What every request has: files, and after how much simulated time it counts as hung."""

    schema: int
    machine: MachineSettings
    mode: str
    vmlinux: str
    boot_loader: str
    dtb: str | None
    initrd: str | None
    cmdline: str
    script: str | None
    checkpoint_in: str | None
    checkpoint_out: str | None
    limit_ns: int
    stall_ns: int


class SampleTimes(TypedDict):
    """``count`` samples of executed instructions; times in ns from the run's first step on.

    ``first_ns`` is the begin of the first one, ``every_ns`` the time between two begins.
    """

    first_ns: int
    every_ns: int
    length_ns: int
    count: int


class Gem5Request(NeededRequest, total=False):
    """A request, with what only studies ask for; see ``run.py``."""

    join: bool
    power: dict[str, ClusterPower]
    text_at_marks: bool
    save_at: int
    samples: SampleTimes


class SamplesRecord(TypedDict):
    """``samples.json``: each CPU's name in the trace, and each sample.

    A sample has the ticks of its begin and its end, and each cluster's clock in Hz, 0 if that has
    changed in it.
    """

    schema: int
    cpus: dict[str, int]
    samples: list[tuple[int, int, list[int]]]


class RowsFacts(TypedDict):
    """What is said of a window's rows.

    ``marks`` are numbers and ns since power-on. ``transitions`` are OPP requests (which gem5 does
    not count) and completed changes by cluster, ``instructions`` those of all CPUs.
    """

    marks: list[tuple[int, int]]
    transitions: dict[str, tuple[None, int]]
    instructions: int


class RowsRecord(RowsFacts):
    """``rows.json``: how ``rows.bin`` is to be read, and the facts."""

    schema: int
    columns: list[str]
    rows: int
