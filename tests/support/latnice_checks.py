# SPDX-License-Identifier: GPL-2.0-or-later
"""What each use of latency_nice does, asked of a kernel in a guest, and what must be found.

juno-r2's littles are the CPUs 0 to 3; 4 and 5 are big.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eascope.configs.knobs import TOLD
from eascope.configs.platform import Platform
from eascope.experiments.controls import Controls
from eascope.kernels.build import KernelArtefact
from eascope.kernels.defaults import FILES_OF
from eascope.kernels.switches import SCHED_DEBUG
from tests.support import guest_cases
from tests.support.guest_cases import GROUP, Found
from tests.support.stress import checked

FILES = f"{SCHED_DEBUG}/eascope"
DEFAULTS = FILES_OF["latnice"]
#: Counters of the uses; while all are off, none counts. `sis_scanned` is of mainline's search.
COUNTERS = (
    *("latnice_skip", "latnice_short", "latnice_idle", "latnice_idle_none"),
    *("pack_hit", "pack_miss", "pack_lb_refused", "idle_gated", "idle_polled"),
)


@dataclass(frozen=True)
class Case:
    """What runs, under which switches.

    :param program: name and arguments of one of the C programs here.
    :param group: ``cpu.latency.nice`` of its group.
    :param energy_aware: whether EAS is on.
    :param delay_dequeue: whether a task may stay queued while it sleeps; its wake-up then has no
        placement.
    :param sis_util: whether mainline regulates the search by load; 7.3 does so on juno-r2, too.
    """

    program: str
    switches: Mapping[str, str] | None = None
    group: str = "inherit"
    energy_aware: bool = True
    delay_dequeue: bool = True
    sis_util: bool = True
    cap: str = "max"

    @property
    def switch_lines(self) -> list[str]:
        """See `guest_cases.GuestCase`."""
        values = {**DEFAULTS, **(self.switches or {})}
        features = {"DELAY_DEQUEUE": self.delay_dequeue, "SIS_UTIL": self.sis_util}
        nice, eas = f"cpu.latency.nice {self.group}", self.energy_aware
        return guest_cases.written(values, nice, energy_aware=eas, **features)


def run(
    kernel: KernelArtefact, platform: Platform, cases: Mapping[str, Case], folder: Path
) -> dict[str, Found]:
    """What a guest finds in each of ``cases``, whose switches are `DEFAULTS` as it boots.

    CPUs take as long to wake up as the kernel is told, so that a deep state shows in a delay.
    """
    told = Controls(idle_exit=TOLD).of_platform(platform)
    untouched = [f"expect {FILES}/{name} {value}" for name, value in DEFAULTS.items()]
    return guest_cases.run(kernel, told, cases, folder, untouched)


def answer(kernel: KernelArtefact, platform: Platform, folder: Path, *lines: str) -> str:
    """What the program of the last of ``lines``, ``NAME ARGUMENT``, prints in a guest."""
    *first, last = lines
    name = last.split()[0]
    script = [
        "write /sys/fs/cgroup/cgroup.subtree_control +cpu",
        f"mkdir {GROUP}",
        *first,
        f"spawn {name} /bin/{last}",
        f"wait {name} 60000",
        f"collect /tmp/{name}.log {name}.log",
    ]
    done = checked(kernel.image, platform, script, folder, name)
    return done.text(f"{name}.log")


def check_answers(kernel: KernelArtefact, platform: Platform, folder: Path) -> None:
    """Sizes, ranges, what is kept, privileges, forks, threads, groups: see `latnice_abi.c`."""
    assert answer(kernel, platform, folder, "latnice_abi") == "all answers are right\n"


def _searching(nice: int, search: str, *, energy_aware: bool = False) -> Case:
    return Case(
        f"searching 40 {nice}",
        {"latnice_search": search},
        energy_aware=energy_aware,
        delay_dequeue=False,
        sis_util=False,
    )


_IDLE = {"latnice_prefer_idle": "on"}
_PLACING = "/bin/placing 10 0 0x7"
#: Only CPU 0 is idle, the last where a search looks that begins at CPU 1.
_LAST_IDLE = "/bin/placing 10 1 0xe"


def _idles(nice: int, idle: str, hold_ms: int | None = None) -> Case:
    switches = {"latnice_idle": idle}
    if hold_ms is not None:
        switches["latnice_idle_hold_ms"] = str(hold_ms)
    return Case(f"idles 3 25 {nice}", switches)


CASES = {
    "search-off": _searching(-20, "off"),
    "search-patient": _searching(0, "skip"),
    "search-skip": _searching(-1, "skip"),
    "search-short": _searching(-20, "proportional"),
    "search-half": _searching(-10, "proportional"),
    "idle-off": Case(f"latnice -20 {_PLACING}"),
    "idle-zero": Case(f"latnice 0 {_PLACING}", _IDLE),
    "idle-own": Case(f"latnice -1 {_PLACING}", _IDLE),
    "idle-group": Case("placing 10 0 0x7", _IDLE, group="-1"),
    "idle-group-overruled": Case(f"latnice 0 {_PLACING}", _IDLE, group="-1"),
    "idle-first-off": Case(f"latnice -1 {_LAST_IDLE}"),
    "idle-first": Case(f"latnice -1 {_LAST_IDLE}", _IDLE),
    "pack-off": Case("packed 8 19"),
    "pack-less": Case("packed 8 15", {"latnice_pack": "16"}),
    "pack": Case("packed 8 16", {"latnice_pack": "16"}),
    "gate-off": _idles(-20, "off"),
    "gate-zero": _idles(0, "shallow"),
    "gate": _idles(-1, "shallow"),
    "gate-never": _idles(-1, "shallow", 0),
    "gate-aged": _idles(-1, "shallow", 10),
    "poll": _idles(-1, "poll"),
    "poll-aged": _idles(-1, "poll", 10),
}


def check_off(found: Mapping[str, Found]) -> None:
    """Without a switch nothing counts, whatever the tasks say; nor without a task that says so."""
    for name in ("search-off", "idle-off", "pack-off", "gate-off"):
        assert {key: found[name].counted[key] for key in COUNTERS} == dict.fromkeys(COUNTERS, 0)
    for name in ("search-patient", "idle-zero", "pack-less", "gate-zero"):
        assert {key: found[name].counted[key] for key in COUNTERS} == dict.fromkeys(COUNTERS, 0)


def check_search(found: Mapping[str, Found]) -> None:
    """Mainline finds the idle CPU 3; who skips the search stays where it is, or with its waker."""
    for name in ("search-off", "search-patient"):
        (cpus,) = found[name].lines
        assert cpus[3] >= 35, name
    for name in ("search-skip", "search-short"):
        (cpus,) = found[name].lines
        assert cpus[3] <= 5, name
    assert found["search-skip"].counted["latnice_skip"] >= 35
    assert found["search-skip"].counted["latnice_short"] == 0
    scanned = {name: found[name].counted["sis_scanned"] for name in CASES if "search" in name}
    assert scanned["search-skip"] < scanned["search-off"] / 2
    # At least as many searches as rounds, each of one CPU of four, or of two.
    assert found["search-short"].counted["latnice_short"] >= 35
    assert scanned["search-short"] < scanned["search-half"] < scanned["search-off"]


def check_prefer_idle(found: Mapping[str, Found]) -> None:
    """EAS stacks the task on CPU 0; with its own value or its group's it takes the idle 3."""
    for name in ("idle-off", "idle-zero", "idle-group-overruled"):
        assert found[name].lines[0][0] >= 9, name
    for name in ("idle-own", "idle-group"):
        assert found[name].lines[0][3] >= 9, name
        assert found[name].counted["latnice_idle"] >= 10
    # Whichever CPU that is, though EAS leaves it with a busy one.
    assert found["idle-first-off"].lines[0][1] >= 9
    assert found["idle-first"].lines[0][0] >= 9
    # Before the program has a value of its own, it has the group's.
    assert found["idle-group-overruled"].counted["latnice_idle"] < 10


def check_pack(found: Mapping[str, Found]) -> None:
    """Small tasks with patience gather on one little; the same with less patience do not."""
    for name in ("pack-off", "pack-less"):
        ((used, _, _),) = found[name].lines
        assert used >= 3, name
    ((used, woken, bigs),) = found["pack"].lines
    assert (used, bigs) == (1, 0)
    assert found["pack"].counted["pack_hit"] >= woken
    # Forks have a large utilization at first.
    assert found["pack"].counted["pack_miss"] < 10


def check_gate(found: Mapping[str, Found]) -> None:
    """The task's CPU enters no deep state while the task counts, so it wakes up sooner."""
    late = {}
    for name in CASES:
        if "gate" in name or "poll" in name:
            ((_, _, late[name]),) = found[name].lines
    for name in ("gate-off", "gate-zero", "gate-never"):
        ((_, deeper, _),) = found[name].lines
        assert deeper >= 20, name
        assert found[name].counted["idle_gated"] == 0
        assert late[name] > 500
    # 25 sleeps of ten ticks each: for ever, the tick stops; else it goes on for 10 ms.
    ((first, deeper, _),) = found["gate"].lines
    assert 25 <= first < 2 * 25
    assert deeper == 0
    assert found["gate"].counted["idle_gated"] >= 25
    assert late["gate"] < 200
    # It counts for 10 of 40 ms: after that the tick chooses again.
    ((first, deeper, _),) = found["gate-aged"].lines
    assert first >= 2 * 25
    assert deeper >= 20
    assert late["gate-aged"] > 500


def check_poll(found: Mapping[str, Found]) -> None:
    """No state at all is entered, and the task wakes up soonest; later it goes to sleep."""
    ((first, deeper, late),) = found["poll"].lines
    assert (first, deeper) == (0, 0)
    assert late <= found["gate"].lines[0][2]
    assert found["poll"].counted["idle_polled"] >= 25
    assert found["poll"].counted["idle_gated"] == 0
    ((_, deeper, late),) = found["poll-aged"].lines
    assert deeper >= 20
    assert late > 500
