# SPDX-License-Identifier: GPL-2.0-or-later
"""The reference engine: gem5, from a checkpoint at the agent's barrier to the agent's EXIT.

``engines/gem5/inside/run.py`` builds the machine inside gem5 from what `Gem5Engine.settings` says.
Modes name what is simulated (`engines.gem5.settings.MODES`); nothing here knows a core by its
trade name.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from configs.activity import Activity
from configs.platform import Platform
from engines.base import EngineRun, Machine
from engines.gem5.boot import boot_loader
from engines.gem5.checkpoint import checkpoint, checkpoint_key
from engines.gem5.files import (
    join_pieces,
    save_counters,
    save_marks,
    save_statistics,
    transitions,
)
from engines.gem5.inside.request import Request
from engines.gem5.process import TERMINAL, Ended, supervise
from engines.gem5.provider import find_gem5, identity, version
from engines.gem5.settings import MODES, machine_settings
from host.errors import EascopeError, unknown
from host.scratch import scratch

DEFAULT_MODE = "elided"
#: What a person may ask for: not ``boot``, which the engine does by itself.
RUN_MODES = tuple(name for name in MODES if name != "boot")
#: Simulated time without an instruction, of all CPUs or of one that is on, after which a guest
#: counts as dead. An idle kernel still has a timer every few s.
STALL_NS = 20 * 10**9
#: Simulated seconds in which a machine must have booted.
BOOT_LIMIT_S = 30.0


@dataclass(frozen=True)
class Gem5Engine:
    """See :class:`engines.base.Engine`.

    :param mode: one of `RUN_MODES`.
    """

    mode: str = DEFAULT_MODE
    name: str = "gem5"

    def __post_init__(self) -> None:
        """Refuse a mode that does not exist."""
        if self.mode not in RUN_MODES:
            raise unknown("gem5 mode", self.mode, RUN_MODES)

    @property
    def elides(self) -> bool:
        """Whether this mode is one in which busy loops stand still."""
        return self.mode.startswith("elided")

    def status(self) -> str:
        """Version and place; runs gem5 only to ask for its version."""
        program = find_gem5()
        return f"gem5 {version(program)} in {program}"

    def identity(self) -> dict[str, Any]:
        """Version and digest of gem5, of our scripts and of our boot loader."""
        return identity()

    def settings(self, platform: Platform, activity: Activity) -> dict[str, Any]:
        """What gem5 is given about the machine. The script has the turns of the busy loop."""
        return {"mode": self.mode, "machine": machine_settings(platform, self.mode)}

    def run(
        self,
        machine: Machine,
        out: Path,
        on_progress: Callable[[float], None] | None = None,
        *,
        limit_s: float = 3600.0,
        stall_s: float = 300.0,
    ) -> EngineRun:
        """See :meth:`engines.base.Engine.run`; boots first where no checkpoint is there."""
        out = out.absolute()
        out.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        saved = self._checkpoint(machine, stall_s, on_progress)
        boot_s = time.monotonic() - began
        # Within the run's own folder: what a killed process leaves there is known as left over.
        with scratch(out, self.name) as folder:
            script = folder / "script"
            script.write_bytes(machine.script)
            request = _request(machine, self.mode, limit_s)
            request["script"], request["checkpoint_in"] = str(script), str(saved)
            try:
                ended = supervise(request, folder, "exit", stall_s, on_progress)
                return self._collect(folder, out, ended, boot_s)
            finally:
                if (folder / TERMINAL).is_file():
                    (out / "console.log").write_bytes((folder / TERMINAL).read_bytes())

    def _collect(self, folder: Path, out: Path, ended: Ended, boot_s: float) -> EngineRun:
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
            transitions=transitions(record),
            parts_s={"boot": boot_s, "restore": restore_s, **ended.parts},
            parts_cpu_s=ended.cpu_parts,
        )

    def _checkpoint(
        self, machine: Machine, stall_s: float, on_progress: Callable[[float], None] | None
    ) -> Path:
        """The machine as it stands at the agent's barrier."""
        if machine.vmlinux is None:
            raise EascopeError("gem5 boots a vmlinux with symbols: the machine has none")
        key = checkpoint_key(
            self.identity(),
            machine_settings(machine.platform, "boot"),
            machine.vmlinux,
            machine.dtb,
            machine.initramfs,
            machine.cmdline,
        )

        def alive(_: float) -> None:
            """Nothing of the run itself has passed yet, but it may be ended."""
            if on_progress is not None:
                on_progress(0.0)

        def boot(state: Path) -> dict[str, Any]:
            with scratch(state.parent, self.name) as folder:
                request = _request(machine, "boot", BOOT_LIMIT_S)
                request["checkpoint_out"] = str(state)
                ended = supervise(request, folder, "checkpoint", stall_s, alive)
            return {
                "host_s": round(ended.host_s, 3),
                "sim_ns": ended.sim_ns,
                "instructions": ended.instructions,
            }

        state, _ = checkpoint(key, boot, f"checkpoint of {machine.platform.name}: boot on gem5")
        return state


def _request(machine: Machine, mode: str, limit_s: float) -> Request:
    """What ``engines/gem5/inside/run.py`` reads."""
    return {
        "schema": 1,
        "machine": machine_settings(machine.platform, mode),
        "mode": mode,
        "vmlinux": str(machine.vmlinux),
        "boot_loader": str(boot_loader()),
        "dtb": str(machine.dtb.absolute()),
        "initrd": str(machine.initramfs.absolute()),
        "cmdline": machine.cmdline,
        "script": None,
        "checkpoint_in": None,
        "checkpoint_out": None,
        "limit_ns": round(limit_s * 1e9),
        "stall_ns": STALL_NS,
    }
