# SPDX-License-Identifier: GPL-2.0-or-later
"""The contract of engines: boot a machine, run its script to the end, and leave raw files.

An engine gets a kernel image, a device tree, a guest image and a script. It never reads a scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from eascope.configs.activity import Activity
from eascope.configs.layout import Layout
from eascope.configs.platform import Platform
from eascope.configs.program_activity import ClusterProgram
from eascope.engines.records import Traits
from eascope.host.errors import EascopeError, RequestError, bad_input
from eascope.host.record import Record
from eascope.host.strict import shown_path
from eascope.rootfs.elide import ElidingCopy

#: Host seconds without any simulated progress after which a run fails: far more than a busy host
#: or a slow disk costs, so that no result depends on the host.
STALL_S = 600.0
#: Simulated seconds after which a run fails.
LIMIT_S = 3600.0


@dataclass(frozen=True)
class ProgramSpeed:
    """How fast a program of the guest runs, without the kernel that works for it.

    :param path: of the program in the guest.
    :param clusters: the time of an instruction on each cluster's core.
    """

    path: str
    clusters: tuple[ClusterProgram, ...]


@dataclass(frozen=True)
class Machine:
    """All inputs of a run, except the engine itself.

    ``script`` holds the exact bytes that the guest agent reads; ``cmdline`` is the kernel's command
    line; with ``elide`` rt-app's busy loop is not executed but accounted for. ``vmlinux`` is the
    same kernel as an ELF file with symbols, for engines that boot that. ``memory`` has the shares
    of tasks that wait for memory (`engines.timing.mixture`): for each, rt-app has a copy.
    ``programs`` have speeds of their own, for engines whose activity states every rate.
    """

    platform: Platform
    activity: Activity
    image: Path
    dtb: Path
    initramfs: Path
    script: bytes
    cmdline: str
    elide: bool = True
    vmlinux: Path | None = None
    memory: tuple[float, ...] = ()
    programs: tuple[ProgramSpeed, ...] = ()


@dataclass(frozen=True)
class Identity(Record):
    """Versions and digests of an engine's parts; an engine adds its own.

    :param engine: its name.
    :param version: the simulator's.
    :param code_sha256: over our code that makes a run's files from a simulator's output.
    """

    engine: str
    version: str
    code_sha256: str


@dataclass(frozen=True)
class Elision:
    """The eliding copy of rt-app on an engine.

    :param program: path in the guest of the copy of rt-app that runs.
    :param function: its busy function, which the agent writes into the copy before it runs; empty
        where the image has it already.
    :param copied_from: the program that the agent copies first; empty where the image has the copy.
    """

    program: str
    function: bytes = b""
    copied_from: str = ""


@dataclass(frozen=True)
class ExecutedLoop:
    """Speed of rt-app's busy loop if an engine's own CPU models execute it.

    :param ipc: instructions per cycle by cluster; empty if not known.
    :param measured: ``eascope characterise`` has measured it.
    """

    ipc: tuple[float, ...]
    measured: bool


@dataclass(frozen=True)
class Transitions:
    """A cluster's OPP requests (None: not counted) and the transitions that completed."""

    requested: int | None
    completed: int


@dataclass(frozen=True)
class EngineRun:
    """Costs of a run: host seconds, simulated seconds, million instructions per host second.

    ``cpu_s`` is the engine's processor time. On the fast engine elided instructions count as
    executed. ``parts_s`` are host seconds by part, if the engine measures them, and ``parts_cpu_s``
    processor seconds.
    """

    host_s: float
    mips: float
    sim_s: float
    instructions: int = 0
    cpu_s: float = 0.0
    transitions: dict[str, Transitions] = field(default_factory=dict)
    parts_s: dict[str, float] = field(default_factory=dict)
    parts_cpu_s: dict[str, float] = field(default_factory=dict)


class EngineFailed(EascopeError):
    """A run that did not reach its agent's EXIT: the reason, and the last lines of its logs.

    ``console_tail`` and ``log_tail`` are the last lines of the guest's console and of the engine.
    """

    def __init__(self, reason: str, console_tail: list[str], log_tail: list[str]) -> None:
        self.reason = reason
        self.console_tail = console_tail
        self.log_tail = log_tail
        text = [reason]
        if log_tail:
            text += ["engine:", *("  " + line for line in log_tail)]
        if console_tail:
            text += ["console:", *("  " + line for line in console_tail)]
        super().__init__("\n".join(text))


class Engine(Protocol):
    """One way of running a machine."""

    @property
    def name(self) -> str:
        """As in `engines.registry.ENGINES`."""

    @property
    def mode(self) -> str:
        """Which of the engine's modes this is; empty for an engine that has none."""

    @property
    def elides(self) -> bool:
        """Whether busy loops are elided unless a person asks for their execution."""

    @property
    def shares_boots(self) -> bool:
        """Whether runs of one machine may go on from one boot, which changes no byte of them."""

    def status(self) -> str:
        """One line with version and path of the simulator; makes nothing.

        :raises EascopeError: one line when the engine cannot be used here, with the remedy.
        """

    @property
    def layout(self) -> Layout:
        """The engine's part of a platform's device tree."""

    @property
    def traits(self) -> Traits:
        """Properties of the engine that readers of its runs need."""

    @property
    def artefacts(self) -> tuple[str, ...]:
        """Kinds of artefacts in the cache that the engine consists of."""

    def elision(self, platform: Platform, activity: Activity) -> Elision:
        """The eliding copy of rt-app on this engine.

        :raises RequestError: a core or a speed with which the loop cannot be elided.
        """

    def mixtures(
        self, platform: Platform, activity: Activity, memory: Sequence[float]
    ) -> tuple[Elision, ...]:
        """The copies for tasks that wait for memory, by their shares.

        :raises RequestError: a share or a core for which there is none.
        """

    def host_s_per_s(self, *, elide: bool) -> float:
        """Host seconds per simulated second, before any run has been timed.

        :param elide: whether busy loops are elided.
        """

    def boots(self, machine: Machine) -> Path:
        """The kernel's file that is booted.

        :raises EascopeError: when the machine has no such file.
        """

    def executed_loop(self, platform: Platform, activity: Activity) -> ExecutedLoop | None:
        """Speed of an executed busy loop; None if the activity states it."""

    def identity(self) -> Identity:
        """Versions and digests of the engine's parts; part of every run's key."""

    def settings(self, machine: Machine) -> Record:
        """All settings that shape a run; part of the key."""

    def run(
        self,
        machine: Machine,
        out: Path,
        on_progress: Callable[[float], None] | None = None,
        *,
        limit_s: float = LIMIT_S,
        stall_s: float = STALL_S,
    ) -> EngineRun:
        """Run ``machine`` to its agent's EXIT and fill the folder ``out``.

        ``out`` receives ``console.log``, ``counters.parquet``, ``marks.json`` and the files that
        the guest sends. The caller gives a temporary folder and renames it.

        :param on_progress: called with the simulated seconds so far; what it raises ends the run.
        :param limit_s: simulated seconds after which the run fails.
        :param stall_s: host seconds without simulated progress after which the run fails.
        :raises EngineFailed: with the reason and the last lines of console and engine.
        """


def check_cpus(engine: Engine, platform: Platform) -> None:
    """Refuse a platform with more CPUs than the engine's board may have.

    :raises RequestError: one line.
    """
    cpus, most = len(platform.cpus), engine.layout.max_cpus
    if cpus > most:
        allowed = f"up to {most} in all on engine {engine.name}"
        raise bad_input(shown_path(platform.path), "cluster.cpus", cpus, allowed)


def check_budget(engine: Engine, platform: Platform) -> None:
    """Refuse a platform with a package budget where the engine's EnergyCtrl cannot keep it.

    :raises RequestError: one line.
    """
    if platform.package_budget and not engine.layout.package_budget:
        raise RequestError(
            f"{shown_path(platform.path)}: engine {engine.name} cannot enforce package_budget; use "
            f"another engine, or a file with base = {platform.name!r} and "
            'remove = ["package_budget"]'
        )


def check_hotplug(engine: Engine, scenario: Path) -> None:
    """Refuse CPUs that go offline where the engine's machine has no firmware that stops them.

    :raises RequestError: one line.
    """
    if not engine.layout.psci_method:
        raise RequestError(
            f"{shown_path(scenario)}: event.offline: engine {engine.name} has no PSCI, so no CPU "
            "goes offline; use another engine"
        )


@dataclass(frozen=True)
class EngineKind:
    """An engine's entry in `engines.registry`: all that is known before an engine is made.

    :param summary: a line for lists.
    :param make: the engine in a mode, which is empty where there are no modes.
    :param code: our code that makes a run's files; every run's key has its digest.
    :param copy: its eliding copy of rt-app; every guest image has the copies of all engines.
    :param modes: a line on each mode; the first one is the default.
    :param remedy: how to get the engine; empty for one that every machine must have.
    """

    name: str
    summary: str
    make: Callable[[str], Engine]
    code: tuple[Path, ...]
    copy: ElidingCopy
    modes: Mapping[str, str] = field(default_factory=dict)
    remedy: str = ""
