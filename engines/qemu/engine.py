# SPDX-License-Identifier: GPL-2.0-or-later
"""The fast engine: stock QEMU whose clock our plugin owns.

Single-threaded TCG; the plugin (``engines/qemu``) lets the CPU with the least local time run first,
moves each at frequency x IPC, skips idle time and keeps the counters. The same machine gives the
same bytes, whatever the host does meanwhile.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from configs.activity import Activity
from configs.board import board_of
from configs.platform import Cluster, Platform
from engines.base import EngineRun, Machine, Transitions
from engines.files import write_counters
from engines.qemu.build import plugin, source_digest
from engines.qemu.files import counters_table, with_script
from engines.qemu.process import Limits, supervise
from engines.qemu.provider import RELEASE, SUITE, provenance, qemu
from engines.records import MARKS, write_marks
from host.cache import cache_root
from host.errors import EascopeError
from host.proc import need
from host.scratch import scratch
from rootfs.elide import FUNCTION_ADDRESS, FUNCTION_BYTES, LDEXP_RANGE, hint_function

#: How far a CPU may run ahead of the slowest one in a program and in the kernel, in virtual ns.
PROGRAM_QUANTUM_NS = 100_000
KERNEL_QUANTUM_NS = 20_000
#: The interrupt controller, which has eight CPU interfaces (`configs.platform_file.MAX_CPUS`).
GIC_VERSION = 2
#: Instructions that the elided loop itself executes for each hint of four turns and of one turn.
STEP_4_TURNS = 4
STEP_1_TURN = 3
#: Simulated time for which every CPU may be idle before the guest counts as dead.
DEAD_S = 600
#: QEMU's translation cache, in MiB; its default depends on the host's memory.
TRANSLATION_MIB = 128

#: The plugin's unit of work: an instruction outside of the busy loop is so many.
WORK_UNITS = 1 << 16
#: The first instructions of rt-app's busy function, by which the plugin knows the program.
FUNCTION_BEGINS = (0xA9BC7BFD, 0x910003FD, 0xF9000FE0, 0xB203E7E0)

RAW_COUNTERS = "counters.raw"
COUNTERS = "counters.parquet"


@dataclass(frozen=True)
class QemuEngine:
    """See :class:`engines.base.Engine`."""

    name: str = "qemu"
    mode: str = ""
    elides: bool = True

    def status(self) -> str:
        """What is there; fetches and builds nothing."""
        need("gcc", "gcc libc6-dev")
        need("dpkg", "dpkg")
        unpacked = list((cache_root() / "qemu").glob("*/bin/qemu-system-aarch64"))
        if unpacked:
            return f"QEMU {RELEASE} of Debian {SUITE}, unpacked in {unpacked[0].parent.parent}"
        return f"QEMU {RELEASE} of Debian {SUITE}: the first run fetches it (36 MB, half a minute)"

    def identity(self) -> dict[str, Any]:
        """QEMU's package and everything it loads, and the plugin's sources."""
        return {"engine": self.name, "qemu": provenance(qemu()), "plugin_sha256": source_digest()}

    def settings(self, platform: Platform, activity: Activity) -> dict[str, Any]:
        """Rates in instructions per second, latencies, elision constants."""
        return {
            "clusters": {
                cluster.name: {
                    "cpus": list(cluster.cpus),
                    "opps": [
                        [opp.khz, opp.uv, _instructions_per_s(cluster, opp.khz, activity)]
                        for opp in cluster.opps
                    ],
                    "idle_exit_ns": [state.exit_us * 1000 for state in cluster.idle_states],
                    "cluster_sleep": cluster.cluster_sleep,
                    **_weighed(cluster, activity),
                }
                for cluster in platform.clusters
            },
            "transition_latency_ns": platform.transition_latency_us * 1000,
            "program_quantum_ns": PROGRAM_QUANTUM_NS,
            "kernel_quantum_ns": KERNEL_QUANTUM_NS,
            "hint_4_turns": 4 * activity.turn_instructions - STEP_4_TURNS,
            "hint_1_turn": activity.turn_instructions - STEP_1_TURN,
            "gic": GIC_VERSION,
            "cpu": "cortex-a57",
        }

    def run(
        self,
        machine: Machine,
        out: Path,
        on_progress: Callable[[float], None] | None = None,
        *,
        limit_s: float = 3600.0,
        stall_s: float = 120.0,
    ) -> EngineRun:
        """See :meth:`engines.base.Engine.run`."""
        out = out.absolute()
        out.mkdir(parents=True, exist_ok=True)
        # Within the run's own folder: what a killed process leaves there is known as left over.
        with scratch(out, self.name) as folder:
            initrd = folder / "initrd"
            initrd.write_bytes(with_script(machine.initramfs.read_bytes(), machine.script))
            command = self._command(machine, initrd, limit_s)
            ended = supervise(command, out, folder, Limits(stall_s), on_progress)
        raw = out / RAW_COUNTERS
        write_counters(counters_table(raw, _idle_states(machine.platform)), out / COUNTERS)
        raw.unlink()
        write_marks(ended.marks, out / MARKS)
        if ended.exit_code != 0:
            raise EascopeError(f"the guest agent ended with exit code {ended.exit_code}")
        return EngineRun(
            host_s=ended.host_s,
            mips=ended.instructions / 1e6 / ended.host_s,
            sim_s=ended.sim_ns / 1e9,
            instructions=ended.instructions,
            cpu_s=ended.cpu_s,
            transitions={
                cluster.name: Transitions(*ended.transitions[cluster.index])
                for cluster in machine.platform.clusters
            },
        )

    def _command(self, machine: Machine, initrd: Path, limit_s: float) -> list[str]:
        platform = machine.platform
        options = self._plugin_options(machine, limit_s)
        return [
            *qemu().command,
            *("-machine", f"virt,gic-version={GIC_VERSION},dtb-randomness=off"),
            *("-cpu", "cortex-a57"),
            *("-smp", str(len(platform.cpus))),
            *("-m", str(platform.memory_mib)),
            # What would otherwise come from the host: random numbers, the date, devices.
            *("-seed", "1"),
            *("-rtc", "base=2026-01-01T00:00:00,clock=vm"),
            *("-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none"),
            *("-serial", "file:console.log"),
            "-no-reboot",
            *("-dtb", str(machine.dtb.absolute())),
            *("-kernel", str(machine.image.absolute())),
            *("-initrd", str(initrd)),
            *("-append", machine.cmdline),
            *("-accel", f"tcg,thread=single,tb-size={TRANSLATION_MIB}"),
            *("-plugin", ",".join([_quoted(plugin()), *options])),
        ]

    def _plugin_options(self, machine: Machine, limit_s: float) -> list[str]:
        settings = self.settings(machine.platform, machine.activity)
        options = {
            "latency_ns": settings["transition_latency_ns"],
            "program_quantum_ns": settings["program_quantum_ns"],
            "kernel_quantum_ns": settings["kernel_quantum_ns"],
            "energyctrl": board_of(self.name).energy_ctrl,
            "hint_4_turns": settings["hint_4_turns"],
            "hint_1_turn": settings["hint_1_turn"],
            "dead_ns": DEAD_S * 10**9,
            "limit_ns": round(limit_s * 1e9),
        }
        clusters = machine.platform.clusters
        return [
            *(_cluster_option(cluster, machine.activity) for cluster in clusters),
            *(_idle_option(cluster) for cluster in clusters),
            *(
                f"cluster_sleep={cluster.index}:{cluster.cluster_sleep}"
                for cluster in clusters
                if cluster.cluster_sleep is not None
            ),
            *(f"{name}={value}" for name, value in options.items()),
            *_loop_options(machine),
        ]


def _quoted(path: Path) -> str:
    """A path inside a QEMU option, where a comma is written twice."""
    return str(path).replace(",", ",,")


def _idle_states(platform: Platform) -> int:
    return max(len(cluster.idle_states) for cluster in platform.clusters)


def _instructions_per_s(cluster: Cluster, khz: int, activity: Activity) -> int:
    """Whole instructions per second at ``khz``: the plugin's arithmetic is integer."""
    return round(khz * 1000 * activity.system_ipc(cluster))


def _loop_weight(cluster: Cluster, activity: Activity) -> int:
    """What an instruction of the busy loop takes of the time of any other, in `WORK_UNITS`."""
    return round(WORK_UNITS * activity.system_ipc(cluster) / activity.ipc(cluster))


def _weighs(platform: Platform, activity: Activity) -> bool:
    return any(_loop_weight(cluster, activity) != WORK_UNITS for cluster in platform.clusters)


def _weighed(cluster: Cluster, activity: Activity) -> dict[str, int]:
    """The busy loop's weight for the settings, where it has one."""
    weight = _loop_weight(cluster, activity)
    return {} if weight == WORK_UNITS else {"loop_weight": weight}


def _loop_options(machine: Machine) -> list[str]:
    """Nothing where all instructions take the same; else weights, and where the busy loop is."""
    clusters, activity = machine.platform.clusters, machine.activity
    if not _weighs(machine.platform, activity):
        return []
    function = (FUNCTION_ADDRESS, FUNCTION_ADDRESS + FUNCTION_BYTES)
    copies = [FUNCTION_BEGINS, struct.unpack_from("<4I", hint_function())]
    return [
        *(f"loop_weight={cluster.index}:{_loop_weight(cluster, activity)}" for cluster in clusters),
        *(f"loop_code={start:#x}-{end:#x}" for start, end in (function, LDEXP_RANGE)),
        *("loop_begins=" + ":".join(f"{word:08x}" for word in words) for words in copies),
    ]


def _cluster_option(cluster: Cluster, activity: Activity) -> str:
    """Cluster, first and last CPU, OPPs by falling frequency as EnergyCtrl counts them."""
    first, last = min(cluster.cpus), max(cluster.cpus)
    opps = "+".join(
        f"{opp.khz}@{opp.uv}@{_instructions_per_s(cluster, opp.khz, activity)}"
        for opp in sorted(cluster.opps, key=lambda opp: -opp.khz)
    )
    return f"cluster={cluster.index}:{first}-{last}:{opps}"


def _idle_option(cluster: Cluster) -> str:
    """Cluster, exit time of each idle state: what the guest's driver spins for."""
    times = ":".join(str(state.exit_us * 1000) for state in cluster.idle_states)
    return f"idle={cluster.index}:{times}"
