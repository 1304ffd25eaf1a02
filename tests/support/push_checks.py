# SPDX-License-Identifier: GPL-2.0-or-later
"""What the push mechanism does, asked of a kernel in a guest, and what must be found.

juno-r2's CPUs 0 to 3 are little, 4 and 5 are big; a tick is 4 ms. Tasks that never sleep run on one
CPU first and then may use others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eascope.configs.platform import Platform
from eascope.kernels.build import KernelArtefact
from eascope.kernels.switches import FEATURES
from tests.support import guest_cases
from tests.support.guest_cases import GROUP, Found

#: Off in a kernel that nobody has written to.
STUCK, IDLE = "FAIR_PUSH_STUCK", "FAIR_PUSH_IDLE"
ANYWHERE = "0x3f"
#: What push has counted where it had nothing to do.
LOOKS = ("push_check", "push_moved", "push_same", "push_failed", "tick_check", "tick_moved")


@dataclass(frozen=True)
class Case:
    """What runs.

    :param program: name and arguments of one of the C programs here.
    :param on: features that are on.
    :param cap: ``cpu.uclamp.max`` of its group.
    :param idle: whether its group has ``cpu.idle``.
    """

    program: str
    on: tuple[str, ...] = ()
    cap: str = "max"
    idle: bool = False

    @property
    def switch_lines(self) -> list[str]:
        """See `guest_cases.GuestCase`."""
        features = [
            f"write {FEATURES} {'' if feature in self.on else 'NO_'}{feature}"
            for feature in (STUCK, IDLE)
        ]
        return [*features, f"write {GROUP}/cpu.idle {int(self.idle)}"]


CASES = {
    "off": Case(f"stuck 2 4 {ANYWHERE} 200", cap="10"),
    "waiting": Case(f"stuck 2 4 {ANYWHERE} 200", on=(STUCK,), cap="10"),
    "alone": Case(f"stuck 1 4 {ANYWHERE} 200", on=(STUCK,), cap="10"),
    "alone-idle-only": Case(f"stuck 1 4 {ANYWHERE} 200", on=(IDLE,), cap="10"),
    "alone-uncapped": Case("stuck 1 0 0x3 200", on=(STUCK, IDLE)),
    "pinned": Case("stuck 2 4 0x10 200", on=(STUCK,), cap="10"),
    "uncapped": Case("placing 10 0 0x7", on=(STUCK,)),
    "overutilized": Case("stuck 2 0 0x3 200", on=(STUCK,)),
    "idle": Case("stuck 2 0 0x3 200", on=(STUCK, IDLE)),
    # CPU 5 alone is idle, and SIS_UTIL ends a search that begins at CPU 0 before it is there.
    "last": Case(f"stuck 1 0 {ANYWHERE} 200 0x1f", on=(STUCK, IDLE)),
    "full": Case(f"stuck 12 4 {ANYWHERE} 400", on=(STUCK, IDLE)),
    "elsewhere": Case("stuck 4 0 0x3 400", on=(STUCK, IDLE)),
    "idle-group": Case(f"stuck 2 4 {ANYWHERE} 200 0 1", on=(STUCK, IDLE), idle=True),
    "recent": Case("recent 5", on=(STUCK, IDLE)),
}
#: In a partition of the little CPUs, whose capacities are equal.
PARTITION = {"partition": Case("stuck 8 0 0xf 400", on=(STUCK, IDLE))}
#: Eight capped tasks that start on a big CPU; Gondois's cap of 100 in 1024.
EIGHT = {
    "mainline": Case(f"stuck 8 4 {ANYWHERE} 1000", cap="9.77"),
    "push": Case(f"stuck 8 4 {ANYWHERE} 1000", on=(STUCK, IDLE), cap="9.77"),
}


def run(
    kernel: KernelArtefact, platform: Platform, cases: Mapping[str, Case], folder: Path
) -> dict[str, Found]:
    """What a guest finds in each of ``cases``, where both features are off as it boots."""
    off = [f"word {FEATURES} NO_{feature}" for feature in (STUCK, IDLE)]
    return guest_cases.run(kernel, platform, cases, folder, off)


def partitioned(kernel: KernelArtefact, platform: Platform, folder: Path) -> dict[str, Found]:
    """What a guest finds in a partition of the CPUs 0 to 3."""
    first = [
        "write /sys/fs/cgroup/cgroup.subtree_control +cpuset",
        f"write {GROUP}/cpuset.cpus 0-3",
        f"write {GROUP}/cpuset.cpus.partition root",
        f"word {GROUP}/cpuset.cpus.partition root",
    ]
    return guest_cases.run(kernel, platform, PARTITION, folder, first)


def looks(result: Found) -> dict[str, int]:
    """What push counted, where it counted anything."""
    return {name: result.counted[name] for name in LOOKS if result.counted[name]}


def check_off(results: Mapping[str, Found]) -> None:
    """With both features off tasks stay where they are, and nobody looks at them."""
    assert results["off"].cpus == [4, 4]
    assert looks(results["off"]) == {}


def check_waiting(results: Mapping[str, Found]) -> None:
    """Two capped tasks share a big CPU. One is pushed when the other is switched to."""
    assert len(set(results["waiting"].cpus)) == 2
    assert max(results["waiting"].cpus) < 4
    assert results["waiting"].counted["push_moved"] >= 1


def check_alone(results: Mapping[str, Found]) -> None:
    """One that runs alone is moved by the tick: within two of 4 ms, to a little CPU."""
    ((cpu, left_us),) = results["alone"].lines
    assert cpu < 4
    assert 0 < left_us < 8_000
    assert results["alone"].counted["tick_moved"] == 1
    # There it stays, capped and busy, and each tick finds that it is in the right place.
    assert results["alone"].counted["push_same"] > 30


def check_reasons(results: Mapping[str, Found]) -> None:
    """Each feature is one reason: with that of idle CPUs alone, a stuck task is none."""
    assert results["alone-idle-only"].cpus == [4]
    assert looks(results["alone-idle-only"]) == {}


def check_no_wait(results: Mapping[str, Found]) -> None:
    """One that runs alone does not wait, so an idle CPU is no reason to move it."""
    assert results["alone-uncapped"].counted["overutilized_set"] > 0
    assert results["alone-uncapped"].counted["tick_check"] == 0


def check_pinned(results: Mapping[str, Found]) -> None:
    """A task that may use one CPU alone is not looked at, but for when it was not pinned yet."""
    assert results["pinned"].cpus == [4, 4]
    assert results["pinned"].counted["push_check"] < 5
    assert results["pinned"].counted["tick_check"] < 5


def check_uncapped(results: Mapping[str, Found]) -> None:
    """Tasks that sleep and get what they want are not looked at."""
    assert results["uncapped"].counted["feec_called"] > 0
    assert looks(results["uncapped"]) == {}


def check_overutilized(results: Mapping[str, Found]) -> None:
    """Two tasks that want more than a little has make the system overutilized.

    Then EAS is not asked, and moving one of them is left to load balance.
    """
    assert results["overutilized"].counted["overutilized_set"] > 0
    assert looks(results["overutilized"]) == {}


def check_idle(results: Mapping[str, Found]) -> None:
    """Then a task that waits goes to an idle CPU, at the first switch, not when one balances."""
    assert results["idle"].cpus == [0, 1]
    assert results["idle"].counted["push_moved"] == 1
    assert results["idle"].counted["lb_pulled"] == 0
    (left_us,) = (line[1] for line in results["idle"].lines if line[0] == 1)
    assert left_us < min(line[1] for line in results["overutilized"].lines if line[0] == 1)


def check_last(results: Mapping[str, Found]) -> None:
    """Five of six CPUs are busy. A task that waits goes to the sixth one, wherever it is."""
    assert results["last"].cpus == [5]
    assert results["last"].counted["push_moved"] == 1


def check_full(results: Mapping[str, Found]) -> None:
    """Twelve tasks on six CPUs switch a thousand times; once no CPU is idle, nobody looks."""
    assert results["full"].counted["push_moved"] >= 4
    assert results["full"].counted["push_check"] < 50


def check_elsewhere(results: Mapping[str, Found]) -> None:
    """Four tasks may use two CPUs. That these are busy does not hide the idle ones from others."""
    assert results["elsewhere"].counted["push_moved"] >= 1
    assert results["elsewhere"].counted["push_check"] > 50


def check_idle_group(results: Mapping[str, Found]) -> None:
    """Two tasks of a group with ``cpu.idle`` share a CPU, which is answered without a search.

    That says nothing about others: the idle CPUs are not forgotten, and each yield is a check.
    """
    assert results["idle-group"].counted["push_check"] > 100
    # Neither runs alone but for the end.
    assert results["idle-group"].counted["tick_check"] < 5


def check_recent(results: Mapping[str, Found]) -> None:
    """The search for one that waits leaves its next wakeup the CPU where it ran before."""
    assert results["recent"].counted["push_same"] > 0
    assert results["recent"].cpus == 5 * [3]


def check_partition(results: Mapping[str, Found]) -> None:
    """Eight tasks on the four CPUs of a partition: once none is idle there, nobody looks."""
    assert results["partition"].counted["push_moved"] >= 2
    assert results["partition"].counted["push_check"] < 50


def check_eight(results: Mapping[str, Found]) -> None:
    """Gondois: push brings eight capped tasks to the littles and does not spread them there.

    Without it some stay on the big CPUs. Where each goes differs with the moment of their start: of
    nine starts seven left four or more on one CPU, two left three.
    """
    assert max(results["mainline"].cpus) >= 4
    assert max(results["push"].cpus) < 4
    littles = [results["push"].cpus.count(cpu) for cpu in range(4)]
    assert sum(littles) == 8
    assert max(littles) > 2, littles
