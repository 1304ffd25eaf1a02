# SPDX-License-Identifier: GPL-2.0-or-later
"""Platforms: board models from ``configs/platforms/*.toml``, the one description of a machine.

Everything else about the machine (device tree, engine settings, energy) is generated from these
objects. Units stand in the names: khz, uv (microvolt), uw (microwatt), us.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from eascope.configs import cpunames
from eascope.configs.billing import (
    BY_THE_KERNELS,
    CHIP,
    HALF_OF_BUSY,
    MAX_POWER_UW,
    Billing,
    BusyPower,
    ChipShared,
    Idle,
)
from eascope.configs.core import Cache, Core
from eascope.configs.curves import Curves
from eascope.configs.floors import ClockFloor
from eascope.configs.knobs import LLC_ALL, LLC_CLUSTER, AxisValue
from eascope.configs.package_budget import PackageBudget
from eascope.configs.source import cited
from eascope.host.errors import unknown
from eascope.host.keys import NAME, key

#: The largest capacity that the kernel knows (SCHED_CAPACITY_SCALE).
CAPACITY_SCALE = 1024

#: Power states of idle CPUs, by gem5's names in lower case.
POWER_STATES = CLK_GATED, SRAM_RETENTION, OFF = ("clk_gated", "sram_retention", "off")

#: The idle state that every CPU has.
WFI = "wfi"
#: What a time of an idle state may be.
_TIME = (0, 100_000, "us")
_TIMES = ("entry_us", "exit_us", "residency_us")
AS_TOLD = "assumed: as the kernel is told, since the file states no times taken"


@dataclass(frozen=True)
class Figure:
    """A figure in words (its meaning, value and unit), and its source."""

    what: str
    source: str


@dataclass(frozen=True)
class Opp:
    """An operating point of a cluster.

    ``power_uw`` is one CPU fully busy, without the shared part (what the kernel's energy model
    gets); ``shared_uw`` is the cluster's shared part (L2, cluster logic) outside cluster-sleep.
    ``turbo``: the kernel uses it only while its boost switch is on.
    """

    khz: int = key("frequency", 1_000, 10_000_000, "kHz")
    uv: int = key("supply voltage", 100_000, 2_000_000, "uV")
    power_uw: int = key("power of a fully busy CPU, for the kernel", 1, MAX_POWER_UW - 1, "uW")
    shared_uw: int = key("power of the shared part while it is on", 0, MAX_POWER_UW - 1, "uW")
    source: str = ""
    power_source: str = ""
    shared_source: str = ""
    turbo: bool = key("a turbo OPP; these are the fastest", default=False)


@dataclass(frozen=True, kw_only=True)
class Takes:
    """How long a CPU takes to enter an idle state and to leave it.

    :param last_entry_us: of the last CPU of the cluster that enters it.
    :param first_exit_us: of the first one that leaves it while all are in it.
    """

    entry_us: int = key("time to enter the state", *_TIME)
    exit_us: int = key("time to leave the state", *_TIME)
    last_entry_us: int = key("of the cluster's last CPU (default: entry_us)", *_TIME, default=-1)
    first_exit_us: int = key("of the first, all in it (default: exit_us)", *_TIME, default=-1)
    source: str = cited(*_TIMES[:2], "last_entry_us", "first_exit_us")
    stated: bool = True

    def meaning(self) -> Takes:
        """All four times."""
        last, first = self.last_entry_us, self.first_exit_us
        last, first = self.entry_us if last < 0 else last, self.exit_us if first < 0 else first
        return replace(self, last_entry_us=last, first_exit_us=first)

    @property
    def by_cluster(self) -> bool:
        """True if it matters who enters last and leaves first."""
        return (self.last_entry_us, self.first_exit_us) != (self.entry_us, self.exit_us)

    @property
    def words(self) -> str:
        """The times, for people."""
        last = f" ({self.last_entry_us} the last of its cluster)" if self.by_cluster else ""
        first = f" ({self.first_exit_us} the first)" if self.by_cluster else ""
        return f"{self.entry_us} us{last} to enter, {self.exit_us}{first} to leave"


#: Of WFI: the kernel's own instructions take their time, and nothing is added to it.
_AROUND = "assumed: what the kernel's instructions around WFI take"
AT_ONCE = Takes(entry_us=0, exit_us=0, source=_AROUND).meaning()


@dataclass(frozen=True)
class IdleState:
    """An idle state of one CPU; state 0 is always WFI. ``power_uw`` is one CPU's.

    ``entry_us``, ``exit_us`` and ``residency_us`` are what the kernel is told. ``takes`` is what
    the machine does.
    """

    name: str = key("as in the device tree; the first is `wfi`", form=NAME)
    entry_us: int = key("entry latency that the kernel is told, a worst case", *_TIME)
    exit_us: int = key("exit latency that the kernel is told, a worst case", *_TIME)
    residency_us: int = key("least stay that saves energy, for the kernel", 0, 10_000_000, "us")
    power_state: str = key("what the derived model bills, by gem5's names", choices=POWER_STATES)
    power_uw: int = key(
        "power of a CPU in it, where `[idle]` says stated",
        *(0, MAX_POWER_UW - 1, "uW, not above the lowest OPP's"),
    )
    source: str = cited(*_TIMES, "power_state", name="time_source")
    power_source: str = cited("power_uw")
    takes: Takes = key("what a CPU takes; not of wfi", default=None)

    def meaning(self) -> IdleState:
        """The state with what it takes: where nothing is stated, what the kernel is told.

        The file's author may have measured that, and no other figure is of this machine.
        """
        told = Takes(entry_us=self.entry_us, exit_us=self.exit_us, source=AS_TOLD, stated=False)
        return replace(self, takes=self.takes or (AT_ONCE if self.name == WFI else told.meaning()))


@dataclass(frozen=True)
class Cluster:
    """CPUs of one core that share a clock: one DVFS domain, one performance domain.

    ``cluster_sleep`` is the number of the idle state that also puts the shared part to sleep, when
    all CPUs of the cluster are in it (``None``: the shared part is always on). ``busy`` are powers
    of a busy CPU that the kernel is not given, for billing. ``boost``: the
    kernel's switch for turbo OPPs is on at boot.
    """

    index: int
    name: str
    core: Core
    cpus: tuple[int, ...]
    capacity_dmips_mhz: int
    capacity_source: str
    opps: tuple[Opp, ...]
    idle_states: tuple[IdleState, ...]
    cluster_sleep: int | None
    shared_off_uw: int
    shared_off_source: str
    l2: Cache
    busy: tuple[BusyPower, ...] = ()
    boost: bool = False

    @property
    def shared_on_uw(self) -> tuple[int, ...]:
        """Power of the shared part at each OPP, aligned with ``opps``."""
        return tuple(opp.shared_uw for opp in self.opps)

    @property
    def caches(self) -> tuple[Cache, ...]:
        """L1 instruction, L1 data (per CPU) and L2 (shared)."""
        return (self.core.l1i, self.core.l1d, self.l2)

    @property
    def min_khz(self) -> int:
        """Frequency of the slowest OPP."""
        return self.opps[0].khz

    @property
    def max_khz(self) -> int:
        """Frequency of the fastest OPP at boot: the kernel's reference of capacities."""
        return self.opps[-1].khz if self.boost else self.sustained_khz

    @property
    def sustained_khz(self) -> int:
        """Frequency of the fastest OPP that is no turbo OPP."""
        return max(opp.khz for opp in self.opps if not opp.turbo)

    @property
    def has_turbo(self) -> bool:
        """True if OPPs are turbo OPPs: the fastest ones."""
        return self.opps[-1].turbo

    def opp(self, khz: int) -> Opp:
        """The OPP with exactly this frequency.

        :raises KeyError: when the cluster has none.
        """
        for opp in self.opps:
            if opp.khz == khz:
                return opp
        raise KeyError(f"cluster {self.name} has no OPP of {khz} kHz")


@dataclass(frozen=True)
class Dvfs:
    """How frequencies change; the fields mean what those of `Platform` do.

    ``sources`` says where each comes from, by field name.
    """

    transition_latency_us: int
    rate_limit_us: int
    fast_switch: bool
    sources: Mapping[str, str]


@dataclass(frozen=True)
class L3:
    """A cache that all clusters share; ``latency_ns`` is a look-up's."""

    cache: Cache
    latency_ns: int


@dataclass(frozen=True)
class Platform:
    """A board model. Clusters are in CPU order; CPU numbers are those of the guest's kernel.

    ``l3`` is None if the clusters' L2 caches are the last level; only gem5 simulates it.
    ``control_sources`` has the sources of temperature, memory and the DVFS times, by field name;
    ``sources`` are all named sources of the file. ``digest`` changes with any figure or source of
    the platform or its cores, not with comments or layout. ``model`` is its name in the device
    tree. ``own``: the file is a person's own, anywhere; ``base`` is then the platform from which it
    states differences, or empty for a complete file. ``fast_switch``: schedutil requests
    frequencies from the scheduler's context; else its thread does, and waits until each is in
    force. ``board_dvfs``: how the board itself changes frequencies, if that is known. ``billing``:
    the powers that it offers. ``llc``: which CPUs share the last-level cache. ``shared``: the whole
    chip's shared part, in addition to those of clusters. ``idle``: how idle CPUs are billed.
    ``package_budget``: the greatest frequency by the number of CPUs that are on; None: no limit.
    ``floors``: between clusters; several may hold at once.
    ``curves``: measured powers by the clocks of several clusters. ``axes``: the values that it
    states for model axes (`configs.knobs`); no run depends on them, so the digest does not.
    """

    name: str
    summary: str
    path: Path
    clusters: tuple[Cluster, ...]
    transition_latency_us: int
    rate_limit_us: int
    temperature_c: float
    memory_mib: int
    control_sources: Mapping[str, str]
    sources: Mapping[str, str]
    digest: str
    model: str = ""
    base: str = ""
    own: bool = False
    l3: L3 | None = None
    fast_switch: bool = True
    board_dvfs: Dvfs | None = None
    billing: Billing = BY_THE_KERNELS
    llc: str = LLC_CLUSTER
    axes: Mapping[str, tuple[AxisValue, ...]] = field(default_factory=dict)
    shared: ChipShared | None = None
    idle: Idle = HALF_OF_BUSY
    idle_sources: Mapping[str, str] = field(default_factory=dict)
    package_budget: PackageBudget | None = None
    floors: tuple[ClockFloor, ...] = ()
    curves: Curves | None = None

    @property
    def one_llc(self) -> bool:
        """True if all CPUs share the last-level cache."""
        return self.llc == LLC_ALL

    @property
    def energy_parts(self) -> tuple[str, ...]:
        """The parts of the energy: the clusters, and the chip's shared part if it has one."""
        names = tuple(cluster.name for cluster in self.clusters)
        return (*names, CHIP) if self.shared else names

    @property
    def cpus(self) -> tuple[int, ...]:
        """All CPU numbers, ascending."""
        return tuple(cpu for cluster in self.clusters for cpu in cluster.cpus)

    def cluster(self, name: str) -> Cluster:
        """The cluster of this name.

        :raises RequestError: with the nearest name when there is none.
        """
        for cluster in self.clusters:
            if cluster.name == name:
                return cluster
        raise unknown("cluster", name, (cluster.name for cluster in self.clusters))

    def cluster_of(self, cpu: int) -> Cluster:
        """The cluster that CPU number ``cpu`` belongs to.

        :raises KeyError: when there is no such CPU.
        """
        for cluster in self.clusters:
            if cpu in cluster.cpus:
                return cluster
        raise KeyError(f"platform {self.name} has no CPU {cpu}")

    def resolve(self, name: str) -> tuple[int, ...]:
        """CPU numbers of a symbolic name such as ``little:0``, ``largest:*`` or ``any``.

        :raises CpuNameError: see `configs.cpunames.resolve`.
        """
        clusters = {cluster.name: cluster.cpus for cluster in self.clusters}
        return cpunames.resolve(self.name, clusters, name, self.largest.name)

    @property
    def largest(self) -> Cluster:
        """The cluster with the most capacity; the first of equals."""
        return max(self.clusters, key=lambda cluster: cluster.capacity_dmips_mhz * cluster.max_khz)

    @cached_property
    def capacities(self) -> tuple[int, ...]:
        """Capacity of each CPU (index = CPU number) as the kernel computes it, 0..1024.

        The kernel multiplies capacity-dmips-mhz by the policy's highest frequency, scales so that
        the largest is 1024, and truncates (topology_normalize_cpu_scale).
        """
        scale = self.largest.capacity_dmips_mhz * self.largest.max_khz
        return tuple(
            cluster.capacity_dmips_mhz * cluster.max_khz * CAPACITY_SCALE // scale
            for cluster in self.clusters
            for _ in cluster.cpus
        )

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """Every figure of the platform with its source; an OPP column is one figure."""
        figures = [
            Figure(f"{key} {getattr(self, key)}", source)
            for key, source in self.control_sources.items()
        ]
        if self.board_dvfs:
            figures += (
                Figure(f"the board's {key} {getattr(self.board_dvfs, key)}", source)
                for key, source in self.board_dvfs.sources.items()
            )
        for cluster in self.clusters:
            figures += (
                Figure(f"{cluster.name}: {figure.what}", figure.source)
                for figure in _cluster_figures(cluster)
            )
        figures += (
            Figure(f"idle {key} {getattr(self.idle, key)}", source)
            for key, source in self.idle_sources.items()
        )
        if self.shared:
            on, off = _mw(self.shared.on_uw), _mw(self.shared.off_uw)
            figures.append(Figure(f"the chip's shared part {on}, {off} off", self.shared.source))
        if self.package_budget:
            steps = ", ".join(
                f"{step.max_khz / 1000:g} MHz up to {step.cpus} CPUs"
                for step in self.package_budget.steps
            )
            figures += (
                Figure(f"package budget {steps}", self.package_budget.source),
                Figure(
                    f"package budget every {self.package_budget.interval_us} us",
                    self.package_budget.interval_source,
                ),
            )
        for of, on, source in dict.fromkeys((f.of, f.on, f.source) for f in self.floors):
            steps = ", ".join(
                f"{floor.khz / 1000:g} MHz from {floor.at_khz / 1000:g} MHz up"
                for floor in self.floors
                if (floor.of, floor.on) == (of, on)
            )
            figures.append(Figure(f"clock floors of {on} by {of}'s clock {steps}", source))
        if self.l3:
            what = f"L3 cache {self.l3.cache.size_kib} KiB, {self.l3.latency_ns} ns"
            figures.append(Figure(what, self.l3.cache.source))
        return tuple(figures)

    @cached_property
    def borrowed(self) -> tuple[str, ...]:
        """One line for each figure that is taken from another part, for records and reports."""
        return tuple(
            f"{figure.what}: {figure.source}"
            for figure in self.figures
            if "borrowed from" in figure.source  # or computed from borrowed figures
        )

    @cached_property
    def assumed_times(self) -> tuple[str, ...]:
        """One line for each time of an idle state that no one has measured, for reports."""
        return tuple(
            f"{cluster.name}: {state.name} takes {state.takes.words}: {state.takes.source}"
            for cluster in self.clusters
            for state in cluster.idle_states[1:]
            if "assumed" in state.takes.source
        )

    @cached_property
    def idle_notes(self) -> tuple[str, ...]:
        """A line for whatever about its idle states may not be meant so."""
        return tuple(
            f"{cluster.name}: {state.name}: {note}"
            for cluster in self.clusters
            for before, state in pairwise(cluster.idle_states)
            for note in _idle_notes(before, state)
        )


def _idle_notes(before: IdleState, state: IdleState) -> Iterator[str]:
    """What may not be meant so of a state and the one before it in the file, which is shallower."""
    ways_us, takes = state.entry_us + state.exit_us, state.takes
    if state.exit_us < before.exit_us:
        yield (
            f"exit_us {state.exit_us} is less than that of {before.name}, a shallower state "
            f"({before.exit_us}), which Linux takes as it is"
        )
    if state.residency_us <= before.residency_us:
        yield (
            f"residency_us {state.residency_us} is not more than that of {before.name}, a "
            f"shallower state ({before.residency_us}), which Linux takes as it is"
        )
    if state.power_uw > before.power_uw:
        yield (
            f"power_uw {state.power_uw} is more than that of {before.name}, a shallower state "
            f"({before.power_uw}), which is billed as it is where [idle] says stated"
        )
    if state.residency_us < ways_us:
        yield (
            f"residency_us {state.residency_us} is less than entry_us + exit_us ({ways_us}), "
            "which Linux takes as it is"
        )
    if not takes.stated:
        yield (
            f"no takes: a CPU takes what the kernel is told, {takes.words}; that is a firmware's "
            "worst case"
        )
    exit_us = max(takes.exit_us, takes.first_exit_us)
    if exit_us > state.exit_us:
        yield (
            f"a CPU takes {exit_us} us to leave it, and the kernel is told {state.exit_us}: it is "
            "told less than it is"
        )


def _cluster_figures(cluster: Cluster) -> list[Figure]:
    """The figures of one cluster and of its core, in the order of its file."""
    table = cluster.opps[0]  # the columns of an OPP table have one source each
    figures = [
        Figure(f"capacity per MHz {cluster.capacity_dmips_mhz}", cluster.capacity_source),
        Figure("frequencies and voltages", table.source),
        Figure(
            f"busy power of a CPU {_by_opp(cluster, [opp.power_uw for opp in cluster.opps])}",
            table.power_source,
        ),
        Figure(f"shared power {_by_opp(cluster, cluster.shared_on_uw)}", table.shared_source),
        Figure(
            f"shared power in cluster-sleep {_mw(cluster.shared_off_uw)}",
            cluster.shared_off_source,
        ),
    ]
    figures += (
        Figure(f"{busy.name} power of a busy CPU {_by_opp(cluster, busy.power_uw)}", busy.source)
        for busy in cluster.busy
    )
    for number, state in enumerate(cluster.idle_states):
        figures.append(Figure(f"{state.name} latencies and residency", state.source))
        if number:
            figures.append(Figure(f"{state.name} takes {state.takes.words}", state.takes.source))
        figures.append(
            Figure(f"{state.name} power of a CPU {_mw(state.power_uw)}", state.power_source)
        )
    figures += (
        Figure(f"{level} cache {cache.size_kib} KiB", cache.source)
        for level, cache in zip(("L1I", "L1D", "L2"), cluster.caches, strict=True)
    )
    figures += (
        Figure(f"{cluster.core.name} {key} {parameter.value}", parameter.source)
        for key, parameter in cluster.core.parameters.items()
    )
    return figures


def _mw(microwatts: int) -> str:
    """Microwatts as milliwatts without needless digits."""
    return f"{microwatts / 1000:g} mW"


def _by_opp(cluster: Cluster, microwatts: Sequence[int]) -> str:
    """Power at each OPP in words."""
    return ", ".join(
        f"{_mw(power)} at {opp.khz / 1000:g} MHz"
        for opp, power in zip(cluster.opps, microwatts, strict=True)
    )
