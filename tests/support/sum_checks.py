# SPDX-License-Identifier: GPL-2.0-or-later
"""What the queue ``sum`` claims of clamps, asked of a kernel in a guest, and what must be found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from configs.platform import Platform
from kernels.switches import STATS
from tests.support.kernel_guest import Booted, boot
from tests.support.stress import counters, guest_program

FILES = "/sys/kernel/debug/sched/eascope"
FEATURES = "/sys/kernel/debug/sched/features"
GROUPS = "/sys/fs/cgroup"
SYSCTL = "/proc/sys/kernel"
PERIOD_MS = 4
#: Of juno-r2's big cluster.
BIG_KHZ = (600_000, 1_000_000, 1_200_000)
#: Clamps are in use from the beginning: mainline leaves out what was runnable before.
IN_USE = [f"write {SYSCTL}/sched_util_clamp_min_rt_default {value}" for value in (1023, 1024)]


@dataclass(frozen=True)
class Guest:
    """Boots scripts on the kernel with `hog` and `sample` in the guest."""

    image: Path
    platform: Platform
    folder: Path

    def khz(self, lines: list[str], *, cpu: int, ms: int) -> list[int]:
        """The frequency of ``cpu``'s policy every `PERIOD_MS` for ``ms`` after ``lines``."""
        return [int(word) for word in self.sampled(lines, cpu=cpu, ms=ms)[0].split()]

    def traced(self, lines: list[str], event: str, after: list[str], *, ms: int) -> list[str]:
        """The lines of ``event`` in the ``ms`` after ``lines`` and, traced already, ``after``."""
        tracing = "/sys/kernel/tracing"
        script = [
            *lines,
            f"trace-setup 4096 {event}",
            f"write {tracing}/tracing_on 1",
            *after,
            f"sleep-ms {ms}",
            f"write {tracing}/tracing_on 0",
            f"collect {tracing}/trace trace.txt",
        ]
        done = self.boot([*IN_USE, *script])
        mark = f"{event.partition(':')[2]}: "
        return [line for line in done.text("trace.txt").splitlines() if mark in line]

    def boot(self, script: list[str]) -> Booted:
        """Runs ``script``, in which the kernel must find no fault."""
        return boot(
            self.image,
            self.platform,
            script,
            self.folder / "out",
            arguments="loglevel=5 panic_on_warn=1",
            programs={name: guest_program(name, self.folder) for name in ("hog", "sample")},
        )

    def sampled(self, lines: list[str], *, cpu: int, ms: int) -> tuple[str, dict[str, int]]:
        """The same as text, and the kernel's counters, with its checks switched on."""
        policy = f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq"
        script = [
            f"write {FEATURES} UCLAMP_CHECK",
            *IN_USE,
            f"write {GROUPS}/cgroup.subtree_control +cpu",
            *lines,
            f"spawn sample /bin/busybox taskset 1 /bin/sample {policy} {PERIOD_MS * 1000}"
            f" {ms // PERIOD_MS}",
            f"wait sample {2 * ms}",
            "collect /tmp/sample.log khz",
            f"collect {STATS} stats.txt",
        ]
        done = self.boot(script)
        return done.text("khz"), counters(done.text("stats.txt"))


def hog(name: str, cpu: int, *options: str) -> str:
    return f"spawn {name} /bin/hog -c {cpu} {' '.join(options)}".rstrip()


def group(name: str, **files: str) -> list[str]:
    """Makes a group and writes ``cpu.KEY``; ``__`` stands for a dot."""
    path = f"{GROUPS}/{name}"
    writes = [f"write {path}/cpu.{key.replace('__', '.')} {files[key]}" for key in files]
    return [f"mkdir {path}", *writes]


def within(name: str, *lines: str) -> list[str]:
    """``lines``, whose tasks begin in a group."""
    there, back = f"{GROUPS}/{name}/cgroup.procs", f"{GROUPS}/cgroup.procs"
    return [f"write {there} 0", *lines, f"write {back} 0"]


def share(khz: list[int], least: int) -> float:
    """Of the time, at ``least`` or faster."""
    return sum(value >= least for value in khz) / len(khz)


def ms_until(khz: list[int], least: int) -> int:
    """Until it was ``least`` or faster for the first time."""
    return PERIOD_MS * next((n for n, value in enumerate(khz) if value >= least), len(khz))


def check_system_limit(guest: Guest) -> None:
    """600 with headroom are 880 MHz of a big CPU; 100 are 150, less than its lowest OPP."""
    lines = [
        *group("child"),
        *within("child", hog("boosted", 4, "-m 600 -r 500 -p 5000")),
        "sleep-ms 300",
        f"write {SYSCTL}/sched_util_clamp_min 100",
        "sleep-ms 300",
    ]
    assert share(guest.khz(lines, cpu=4, ms=200), BIG_KHZ[1]) <= 0.05
