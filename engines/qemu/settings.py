# SPDX-License-Identifier: GPL-2.0-or-later
"""All settings that shape a run on the fast engine, in one record; its files are not part of it.

QEMU's command line and the plugin's options are made from this record alone
(`engines.qemu.command`), and every run's key digests it. So no setting can shape a run without
changing its key.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from eascope.configs.activity import Activity
from eascope.configs.platform import Cluster, Platform
from eascope.engines.base import LIMIT_S, Machine, ProgramSpeed
from eascope.engines.qemu.eliding_copy import (
    BULK_TURNS,
    hint_function,
    marked_function,
    skipped_instructions,
)
from eascope.engines.qemu.layout import LAYOUT
from eascope.engines.qemu.program_pages import MOST_PAGES, program_pages
from eascope.engines.records import CONSOLE
from eascope.engines.timing.mixture import Mixture, mixture
from eascope.host.errors import EascopeError
from eascope.host.record import Record
from eascope.rootfs.elide import FUNCTION_ADDRESS, FUNCTION_BEGINS, FUNCTION_BYTES, LDEXP_RANGE

NAME = "qemu"

#: How far a CPU may run ahead of the slowest one in a program and in the kernel, in virtual ns.
PROGRAM_QUANTUM_NS = 100_000
KERNEL_QUANTUM_NS = 20_000
#: Simulated time for which every CPU may be idle before the guest counts as dead.
DEAD_S = 600
#: QEMU's translation cache, in MiB; its default depends on the host's memory.
TRANSLATION_MIB = 128
#: Where the plugin writes its rows.
RAW_COUNTERS = "counters.raw"
#: Programs with figures in one run: the plugin has room for so many.
MOST_PROGRAMS = 16
#: The plugin's unit of work: an instruction outside of the busy loop is so many.
WORK_UNITS = 1 << 16

NS_PER_S = 10**9


@dataclass(frozen=True)
class OppSettings(Record):
    """An OPP: kHz, uV, and whole instructions per second outside of the busy loop."""

    khz: int
    uv: int
    instructions_per_s: int


@dataclass(frozen=True)
class QemuClusterSettings(Record):
    """A cluster of CPUs.

    :param opps: by falling frequency, as EnergyCtrl counts them.
    :param idle_states: how many it has; the guest's driver says how long entry and exit take.
    :param cluster_sleep: the idle state in which all CPUs are when the shared part is off.
    :param loop_weight: time of an instruction of the busy loop, in `WORK_UNITS` of any other.
    """

    index: int
    first_cpu: int
    last_cpu: int
    opps: tuple[OppSettings, ...]
    idle_states: int
    cluster_sleep: int | None
    loop_weight: int


@dataclass(frozen=True)
class AddressRange(Record):
    """Addresses from ``start`` up to and without ``end``."""

    start: int
    end: int


@dataclass(frozen=True)
class LoopSettings(Record):
    """Where rt-app's busy loop is, and the first instructions of its function in each copy."""

    code: tuple[AddressRange, ...]
    begins: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class MixtureSettings(Record):
    """A loop that waits for memory, in its own copy of rt-app.

    :param number: from 1; 0 is the busy loop.
    :param begins: the first instructions of the function in its copy.
    :param hint_4_iterations: instructions that pass at the hint of 4; ``hint_1_iteration``: of 1.
    :param weights: time of an instruction in `WORK_UNITS`, by cluster and OPP as those have them.
    """

    number: int
    begins: tuple[int, ...]
    hint_4_iterations: int
    hint_1_iteration: int
    weights: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ProgramSettings(Record):
    """A program with a speed of its own.

    :param number: from 1; 0 is any other program.
    :param pages: digests of the pages of its code, 16 hexadecimal digits each: records have no
        integers of 64 bits without a sign.
    :param weights: time of an instruction in `WORK_UNITS`, by cluster and OPP as those have them.
    """

    number: int
    pages: tuple[str, ...]
    weights: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class BudgetStepSettings(Record):
    """While at most ``cpus`` CPUs are on, no cluster is granted an OPP above ``max_khz``."""

    cpus: int
    max_khz: int


@dataclass(frozen=True)
class BudgetSettings(Record):
    """The package's power budget, and how often the CPUs that are on are counted."""

    interval_ns: int
    steps: tuple[BudgetStepSettings, ...]


@dataclass(frozen=True)
class QemuSettings(Record):
    """The record. No field has a default, because a default would not enter the key.

    ``mixtures``, ``budget`` and ``programs`` are the exceptions: without a task that waits for
    memory, a package budget of the platform, or a program with figures, they must not change the
    key.

    :param board: QEMU's machine.
    :param dtb_randomness: whether QEMU puts random numbers into the device tree: ``on``, ``off``.
    :param seed: of QEMU's own random numbers.
    :param rtc_base: the date at power-on; ``rtc_clock`` is the clock that it follows.
    :param flags: QEMU's options that have no value.
    :param display: where graphics go; ``monitor`` is for QEMU's own console.
    :param console: the file that receives the guest's console.
    :param accelerator: how guest code is executed, ``thread`` by how many threads.
    :param loop: None where all instructions take the same time.
    :param hint_4_iterations: instructions that pass at the hint of 4; ``hint_1_iteration``: of 1.
    :param dead_ns: simulated time for which every CPU may be idle before the guest counts as dead.
    :param limit_ns: simulated time after which the run fails.
    """

    board: str
    gic_version: int
    dtb_randomness: str
    cpu: str
    cpus: int
    memory_mib: int
    seed: int
    rtc_base: str
    rtc_clock: str
    flags: tuple[str, ...]
    display: str
    monitor: str
    console: str
    cmdline: str
    accelerator: str
    thread: str
    translation_mib: int
    clusters: tuple[QemuClusterSettings, ...]
    loop: LoopSettings | None
    energyctrl: int
    transition_latency_ns: int
    program_quantum_ns: int
    kernel_quantum_ns: int
    hint_4_iterations: int
    hint_1_iteration: int
    dead_ns: int
    limit_ns: int
    mixtures: tuple[MixtureSettings, ...] = ()
    budget: BudgetSettings | None = None
    programs: tuple[ProgramSettings, ...] = ()

    @property
    def idle_states(self) -> int:
        """Columns of idle states in the plugin's rows."""
        return max(cluster.idle_states for cluster in self.clusters)


def settings_of(machine: Machine, limit_s: float = LIMIT_S) -> QemuSettings:
    """The settings of ``machine``.

    :param limit_s: simulated seconds after which the run fails.
    """
    platform, activity = machine.platform, machine.activity
    clusters = tuple(_cluster(cluster, activity) for cluster in platform.clusters)
    mixtures = tuple(
        _mixture(number, clusters, platform, mixture(platform, activity, share))
        for number, share in enumerate(machine.memory, 1)
    )
    return QemuSettings(
        board="virt",
        gic_version=LAYOUT.gic(len(platform.cpus)).version,
        # What would otherwise come from the host: random numbers, the date, devices.
        dtb_randomness="off",
        cpu="cortex-a57",
        cpus=len(platform.cpus),
        memory_mib=platform.memory_mib,
        seed=1,
        rtc_base="2026-01-01T00:00:00",
        rtc_clock="vm",
        flags=("-nodefaults", "-no-user-config", "-no-reboot"),
        display="none",
        monitor="none",
        console=CONSOLE,
        cmdline=machine.cmdline,
        accelerator="tcg",
        thread="single",
        translation_mib=TRANSLATION_MIB,
        clusters=clusters,
        loop=_loop(clusters, needed=bool(mixtures)),
        energyctrl=LAYOUT.energy_ctrl,
        transition_latency_ns=platform.transition_latency_us * 1000,
        program_quantum_ns=PROGRAM_QUANTUM_NS,
        kernel_quantum_ns=KERNEL_QUANTUM_NS,
        hint_4_iterations=skipped_instructions(BULK_TURNS, activity.iteration_instructions),
        hint_1_iteration=skipped_instructions(1, activity.iteration_instructions),
        dead_ns=DEAD_S * NS_PER_S,
        limit_ns=round(limit_s * NS_PER_S),
        mixtures=mixtures,
        budget=_budget(platform),
        programs=_programs(machine, clusters),
    )


def _programs(
    machine: Machine, clusters: tuple[QemuClusterSettings, ...]
) -> tuple[ProgramSettings, ...]:
    """What the plugin is given of programs with figures: their pages, and weights by OPP.

    :raises EascopeError: when the guest image lacks one, or they have too many pages.
    """

    def weights(speed: ProgramSpeed, cluster: QemuClusterSettings) -> tuple[int, ...]:
        time = speed.clusters[cluster.index]
        return tuple(_weight(time.ns(opp.khz), opp) for opp in cluster.opps)

    programs = tuple(
        ProgramSettings(
            number=number,
            pages=tuple(f"{page:016x}" for page in program_pages(machine.initramfs, speed.path)),
            weights=tuple(weights(speed, cluster) for cluster in clusters),
        )
        for number, speed in enumerate(machine.programs, 1)
    )
    count = sum(len(program.pages) for program in programs)
    if len(programs) > MOST_PROGRAMS or count > MOST_PAGES:
        raise EascopeError(
            f"{len(programs)} programs with figures, {count} pages of code; the plugin holds at "
            f"most {MOST_PROGRAMS} programs, {MOST_PAGES} pages"
        )
    return programs


def _weight(ns: float, opp: OppSettings) -> int:
    """What an instruction of ``ns`` weighs at an OPP."""
    return max(1, round(WORK_UNITS * ns * opp.instructions_per_s / NS_PER_S))


def _budget(platform: Platform) -> BudgetSettings | None:
    if platform.package_budget is None:
        return None
    steps = tuple(
        BudgetStepSettings(step.cpus, step.max_khz) for step in platform.package_budget.steps
    )
    return BudgetSettings(platform.package_budget.interval_us * 1000, steps)


def _cluster(cluster: Cluster, activity: Activity) -> QemuClusterSettings:
    return QemuClusterSettings(
        index=cluster.index,
        first_cpu=min(cluster.cpus),
        last_cpu=max(cluster.cpus),
        opps=tuple(
            OppSettings(opp.khz, opp.uv, _instructions_per_s(cluster, opp.khz, activity))
            for opp in sorted(cluster.opps, key=lambda opp: -opp.khz)
        ),
        idle_states=len(cluster.idle_states),
        cluster_sleep=cluster.cluster_sleep,
        loop_weight=round(WORK_UNITS * activity.system_ipc(cluster) / activity.ipc(cluster)),
    )


def _instructions_per_s(cluster: Cluster, khz: int, activity: Activity) -> int:
    """Whole instructions per second at ``khz``: the plugin's arithmetic is integer."""
    return round(khz * 1000 * activity.system_ipc(cluster))


def _mixture(
    number: int, clusters: tuple[QemuClusterSettings, ...], platform: Platform, turn: Mixture
) -> MixtureSettings:
    """What the plugin is given of a mixture: an instruction's weight follows from a turn's time."""

    def weight(cluster: QemuClusterSettings, opp: OppSettings) -> int:
        iteration_ns = turn.iteration_ns(platform.clusters[cluster.index], opp.khz)
        return _weight(iteration_ns / turn.instructions, opp)

    return MixtureSettings(
        number=number,
        begins=struct.unpack_from("<4I", marked_function(number)),
        hint_4_iterations=skipped_instructions(BULK_TURNS, turn.instructions),
        hint_1_iteration=skipped_instructions(1, turn.instructions),
        weights=tuple(tuple(weight(cluster, opp) for opp in cluster.opps) for cluster in clusters),
    )


def _loop(clusters: tuple[QemuClusterSettings, ...], *, needed: bool) -> LoopSettings | None:
    """Place of the busy loop, if it has its own rate on any cluster, or is needed otherwise."""
    if not needed and all(cluster.loop_weight == WORK_UNITS for cluster in clusters):
        return None
    return LoopSettings(
        code=(
            AddressRange(FUNCTION_ADDRESS, FUNCTION_ADDRESS + FUNCTION_BYTES),
            AddressRange(*LDEXP_RANGE),
        ),
        begins=(FUNCTION_BEGINS, struct.unpack_from("<4I", hint_function())),
    )
