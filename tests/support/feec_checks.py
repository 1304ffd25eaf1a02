# SPDX-License-Identifier: GPL-2.0-or-later
"""What each switch of the EAS rework does, asked of a kernel in a guest, and what must be found.

juno-r2's littles have a capacity of 383 and OPPs of 181, 322 and 383; CPUs 4 and 5 are big.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from eascope.configs.platform import Platform
from eascope.kernels.build import KernelArtefact
from eascope.kernels.defaults import FILES_OF
from eascope.kernels.switches import SCHED_DEBUG
from tests.support import guest_cases
from tests.support.guest_cases import GROUP, Found
from tests.support.stress import checked

FILES = f"{SCHED_DEBUG}/eascope"
DEFAULTS = FILES_OF["feec"]


@dataclass(frozen=True)
class Case:
    """What runs, under which switches.

    :param program: name and arguments of one of the C programs here.
    :param cap: ``cpu.uclamp.max`` of its group.
    :param bandwidth: ``cpu.max`` of its group, us of each period of so many us.
    :param energy_aware: whether EAS is on.
    :param util_est: whether utilization is estimated; an estimate once made never falls to 0.
    :param defaults: the kernel's switches, where it is not one of feec's own.
    """

    program: str
    cap: str = "max"
    switches: Mapping[str, int] | None = None
    bandwidth: str = "max"
    energy_aware: bool = True
    util_est: bool = True
    defaults: Mapping[str, str] = field(default_factory=lambda: DEFAULTS)

    @property
    def switch_lines(self) -> list[str]:
        """See `guest_cases.GuestCase`."""
        values = {**self.defaults, **(self.switches or {})}
        limit, eas = f"cpu.max {self.bandwidth}", self.energy_aware
        return guest_cases.written(values, limit, energy_aware=eas, UTIL_EST=self.util_est)


def run(
    kernel: KernelArtefact, platform: Platform, cases: Mapping[str, Case], folder: Path
) -> dict[str, Found]:
    """What a guest finds in each of ``cases``, whose switches are `DEFAULTS` as it boots."""
    untouched = [f"expect {FILES}/{name} {value}" for name, value in DEFAULTS.items()]
    return guest_cases.run(kernel, platform, cases, folder, untouched)


#: Placement by cost with headroom that needs no distance.
NO_GUARD = {"feec_mode": 2, "feec_guard_min": 0, "feec_guard_pct": 0}
#: A small task wakes up; on the CPUs of 0x7 another one runs, CPU 3 has utilization left.
PLACING = {
    "mainline": Case("placing 10 0 0x7"),
    "number": Case("placing 10 0 0x7", switches={"feec_mode": 1}),
    "no-guard": Case("placing 10 3 0", switches=NO_GUARD),
    "guard": Case("placing 10 3 0", switches={"feec_mode": 2, "feec_guard_min": 1024}),
    "guard-of-task": Case(
        "placing 10 3 0", switches={"feec_mode": 2, "feec_guard_min": 0, "feec_guard_pct": 4000}
    ),
    "some-guard": Case(
        "placing 10 3 0", switches={"feec_mode": 2, "feec_guard_min": 80, "feec_guard_pct": 0}
    ),
    "own-opp": Case("dearer 10", switches={"feec_mode": 1}),
    "domain-opp": Case("dearer 10", switches={"feec_mode": 1, "feec_pd_opp": 1}),
    "raises-alone": Case("raises 10 0", switches={"feec_mode": 1}),
    "raises-others": Case("raises 10 3", switches={"feec_mode": 1}),
    "idle-others": Case("placing 10 0 0x7 0 i", switches={"feec_mode": 1}),
    "idle-others-plus": Case("placing 10 0 0x7 0 i", switches=NO_GUARD),
    "number-plus": Case("placing 10 0 0x7", switches=NO_GUARD),
    "urgent-others": Case("placing 10 0 0x7 0 f", switches={"feec_mode": 1}),
    "urgent-others-v5": Case("placing 10 0 0x7 0 f", switches={"feec_mode": 1, "feec_v5": 1}),
    "tiny": Case("boosted 20 0 5 none", switches={"feec_mode": 1}, util_est=False),
    "tiny-v5": Case("boosted 20 0 5 none", switches={"feec_mode": 1, "feec_v5": 1}, util_est=False),
    "margin-none": Case("margin 20 0xf"),
    "margin": Case("margin 20 0xf", switches={"eas_margin": 1}),
    "margin-big": Case("margin 20 0x10", switches={"eas_margin": 1}),
    "margin-one": Case("margin 20 0x1", switches={"eas_margin": 1}),
    "margin-alone": Case("margin 20 0", switches={"eas_margin": 1}),
    "margin-boosted": Case("margin 20 0 boosted", switches={"eas_margin": 1}),
}


#: What load balance does with tasks that never sleep.
BALANCING = {
    "no-filter": Case("stuck 2 0 0x1 300", cap="10", switches={"eas_group_filter": 0}),
    "filter": Case("stuck 2 0 0x1 300", cap="10", switches={"eas_group_filter": 1}),
    "auto": Case("stuck 2 0 0x1 300", cap="10"),
    "auto-cost": Case("stuck 2 0 0x1 300", cap="10", switches={"feec_mode": 1}),
    "auto-push": Case("stuck 2 0 0x1 300", cap="10", switches={"eas_push": 1}),
    "filter-without-eas": Case(
        "stuck 2 0 0x1 300", cap="10", switches={"eas_group_filter": 1}, energy_aware=False
    ),
}


def check_number(placed: Mapping[str, Found]) -> None:
    """Of CPUs that ask for the same OPP the one with fewest tasks, here none; mainline: the same.

    All littles cost the same, so mainline leaves the task on CPU 0, where another one runs.
    """
    assert placed["mainline"].lines == [[10, 0, 0, 0]]
    assert placed["mainline"].counted["feec_tie_nr"] == 0
    assert placed["number"].lines == [[0, 0, 0, 10]]
    assert placed["number"].counted["feec_tie_nr"] >= 8


#: On pixel6, whose CPUs 0 to 3 are little, 4 and 5 mid: no allowed CPU has the boost's capacity.
BOOSTED = {
    "boosted": Case("boosted 20 0 5", switches={"feec_mode": 1}),
    "boosted-mainline": Case("boosted 20 0 5"),
}


def check_boosted(placed: Mapping[str, Found]) -> None:
    """Where a boost cannot be had, most capacity is best, as in mainline, not least energy."""
    for name in BOOSTED:
        assert sum(cpu >= 4 for cpu in placed[name].cpus) >= 18, name
    assert placed["boosted"].counted["feec_called"] > 20


def check_guard(placed: Mapping[str, Found]) -> None:
    """With a distance to the next OPP that no CPU has, the one with most spare capacity is best."""
    assert placed["no-guard"].lines == [[0, 0, 0, 10]]
    # Some wake-ups are not EAS's: the system may be overutilized for a moment.
    (guarded,) = placed["guard"].lines
    assert guarded[3] < 8
    assert sum(guarded) == 10
    # A distance that some CPUs have decides between them and the others.
    assert placed["no-guard"].counted["feec_guard_hit"] == 0
    assert placed["some-guard"].counted["feec_guard_hit"] > 0
    # No CPU has the distance of 1024. A multiple of the task's utilization is a distance, too.
    (guarded,) = placed["guard-of-task"].lines
    assert guarded[3] < 8


def check_opp(placed: Mapping[str, Found]) -> None:
    """The cost goes before the number of tasks; it is that of the CPU's own OPP or the domain's.

    The CPU with one task asks for a higher OPP than the one with two.
    """
    own, domain = placed["own-opp"].lines[0], placed["domain-opp"].lines[0]
    assert sum(own) == sum(domain) == 10
    assert own[1] >= 8
    assert domain[0] >= 8


def check_raise(placed: Mapping[str, Found]) -> None:
    """An OPP that a task raises for others counts: their work is dearer, too.

    Alone the task is cheaper on a little CPU, at its second OPP, than on a big one at the first.
    """
    assert placed["raises-alone"].lines[0][0] >= 8
    assert placed["raises-others"].lines[0][1] >= 8


def check_idle_others(placed: Mapping[str, Found]) -> None:
    """SCHED_IDLE tasks count as any, as in the source; not where headroom counts, which is ours."""
    # Some wake-ups are not EAS's, or meet a task of the kernel.
    assert placed["idle-others"].lines[0][3] >= 8
    assert placed["number-plus"].lines[0][3] >= 8
    assert placed["idle-others-plus"].lines[0][0] >= 8


def check_v5(placed: Mapping[str, Found]) -> None:
    """The source counts no real-time tasks, so the previous CPU is as good as an idle one."""
    assert placed["urgent-others"].lines[0][3] >= 8
    assert placed["urgent-others-v5"].lines[0][0] >= 8


def check_v5_tiny(placed: Mapping[str, Found]) -> None:
    """The source places a task without utilization: all cost the same, and bigs come first."""
    assert sum(line[0] < 4 for line in placed["tiny"].lines) >= 18
    assert sum(line[0] >= 4 for line in placed["tiny-v5"].lines) >= 18


def check_margin(placed: Mapping[str, Found]) -> None:
    """A small task leaves a big CPU only if that saves a sixteenth of what all domains use.

    It saves more than that beside one busy little, and less beside four; beside three, how much
    depends on what their utilization is at that moment. A CPU that it fits better it takes at any
    price.
    """
    held = {name: found.counted["feec_margin_hit"] for name, found in placed.items()}
    # Some wake-ups are not EAS's: the system may be overutilized for a moment.
    for name in ("margin-none", "margin-one", "margin-alone"):
        assert sum(line[0] < 4 for line in placed[name].lines) >= 15, name
    for name in ("margin", "margin-big"):
        assert sum(line[0] >= 4 for line in placed[name].lines) >= 15, name
        assert held[name] >= 15, name
    assert held["margin-none"] == 0
    assert held["margin-alone"] < 5
    assert sum(line[0] >= 4 for line in placed["margin-boosted"].lines) >= 15


def check_auto_filter(balanced: Mapping[str, Found], *, mainline: bool) -> None:
    """The filter is on with placement by cost and with push; alone it is as in mainline."""
    assert (balanced["auto"].counted["lb_group_filtered"] > 10) == mainline
    assert balanced["auto-cost"].counted["lb_group_filtered"] > 10
    assert balanced["auto-push"].counted["lb_group_filtered"] > 10


def check_filter(balanced: Mapping[str, Found]) -> None:
    """Capped tasks fill their CPU but do not overutilize it: their group is not overloaded."""
    assert balanced["no-filter"].counted["lb_group_filtered"] == 0
    assert balanced["filter"].counted["lb_group_filtered"] > 10
    # Without EAS nothing else keeps an eye on such a group.
    assert balanced["filter-without-eas"].counted["lb_group_filtered"] == 0


TRACING = "/sys/kernel/tracing"


def traced(
    kernel: KernelArtefact, platform: Platform, folder: Path, events: str, lines: list[str]
) -> str:
    """The trace of ``events`` during ``lines``, in a group with a cap of a tenth.

    :param lines: those before ``trace`` are not traced.
    """
    start = lines.index("trace")
    programs = {line.split()[2].rpartition("/")[2] for line in lines if line.startswith("spawn ")}
    script = [
        "write /sys/fs/cgroup/cgroup.subtree_control +cpu",
        f"mkdir {GROUP}",
        f"write {GROUP}/cgroup.procs 0",
        f"write {GROUP}/cpu.uclamp.max 10",
        *lines[:start],
        f"trace-setup 4096 {events}",
        f"write {TRACING}/tracing_on 1",
        *lines[start + 1 :],
        f"write {TRACING}/tracing_on 0",
        f"collect {TRACING}/trace trace.txt",
    ]
    done = checked(kernel.image, platform, script, folder, *programs)
    return done.text("trace.txt")


ENERGY = re.compile(
    r" \[004\] .* sched_compute_energy: comm=deadline .*dst_cpu=(-?\d+) .*max_util=(\d+)"
)


def reserved(
    feec: KernelArtefact,
    platform: Platform,
    folder: Path,
    push: str = f"write {FILES}/eas_push 1",
) -> list[tuple[int, int]]:
    """What the big domain asks for without and with a task, when EAS looks at it on CPU 4.

    A deadline task has reserved 6 of 10.1 ms there, 608 of 1024.

    :param push: the line that turns push on.
    """
    lines = [push, "trace", "spawn deadline /bin/deadline 300", "wait deadline 20000"]
    text = traced(feec, platform, folder, "eascope:sched_compute_energy", lines)
    utils = [(int(cpu), int(util)) for cpu, util in ENERGY.findall(text)]
    return [
        (without, with_task)
        for (before, without), (cpu, with_task) in itertools.pairwise(utils)
        if (before, cpu) == (-1, 4)
    ]


def check_reserved(utils: Sequence[tuple[int, int]]) -> None:
    """A CPU that the task would leave empty still has to serve the deadline task."""
    in_force = [without for without, with_task in utils if with_task >= 600]
    assert len(in_force) > 20, utils
    # The reservation may come into force between the two looks, which take no lock.
    assert sum(without < 600 for without in in_force) <= 0.1 * len(in_force), utils
