# SPDX-License-Identifier: GPL-2.0-or-later
"""C programs in a guest, one after the other, each under switches of its own and in a group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from eascope.configs.platform import Platform
from eascope.kernels.build import KernelArtefact
from eascope.kernels.switches import FEATURES, SCHED_DEBUG, STATS
from eascope.rootfs.image import program_names
from tests.support.stress import checked, counters

GROUP = "/sys/fs/cgroup/group"


class GuestCase(Protocol):
    """What runs, under which switches."""

    @property
    def program(self) -> str:
        """Name and arguments of one of the C programs of tests/kernels."""

    @property
    def cap(self) -> str:
        """``cpu.uclamp.max`` of its group."""

    @property
    def switch_lines(self) -> Sequence[str]:
        """The agent's lines that set every switch."""


def written(
    values: Mapping[str, object], group: str, *, energy_aware: bool, **features: bool
) -> list[str]:
    """Lines that set the kernel's switches, a file of the group, EAS and features."""
    return [
        *(f"write {SCHED_DEBUG}/eascope/{key} {value}" for key, value in values.items()),
        f"write /proc/sys/kernel/sched_energy_aware {energy_aware:d}",
        f"write {GROUP}/{group}",
        *(f"write {FEATURES} {'' if on else 'NO_'}{name}" for name, on in features.items()),
    ]


@dataclass(frozen=True)
class Found:
    """What a case printed, by line, and what the kernel counted meanwhile."""

    lines: list[list[int]]
    counted: dict[str, int]

    @property
    def cpus(self) -> list[int]:
        """Where each task of ``stuck`` was at the end, sorted."""
        return sorted(line[0] for line in self.lines)


def script(cases: Mapping[str, GuestCase], first: Sequence[str]) -> list[str]:
    """The agent's lines: ``first``, then the cases, each with switches and counters as at boot."""
    lines = ["write /sys/fs/cgroup/cgroup.subtree_control +cpu", f"mkdir {GROUP}"]
    lines += [f"write {GROUP}/cgroup.procs 0", *first]
    for name, case in cases.items():
        lines += case.switch_lines
        lines += [f"write {GROUP}/cpu.uclamp.max {case.cap}", "sleep-ms 100"]
        # The mark of before is cleared by a pass of load balance, which an idle system has not.
        lines += [f"write {STATS} 0", f"spawn {name} /bin/{case.program}", f"wait {name} 20000"]
        lines += [f"collect {STATS} {name}.stats", f"collect /tmp/{name}.log {name}.log"]
    return lines


def run(
    kernel: KernelArtefact,
    platform: Platform,
    cases: Mapping[str, GuestCase],
    folder: Path,
    first: Sequence[str],
) -> dict[str, Found]:
    """What a guest finds in each of ``cases``."""
    words = [case.program.split() for case in cases.values()]
    names = {line[0] for line in words}
    names |= {word.removeprefix("/bin/") for line in words for word in line if "/bin/" in word}
    done = checked(
        kernel.image, platform, script(cases, first), folder, *(names - set(program_names()))
    )
    return {
        name: Found(
            [
                [int(word) for word in line.split()]
                for line in done.text(f"{name}.log").splitlines()
            ],
            counters(done.text(f"{name}.stats")),
        )
        for name in cases
    }
