# SPDX-License-Identifier: GPL-2.0-or-later
"""The reference engine: gem5, from a checkpoint at the agent's barrier to the agent's EXIT.

``engines/gem5/inside/run.py`` builds the machine inside gem5 from `Gem5Engine.settings`. A mode
names the CPU models, and says whether busy loops are elided (`engines.gem5.settings.MODES`). No
code here depends on a core's trade name.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from eascope.configs.activity import Activity, measured_ipc
from eascope.configs.layout import Layout
from eascope.configs.platform import Platform
from eascope.engines.base import (
    LIMIT_S,
    STALL_S,
    Elision,
    EngineKind,
    EngineRun,
    ExecutedLoop,
    Machine,
    Transitions,
)
from eascope.engines.gem5.boot import KIND as BOOT_LOADER
from eascope.engines.gem5.boot import boot_loader
from eascope.engines.gem5.checkpoint import KIND as CHECKPOINT
from eascope.engines.gem5.checkpoint import BootFacts, checkpoint, checkpoint_key
from eascope.engines.gem5.eliding_copy import COPY
from eascope.engines.gem5.elision import elision, mixtures
from eascope.engines.gem5.files import (
    join_pieces,
    read_rows,
    save_counters,
    save_marks,
    save_statistics,
)
from eascope.engines.gem5.inside.request import SampleTimes
from eascope.engines.gem5.layout import LAYOUT
from eascope.engines.gem5.process import TERMINAL, Gem5Ended, supervise
from eascope.engines.gem5.provider import (
    CODE,
    NAME,
    RECIPE,
    Gem5Identity,
    find_gem5,
    identity,
    version,
)
from eascope.engines.gem5.request import Gem5Settings, RequestFiles, request_of, settings_of
from eascope.engines.gem5.samples import CpuSample, read_samples
from eascope.engines.gem5.settings import BOOT, DEFAULT_MODE, MODES, RUN_MODES, has_pipelines
from eascope.engines.records import CONSOLE, READY, START, Traits
from eascope.host.cache import sha256_file
from eascope.host.errors import EascopeError, unknown
from eascope.host.scratch import scratch

#: gem5 that executes everything: 600 to 2800 host seconds per simulated second on atomic CPUs, by
#: how busy they are.
EXECUTED_HOST_S_PER_S = 1000.0
#: Simulated seconds in which a machine must have booted.
BOOT_LIMIT_S = 30.0


@dataclass(frozen=True)
class Gem5Engine:
    """See :class:`engines.base.Engine`.

    :param mode: one of `RUN_MODES`.
    """

    mode: str = DEFAULT_MODE
    name: str = NAME
    shares_boots: bool = False

    def __post_init__(self) -> None:
        """Refuse a mode that does not exist."""
        if self.mode not in RUN_MODES:
            raise unknown("gem5 mode", self.mode, RUN_MODES)

    @property
    def elides(self) -> bool:
        """Whether busy loops stand still in this mode."""
        return MODES[self.mode].elided_host_s_per_s is not None

    def status(self) -> str:
        """Version and place; runs gem5 only to ask for its version."""
        program = find_gem5()
        return f"gem5 {version(program)} in {program}"

    @property
    def layout(self) -> Layout:
        """VExpress_GEM5_V1, or V2 for more than eight CPUs."""
        return LAYOUT

    @property
    def traits(self) -> Traits:
        """The reference: elided loops count nothing, and CPU models decide all rates."""
        words = MODES[self.mode].cpu_words
        return Traits(reference=True, counts_elided=False, stated_rates=False, cpu_words=words)

    @property
    def artefacts(self) -> tuple[str, ...]:
        """Boot loader and checkpoints; gem5 itself is a person's own."""
        return (BOOT_LOADER, CHECKPOINT)

    def host_s_per_s(self, *, elide: bool) -> float:
        """See :meth:`engines.base.Engine.host_s_per_s`."""
        elided = MODES[self.mode].elided_host_s_per_s if elide else None
        return EXECUTED_HOST_S_PER_S if elided is None else elided

    def elision(self, platform: Platform, activity: Activity) -> Elision:
        """The copy whose loop stands still, with the cycles of an iteration on each CPU."""
        return elision(self.mode, platform, activity)

    def mixtures(
        self, platform: Platform, activity: Activity, memory: Sequence[float]
    ) -> tuple[Elision, ...]:
        """Copies whose loops stand still for an iteration's cycles, and for its ns of memory."""
        return mixtures(self.mode, platform, activity, memory)

    def boots(self, machine: Machine) -> Path:
        """The kernel with symbols: gem5 finds a guest's panic by them."""
        if machine.vmlinux is None:
            raise EascopeError("gem5 boots a vmlinux with symbols: the machine has none")
        return machine.vmlinux

    def executed_loop(self, platform: Platform, activity: Activity) -> ExecutedLoop | None:
        """A cycle per instruction on CPUs without a pipeline; else what was measured on them."""
        if not has_pipelines(self.mode):
            return ExecutedLoop((1.0,) * len(platform.clusters), measured=False)
        ipc = measured_ipc(platform, activity) if activity.measured else ()
        return ExecutedLoop(tuple(ipc), measured=True)

    def identity(self) -> Gem5Identity:
        """Version and digest of gem5, of our scripts and code, and of our boot loader."""
        return identity()

    def settings(self, machine: Machine) -> Gem5Settings:
        """All settings for gem5. The script has the iterations of the busy loop."""
        return settings_of(machine, self.mode)

    def run(
        self,
        machine: Machine,
        out: Path,
        on_progress: Callable[[float], None] | None = None,
        *,
        limit_s: float = LIMIT_S,
        stall_s: float = STALL_S,
    ) -> EngineRun:
        """See :meth:`engines.base.Engine.run`; boots first if there is no checkpoint."""
        out = out.absolute()
        out.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        saved = self._checkpoint(machine, stall_s, on_progress)
        boot_s = time.monotonic() - began
        # Within the run's own folder: what a killed process leaves there is known as left over.
        with scratch(out, self.name) as folder:
            script = folder / "script"
            script.write_bytes(machine.script)
            files = replace(self._files(machine), script=script, checkpoint_in=saved)
            request = request_of(settings_of(machine, self.mode, limit_s), files)
            try:
                ended = supervise(request, folder, "exit", stall_s, on_progress)
                return self._collect(folder, out, ended, boot_s)
            finally:
                if (folder / TERMINAL).is_file():
                    (out / CONSOLE).write_bytes((folder / TERMINAL).read_bytes())

    def sample(
        self,
        machine: Machine,
        folder: Path,
        times: SampleTimes,
        on_progress: Callable[[float], None] | None = None,
    ) -> list[CpuSample]:
        """Run the machine's script to its mark ``start`` on atomic CPUs; then take samples.

        The machine is saved at that mark, so that more samples cost no second start.

        :param folder: an empty folder for gem5's files, whose trace needs some 100 bytes for each
            instruction in a sample.
        :param times: of the samples, from the mark on.
        :raises EngineFailed: when the guest ends before its last sample.
        """
        files = self._started(machine, folder, START, on_progress)
        request = request_of(settings_of(machine, self.mode), files)
        request["samples"] = times
        supervise(request, folder, "samples", STALL_S, on_progress)
        return read_samples(folder, machine.platform)

    def observe(
        self,
        machine: Machine,
        folder: Path,
        on_progress: Callable[[float], None] | None = None,
    ) -> pl.DataFrame:
        """Run the machine's script to its ``barrier`` on atomic CPUs; then to its end; the rows.

        The rows are those between its ``start`` and ``stop``, which follow the barrier. The machine
        is saved at the barrier.

        :param folder: an empty folder for gem5's files.
        :raises EngineFailed: when the guest does not end as it should.
        """
        files = self._started(machine, folder, READY, on_progress)
        supervise(request_of(settings_of(machine, self.mode), files), folder, "exit", STALL_S, None)
        table, _ = read_rows(folder)
        return table

    def _started(
        self,
        machine: Machine,
        folder: Path,
        mark: int,
        on_progress: Callable[[float], None] | None,
    ) -> RequestFiles:
        """The files of a run from the script's ``mark`` on, to which atomic CPUs have gone."""
        script = folder / "script"
        script.write_bytes(machine.script)
        booted = self._checkpoint(machine, STALL_S, on_progress)
        files = replace(self._files(machine), script=script, checkpoint_in=booted)
        key = {"booted": booted.parent.name, "script": sha256_file(script)}
        if mark != START:
            key["mark"] = str(mark)

        def start(state: Path) -> BootFacts:
            settings = settings_of(machine, BOOT)
            request = request_of(settings, replace(files, checkpoint_out=state))
            request["save_at"] = mark
            with scratch(state.parent, self.name) as own:
                ended = supervise(request, own, "checkpoint", STALL_S, on_progress)
            return BootFacts(round(ended.host_s, 3), ended.sim_ns, ended.instructions)

        started = checkpoint(key, start, f"checkpoint of {machine.platform.name}: programs run")
        return replace(files, checkpoint_in=started)

    def _collect(self, folder: Path, out: Path, ended: Gem5Ended, boot_s: float) -> EngineRun:
        code = (folder / "exit-code").read_text() if (folder / "exit-code").is_file() else "none"
        if code != "0":
            raise EascopeError(f"the guest agent ended with exit code {code}")
        join_pieces(folder, out)
        record = save_counters(folder, out)
        save_marks(folder, out, record)
        save_statistics(folder, out)
        restore_s = max(0.0, ended.host_s - sum(ended.parts.values()))
        return EngineRun(
            host_s=ended.host_s,
            mips=ended.instructions / 1e6 / ended.host_s,
            sim_s=ended.sim_ns / 1e9,
            instructions=ended.instructions,
            cpu_s=ended.cpu_s,
            transitions={
                name: Transitions(requested, completed)
                for name, (requested, completed) in record.transitions.items()
            },
            parts_s={"boot": boot_s, "restore": restore_s, **ended.parts},
            parts_cpu_s=ended.cpu_parts,
        )

    def _files(self, machine: Machine) -> RequestFiles:
        return RequestFiles(
            self.boots(machine),
            boot_loader(len(machine.platform.cpus)),
            dtb=machine.dtb,
            initrd=machine.initramfs,
        )

    def _checkpoint(
        self, machine: Machine, stall_s: float, on_progress: Callable[[float], None] | None
    ) -> Path:
        """The machine as it stands at the agent's barrier."""
        files, settings = self._files(machine), settings_of(machine, BOOT, BOOT_LIMIT_S)
        key = checkpoint_key(
            self.identity(),
            settings.machine,
            vmlinux=files.vmlinux,
            dtb=machine.dtb,
            initrd=machine.initramfs,
            cmdline=machine.cmdline,
        )

        def alive(_: float) -> None:
            """Nothing of the run itself has passed yet, but it may be ended."""
            if on_progress is not None:
                on_progress(0.0)

        def boot(state: Path) -> BootFacts:
            with scratch(state.parent, self.name) as folder:
                request = request_of(settings, replace(files, checkpoint_out=state))
                ended = supervise(request, folder, "checkpoint", stall_s, alive)
            return BootFacts(round(ended.host_s, 3), ended.sim_ns, ended.instructions)

        return checkpoint(key, boot, f"checkpoint of {machine.platform.name}: boot on gem5")


GEM5 = EngineKind(
    NAME,
    "reference engine: gem5's CPU models; --mode says which, and whether busy loops elide",
    make=lambda mode: Gem5Engine(mode=mode),
    code=CODE,
    copy=COPY,
    modes={name: MODES[name].summary for name in RUN_MODES},
    remedy=f"not needed, another engine is the default; {RECIPE} says how to get it",
)
