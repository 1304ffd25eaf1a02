# SPDX-License-Identifier: GPL-2.0-or-later
"""The fast engine: stock QEMU whose clock our plugin owns.

QEMU runs with one thread. The plugin (``engines/qemu/plugin``) lets the CPU with the least local
time run first, moves each CPU's time at frequency x IPC, skips idle time and keeps the counters.
The same machine gives the same bytes, whatever the host does meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from eascope.configs.activity import Activity
from eascope.configs.layout import Layout
from eascope.configs.platform import Platform
from eascope.engines.base import (
    LIMIT_S,
    STALL_S,
    Elision,
    EngineKind,
    EngineRun,
    ExecutedLoop,
    Identity,
    Machine,
    Transitions,
)
from eascope.engines.files import write_counters
from eascope.engines.qemu.boots import run_shared
from eascope.engines.qemu.build import plugin, source_digest
from eascope.engines.qemu.command import BootFiles, command
from eascope.engines.qemu.eliding_copy import COPY, marked_function
from eascope.engines.qemu.files import counters_table
from eascope.engines.qemu.layout import LAYOUT
from eascope.engines.qemu.process import QemuEnded, QemuRun, run_alone
from eascope.engines.qemu.provider import PACKAGE, RELEASE, SUITE, qemu
from eascope.engines.qemu.settings import NAME, RAW_COUNTERS, QemuSettings, settings_of
from eascope.engines.records import COUNTERS, MARKS, Traits, write_marks
from eascope.host.cache import cache_root
from eascope.host.errors import EascopeError
from eascope.host.imports import REPO, code_digest
from eascope.host.proc import need
from eascope.host.scratch import scratch
from eascope.rootfs.mixture import mixture_program

_HERE = Path(__file__).resolve().parent
#: What makes QEMU's command, and a run's files of what the plugin leaves.
CODE = (
    *(_HERE / name for name in ("command.py", "files.py", "report.py")),
    *(_HERE.parent / name for name in ("files.py", "records.py")),
    REPO / "rootfs" / "headers.py",
)


@dataclass(frozen=True)
class QemuIdentity(Identity):
    """QEMU and the plugin.

    :param package: Debian's name of QEMU's package.
    :param closure_sha256: over every package that QEMU was made from.
    :param plugin_sha256: over the plugin's sources.
    """

    package: str
    closure_sha256: str
    plugin_sha256: str


@dataclass(frozen=True)
class QemuEngine:
    """See :class:`engines.base.Engine`."""

    name: str = NAME
    mode: str = ""
    elides: bool = True
    shares_boots: bool = True

    def status(self) -> str:
        """What is there; fetches and builds nothing."""
        need("gcc", "gcc libc6-dev")
        need("dpkg", "dpkg")
        unpacked = list((cache_root() / "qemu").glob("*/bin/qemu-system-aarch64"))
        if unpacked:
            return f"QEMU {RELEASE} of Debian {SUITE}, unpacked in {unpacked[0].parent.parent}"
        return f"QEMU {RELEASE} of Debian {SUITE}: the first run fetches it (36 MB, half a minute)"

    def identity(self) -> QemuIdentity:
        """QEMU's package and all that it loads, the plugin's sources, our own code."""
        program = qemu()
        return QemuIdentity(
            engine=self.name,
            version=program.version,
            code_sha256=code_digest(CODE),
            package=PACKAGE,
            closure_sha256=program.digest,
            plugin_sha256=source_digest(),
        )

    @property
    def layout(self) -> Layout:
        """QEMU's ``virt``."""
        return LAYOUT

    @property
    def traits(self) -> Traits:
        """Elided instructions are counted, and the activity states every rate."""
        return Traits(reference=False, counts_elided=True, stated_rates=True, cpu_words="")

    @property
    def artefacts(self) -> tuple[str, ...]:
        """QEMU and the plugin."""
        return ("qemu", "qemu-plugin")

    def host_s_per_s(self, *, elide: bool) -> float:
        """See :meth:`engines.base.Engine.host_s_per_s`."""
        return 0.3 if elide else 2.0

    def elision(self, platform: Platform, activity: Activity) -> Elision:
        """The copy whose loop is hints; it is the same for every machine."""
        return Elision(COPY.path)

    def mixtures(
        self, platform: Platform, activity: Activity, memory: Sequence[float]
    ) -> tuple[Elision, ...]:
        """Copies with a mark for the plugin, which gets the time of their iterations."""
        return tuple(
            Elision(mixture_program(number), marked_function(number), COPY.path)
            for number, _ in enumerate(memory, 1)
        )

    def boots(self, machine: Machine) -> Path:
        """The kernel's image."""
        return machine.image

    def executed_loop(self, platform: Platform, activity: Activity) -> ExecutedLoop | None:
        """None: an executed loop takes the same time as an elided loop, by the activity."""
        return None

    def settings(self, machine: Machine) -> QemuSettings:
        """All settings for QEMU and the plugin."""
        return settings_of(machine)

    def run(
        self,
        machine: Machine,
        out: Path,
        on_progress: Callable[[float], None] | None = None,
        *,
        limit_s: float = LIMIT_S,
        stall_s: float = STALL_S,
    ) -> EngineRun:
        """See :meth:`engines.base.Engine.run`."""
        out = out.absolute()
        out.mkdir(parents=True, exist_ok=True)
        # Within the run's own folder: what a killed process leaves there is known as left over.
        settings = settings_of(machine, limit_s)
        with scratch(out, self.name) as folder:
            program = qemu()
            files = BootFiles(
                program.command,
                plugin(settings.cpus),
                machine.image,
                machine.dtb,
                machine.initramfs,
            )
            asked = QemuRun(
                command=command(settings, files),
                script=machine.script,
                out=out,
                scratch=folder,
                stall_s=stall_s,
                on_progress=on_progress,
            )
            if self.shares_boots:
                ended = run_shared((machine.image, machine.dtb, machine.initramfs), asked)
            else:
                ended = run_alone(asked)
        raw = out / RAW_COUNTERS
        write_counters(counters_table(raw, settings.idle_states), out / COUNTERS)
        raw.unlink()
        write_marks(ended.report.marks, out / MARKS)
        if ended.exit_code != 0:
            raise EascopeError(f"the guest agent ended with exit code {ended.exit_code}")
        return _figures(ended, machine.platform)


def _figures(ended: QemuEnded, platform: Platform) -> EngineRun:
    """What a run cost and how far it came."""
    return EngineRun(
        host_s=ended.host_s,
        mips=(ended.instructions - ended.shared_instructions) / 1e6 / ended.host_s,
        sim_s=ended.sim_ns / 1e9,
        instructions=ended.instructions,
        cpu_s=ended.cpu_s,
        transitions={
            cluster.name: Transitions(*ended.report.transitions[cluster.index])
            for cluster in platform.clusters
        },
    )


QEMU = EngineKind(
    NAME,
    "fast engine: QEMU with a deterministic clock per cluster, constant IPC",
    make=lambda mode: QemuEngine(mode=mode),
    code=CODE,
    copy=COPY,
)
