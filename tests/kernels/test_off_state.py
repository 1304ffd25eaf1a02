# SPDX-License-Identifier: GPL-2.0-or-later
"""With its switches off a series decides as its reference does: the same CPU at every wake-up."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.kernels.naming import variant_named
from tests.support.guest_cases import GROUP
from tests.support.releases import booted, kernel_of
from tests.support.stress import checked

pytestmark = pytest.mark.guest

TRACING = "/sys/kernel/tracing"
#: What `placing` does: from each CPU, with neighbours that run and without.
PLANS = ("0 0x7", "1 0x6", "2 0", "3 0x3", "3 0")
#: Periods of a plan, with those before it counts. Whether a task wakes up once more before it is
#: killed is a matter of microseconds. So is what a new task's first utilization is.
BEFORE, COUNTED = 100, 20
PERIODS = BEFORE + COUNTED
FIRST = 2
WOKEN = re.compile(r" sched_wakeup: comm=placing pid=(\d+) .*target_cpu=(\d+)")


def decisions(
    variant: str, platform: Platform, folder: Path, cap: str = "max", later_us: int = 0
) -> dict[tuple[int, int, int], int]:
    """By plan, task and wake-up: the CPU that it went to, all tasks being in a group.

    In the first periods of each plan its forks overutilize the system. Wake-ups of a plan are
    milliseconds apart, so what a kernel's code takes does not reorder them.
    """
    _, declared = variant_named(variant)
    lines = [f"write {path} {value}" for path, value in declared.switches]
    if cap != "max":
        lines += ["write /sys/fs/cgroup/cgroup.subtree_control +cpu", f"mkdir {GROUP}"]
        lines += [f"write {GROUP}/cpu.uclamp.max {cap}", f"write {GROUP}/cgroup.procs 0"]
    lines.append("trace-setup 4096 sched:sched_wakeup")
    for number, plan in enumerate(PLANS):
        lines += [
            f"sleep-us {200_000 + later_us}",
            f"write {TRACING}/trace 0",
            f"write {TRACING}/tracing_on 1",
            f"spawn plan{number} /bin/placing {COUNTED} {plan} {BEFORE}",
            f"wait plan{number} 20000",
            f"write {TRACING}/tracing_on 0",
            f"collect {TRACING}/trace trace{number}",
        ]
    folder = folder / f"{variant}-{later_us}"
    done = checked(kernel_of(declared.kernel).image, platform, lines, folder, "placing")
    cpus: dict[tuple[int, int, int], int] = {}
    for number in range(len(PLANS)):
        tasks: dict[str, list[int]] = defaultdict(list)
        for pid, cpu in WOKEN.findall(done.text(f"trace{number}")):
            tasks[pid].append(int(cpu))
        for task, pid in enumerate(sorted(tasks, key=int)):
            woken = enumerate(tasks[pid][FIRST:PERIODS])
            cpus |= {(number, task, wake_up): cpu for wake_up, cpu in woken}
    return cpus


#: How much later the reference begins, too.
LATER_US = (0, 3, 60)


def possible(
    reference: str, platform: Platform, folder: Path, cap: str = "max"
) -> dict[tuple[int, int, int], set[int]]:
    """The CPUs to which a wake-up goes when the plans begin some microseconds earlier or later.

    Where two CPUs are alike to ``reference``, what a kernel's code takes decides.
    """
    runs = [decisions(reference, platform, folder, cap, later) for later in LATER_US]
    assert all(run.keys() == runs[0].keys() for run in runs)
    return {place: {run[place] for run in runs} for place in runs[0]}


#: Variants that decide alike. In 7.3 mainline has the rule that feec-a1 adds to 6.12.
ALIKE: dict[str, tuple[str, ...]] = {
    "feec": ("mainline", "feec-a"),
    "latnice": ("mainline", "latnice-off"),
    "schedmc": ("cas", "schedmc-0"),
    "blocked-tick": ("mainline", "blocked-tick-off"),
    "sum": ("max-nospare0", "uclamp-sum"),
    "latnice@7.3": ("mainline@7.3", "latnice-off@7.3"),
    "feec@7.3": ("mainline@7.3", "feec-a1@7.3"),
    "push@7.3": ("mainline@7.3", "push-v8-off@7.3"),
    "sum@7.3": ("max-nospare0@7.3", "uclamp-sum@7.3"),
    # With clamps, too: a cap of 51 in 1024 that the tasks exceed.
    "sum-feec": ("uclamp-sum", "sum-feec-a", "5"),
    "sum-push@7.3": ("uclamp-sum@7.3", "sum-push-off@7.3", "5"),
}


@pytest.mark.parametrize(
    ("reference", "variant", "cap"),
    [booted(kernel, *names, *["max"][len(names) - 2 :]) for kernel, names in ALIKE.items()],
)
def test_every_decision_is_the_same(
    juno: Platform, tmp_path: Path, reference: str, variant: str, cap: str
) -> None:
    wanted = possible(reference, juno, tmp_path, cap)
    assert len(wanted) > 1000
    assert len(set().union(*wanted.values())) > 3
    assert sum(len(cpus) > 1 for cpus in wanted.values()) < 10, "few of them go by microseconds"
    found = decisions(variant, juno, tmp_path, cap)
    assert {place: cpu for place, cpu in found.items() if cpu not in wanted[place]} == {}


@pytest.mark.kernels("feec")
def test_another_placement_would_be_seen(juno: Platform, tmp_path: Path) -> None:
    """The comparison above can fail: placement by cost decides otherwise."""
    wanted = possible("mainline", juno, tmp_path)
    found = decisions("feec-b", juno, tmp_path)
    assert sum(cpu not in wanted[place] for place, cpu in found.items()) > 10
