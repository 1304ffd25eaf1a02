# SPDX-License-Identifier: GPL-2.0-or-later
"""Where load balance of `schedmc` puts tasks that always run, and what must be found.

tc2-like's littles are the CPUs 0 to 3, 4 to 7 are big.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from eascope.configs.platform import Cluster, Platform
from eascope.configs.platform_file import load_platform
from eascope.kernels.build import KernelArtefact
from eascope.kernels.defaults import FILES_OF
from eascope.kernels.switches import ENERGY_AWARE, FEATURES, SCHED_DEBUG
from tests.support import guest_cases
from tests.support.guest_cases import Found

FILES = f"{SCHED_DEBUG}/eascope"
COUNTERS = ("ps_pull", "ps_active", "ps_active_newly")


@dataclass(frozen=True)
class Case:
    """What runs, under which switches; see `gather.c`.

    :param equal: whether all CPUs have one capacity.
    """

    tasks: str
    level: int = 0
    misfit: int = 1
    asym: int = 0
    equal: bool = True
    eas: int = 0
    cap: str = "max"

    @property
    def program(self) -> str:
        """For 100 ms, which is more passes of load balance than are counted."""
        return f"gather 100 {self.tasks}"

    @property
    def switch_lines(self) -> list[str]:
        """See `guest_cases.GuestCase`."""
        values = zip(FILES_OF["schedmc"], (self.level, self.misfit, self.asym), strict=True)
        return [
            *(f"write {FILES}/{key} {value}" for key, value in values),
            *([f"write {ENERGY_AWARE} {self.eas}"] if not self.equal else []),
        ]


def slow(platform: Platform, *, equal: bool) -> Platform:
    """``platform`` at its slowest OPP alone, which is simulated fast: 400 MHz, as the source's."""

    def cluster(whole: Cluster) -> Cluster:
        capacity = 1024 if equal else whole.capacity_dmips_mhz
        return replace(whole, opps=whole.opps[:1], capacity_dmips_mhz=capacity)

    return replace(platform, clusters=tuple(map(cluster, platform.clusters)))


def run(
    kernel: KernelArtefact, _: Platform, cases: Mapping[str, Case], folder: Path
) -> dict[str, Found]:
    """What guests find in each of ``cases`` on tc2-like; the switches are off as they boot."""
    first = [f"expect {FILES}/{name} {value}" for name, value in FILES_OF["schedmc"].items()]
    first.append(f"write {FEATURES} NO_NI_RANDOM")
    found: dict[str, Found] = {}
    for equal in (True, False):
        own = {name: case for name, case in cases.items() if case.equal == equal}
        machine = slow(load_platform("tc2-like"), equal=equal)
        if own:
            found |= guest_cases.run(kernel, machine, own, folder / f"equal-{equal}", first)
    return found


CASES = {
    **{f"unequal-{level}": Case("0 1 4", level) for level in (0, 1, 2)},
    **{f"bigs-{level}": Case("0 4 5", level) for level in (0, 1)},
    "equal": Case("0 4", 1),
    "full": Case("0 1 2 3 4", 1),
    **{f"overload-{level}": Case("0 0 0 0 0 0", level) for level in (1, 2)},
    **{f"newly-{level}": Case("0 1 2w 4", level) for level in (1, 2)},
    "pull": Case("0 1 2w 4 3m", 1),
    "urgent": Case("0 3f 4 5", 1),
    "throttled": Case("0 4t 5t 6", 1),
    "asym": Case("4 5", asym=1),
    "misfit": Case("0 4", 1, equal=False),
    "no-misfit-0": Case("0 4", 0, misfit=0, equal=False),
    "no-misfit": Case("0 4", 1, misfit=0, equal=False),
    "room": Case("0 1 2 4", 1, misfit=0, equal=False),
    "eas": Case("0 4", 1, misfit=0, equal=False, eas=1),
}


def _on_littles(found: Found) -> int:
    return sum(cpu < 4 for cpu in found.cpus)


def check_off(found: Mapping[str, Found]) -> None:
    """Mainline leaves lone tasks where they are, whatever the clusters hold; nothing counts."""
    assert found["unequal-0"].cpus == [0, 1, 4]
    assert found["bigs-0"].cpus == [0, 4, 5]
    assert found["no-misfit-0"].cpus == [0, 4]
    for name in ("unequal-0", "bigs-0", "no-misfit-0"):
        assert {key: found[name].counted[key] for key in COUNTERS} == dict.fromkeys(COUNTERS, 0)


def check_leader(found: Mapping[str, Found]) -> None:
    """The cluster with the most tasks gets the lone one of the other; of equal ones the first."""
    littles = {name: _on_littles(found[name]) for name in ("unequal-1", "unequal-2", "equal")}
    assert littles == {"unequal-1": 3, "unequal-2": 3, "equal": 2}
    assert _on_littles(found["bigs-1"]) == 0
    assert found["bigs-1"].counted["ps_active"] == 1


def check_room(found: Mapping[str, Found]) -> None:
    """A task per CPU, and no more than is the cluster's part of the capacity: 3 of 8 here."""
    assert found["full"].cpus == [0, 1, 2, 3, 4]
    assert found["room"].cpus == [0, 1, 2, 4]
    for name in ("full", "room"):
        assert found[name].counted["ps_active"] == 0


def check_overload(found: Mapping[str, Found]) -> None:
    """Six tasks that begin on one CPU have one each."""
    for name in ("overload-1", "overload-2"):
        assert len(set(found[name].cpus)) == 6, name


def check_newly(found: Mapping[str, Found]) -> None:
    """At level 2 a CPU that goes idle does it, at level 1 only a periodic pass."""
    for name in ("newly-1", "newly-2"):
        assert _on_littles(found[name]) == 4, name
        assert found[name].counted["ps_active"] > 0
    assert found["newly-1"].counted["ps_active_newly"] == 0
    assert found["newly-2"].counted["ps_active_newly"] > 0


def check_pull(found: Mapping[str, Found]) -> None:
    """Of two tasks on one CPU, a CPU of the leader that goes idle takes the one that waits."""
    assert found["pull"].counted["ps_pull"] > 0


def check_urgent(found: Mapping[str, Found]) -> None:
    """With an RT task the littles have as many as the bigs: else these would lead."""
    assert _on_littles(found["urgent"]) >= 2


def check_throttled(found: Mapping[str, Found]) -> None:
    """Throttled tasks of the bigs are none: else these would lead."""
    assert _on_littles(found["throttled"]) == 2


def check_misfit(found: Mapping[str, Found]) -> None:
    """Misfit tasks go to the bigs, and stay there; without misfit the first cluster leads."""
    assert _on_littles(found["misfit"]) == 0
    assert _on_littles(found["no-misfit"]) == 2


def check_asym(found: Mapping[str, Found]) -> None:
    """Tasks go to the CPUs of the lowest numbers, one by one."""
    assert found["asym"].cpus == [0, 1]


def check_eas(found: Mapping[str, Found]) -> None:
    """Load balance vacates nothing while EAS places tasks."""
    assert {key: found["eas"].counted[key] for key in COUNTERS} == dict.fromkeys(COUNTERS, 0)


CHECKS = (
    *(check_off, check_leader, check_room, check_overload, check_newly, check_pull),
    *(check_urgent, check_throttled, check_misfit, check_asym, check_eas),
)
