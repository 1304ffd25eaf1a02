# SPDX-License-Identifier: GPL-2.0-or-later
"""What each switch of the EAS rework does, asked of a kernel in a guest, and what must be found.

juno-r2's littles have a capacity of 383 and OPPs of 181, 322 and 383; CPUs 4 and 5 are big.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from configs.platform import Platform
from kernels.build import KernelArtefact
from kernels.guest_files import SCHED_DEBUG
from tests.support import guest_cases
from tests.support.boot_switches import FILES_OF
from tests.support.guest_cases import GROUP, Found
from tests.support.kernel_guest import boot
from tests.support.stress import guest_program

FILES = f"{SCHED_DEBUG}/eascope"
DEFAULTS = FILES_OF["feec"]


@dataclass(frozen=True)
class Case:
    """What runs, under which switches.

    :param program: name and arguments of one of the C programs here.
    :param cap: ``cpu.uclamp.max`` of its group.
    """

    program: str
    cap: str = "max"
    switches: Mapping[str, int] | None = None

    @property
    def switch_lines(self) -> list[str]:
        """See `guest_cases.GuestCase`."""
        values = {**DEFAULTS, **(self.switches or {})}
        return [f"write {FILES}/{key} {value}" for key, value in values.items()]


def run(
    kernel: KernelArtefact, platform: Platform, cases: Mapping[str, Case], folder: Path
) -> dict[str, Found]:
    """What a guest finds in each of ``cases``, whose switches are `DEFAULTS` as it boots."""
    untouched = [f"expect {FILES}/{name} {value}" for name, value in DEFAULTS.items()]
    return guest_cases.run(kernel, platform, cases, folder, untouched)


#: A small task wakes up; on the CPUs of 0x7 another one runs, CPU 3 has utilization left.
PLACING = {
    "mainline": Case("placing 10 0 0x7"),
    "number": Case("placing 10 0 0x7", switches={"feec_mode": 1}),
    "no-guard": Case(
        "placing 10 3 0", switches={"feec_mode": 2, "feec_guard_min": 0, "feec_guard_pct": 0}
    ),
    "guard": Case("placing 10 3 0", switches={"feec_mode": 2, "feec_guard_min": 1024}),
    "guard-of-task": Case(
        "placing 10 3 0", switches={"feec_mode": 2, "feec_guard_min": 0, "feec_guard_pct": 4000}
    ),
    "some-guard": Case(
        "placing 10 3 0", switches={"feec_mode": 2, "feec_guard_min": 80, "feec_guard_pct": 0}
    ),
    "own-opp": Case("dearer 10", switches={"feec_mode": 1}),
    "domain-opp": Case("dearer 10", switches={"feec_mode": 1, "feec_pd_opp": 1}),
}


#: Tasks that never sleep, first pinned to a CPU where they should not stay.
ANYWHERE = "0x3f"
PUSHING = {
    "stay": Case(f"stuck 2 4 {ANYWHERE} 200", cap="10"),
    "push": Case(f"stuck 2 4 {ANYWHERE} 200", cap="10", switches={"eas_push": 1, "feec_mode": 1}),
    "tick": Case(f"stuck 1 4 {ANYWHERE} 200", cap="10", switches={"eas_push": 1, "feec_mode": 1}),
    "rate": Case("stuck 1 4 0x30 400", cap="10", switches={"eas_push": 1, "feec_mode": 1}),
    "seldom": Case(
        "stuck 1 4 0x30 400",
        cap="10",
        switches={"eas_push": 1, "feec_mode": 1, "eas_push_min_interval_us": 100_000},
    ),
    "all": Case(
        f"stuck 3 4 {ANYWHERE} 200",
        cap="10",
        switches={
            "eas_push": 1,
            "feec_mode": 1,
            "eas_push_batch": 0,
            "eas_push_min_interval_us": 0,
        },
    ),
    "misfit-stuck-only": Case(f"stuck 1 0 {ANYWHERE} 200", switches={"eas_push": 1}),
    "misfit": Case(f"stuck 1 0 {ANYWHERE} 200", switches={"eas_push": 2}),
    # An hour after its last check, of which there was none, a task may be checked.
    "misfit-balanced": Case(
        f"stuck 1 0 {ANYWHERE} 200",
        switches={"eas_push": 2, "eas_push_min_interval_us": 3_600_000_000},
    ),
    "uncapped": Case("placing 10 0 0x7", switches={"eas_push": 1, "feec_mode": 1}),
    "pinned": Case("stuck 2 4 0x10 200", cap="10", switches={"eas_push": 1, "feec_mode": 1}),
    "overutilized": Case("stuck 2 0 0x3 200", switches={"eas_push": 1, "feec_mode": 1}),
}


#: What load balance and the overutilized mark do with tasks that never sleep.
BALANCING = {
    "no-filter": Case("stuck 2 0 0x1 300", cap="10", switches={"eas_group_filter": 0}),
    "filter": Case("stuck 2 0 0x1 300", cap="10", switches={"eas_group_filter": 1}),
    "auto": Case("stuck 2 0 0x1 300", cap="10"),
    "auto-cost": Case("stuck 2 0 0x1 300", cap="10", switches={"feec_mode": 1}),
    "auto-push": Case("stuck 2 0 0x1 300", cap="10", switches={"eas_push": 1}),
    "late": Case("stuck 1 0 0x1 300", switches={"ou_delay_us": 1_000_000}),
    "in-time": Case("stuck 1 0 0x1 300", switches={"ou_delay_us": 50_000}),
    "at-once": Case("stuck 1 0 0x1 300"),
    # Above the limit twice for less than the delay; the second time begins after more than it.
    "rests": Case("works 4 400 900 2", switches={"ou_delay_us": 1_000_000}),
    "rests-at-once": Case("works 4 400 900 2"),
    "short-rests": Case("works 4 100 3 12", switches={"ou_delay_us": 500_000}),
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


def check_push(pushed: Mapping[str, Found]) -> None:
    """Two capped tasks share a big CPU. One is pushed when the other is switched to."""
    assert [line[0] for line in pushed["stay"].lines] == [4, 4]
    assert pushed["stay"].counted["push_moved"] == 0
    assert sum(line[0] < 4 for line in pushed["push"].lines) == 2
    assert pushed["push"].counted["push_moved"] >= 1


def check_batch(pushed: Mapping[str, Found]) -> None:
    """Without limits of ours all three leave, the last one at a tick, and spread."""
    cpus = [line[0] for line in pushed["all"].lines]
    assert len(set(cpus)) == 3
    assert max(cpus) < 4
    assert pushed["all"].counted["push_moved"] >= 2
    assert pushed["all"].counted["push_ratelimited"] == 0


def check_tick(pushed: Mapping[str, Found]) -> None:
    """One that runs alone is moved by the tick: within two of 4 ms, to a little CPU."""
    ((cpu, left_us),) = pushed["tick"].lines
    assert cpu < 4
    assert 0 < left_us < 8_000
    assert pushed["tick"].counted["tick_moved"] == 1


def check_rate(pushed: Mapping[str, Found]) -> None:
    """The default interval is shorter than a tick, so that each tick may look; a long one limits.

    With the interval of a tick, chance decides which ticks look.
    """
    each = pushed["rate"].counted
    assert each["push_ratelimited"] == 0
    assert each["tick_check"] > 90
    seldom = pushed["seldom"].counted
    assert seldom["push_ratelimited"] > 80
    assert 3 <= seldom["tick_check"] <= 8


def check_misfit(pushed: Mapping[str, Found]) -> None:
    """One too big for its CPU is pushed with ``eas_push`` = 2, else left to load balance."""
    assert pushed["misfit"].lines[0][0] >= 4
    assert pushed["misfit"].counted["misfit_push"] == 1
    assert pushed["misfit"].lines[0][1] < pushed["misfit-stuck-only"].lines[0][1]
    alone = pushed["misfit-stuck-only"].counted
    assert alone["misfit_push"] == alone["tick_moved"] == 0
    assert alone["lb_active"] == 1
    # Load balance counts the misfits that it moves, where push could have moved them.
    assert pushed["misfit"].counted["misfit_lb"] == alone["misfit_lb"] == 0
    assert pushed["misfit-balanced"].counted["misfit_push"] == 0
    assert pushed["misfit-balanced"].counted["misfit_lb"] == 1


def check_uncapped(pushed: Mapping[str, Found]) -> None:
    """Tasks that sleep and get what they want are not looked at."""
    counted = pushed["uncapped"].counted
    assert counted["feec_called"] > 0
    assert counted["push_check"] == counted["tick_check"] == 0


def check_pinned(pushed: Mapping[str, Found]) -> None:
    """A task that may use one CPU alone is not looked at, but for when it was not pinned yet."""
    assert pushed["pinned"].cpus == [4, 4]
    assert pushed["pinned"].counted["push_check"] < 5
    assert pushed["pinned"].counted["tick_check"] < 5


def check_overutilized(pushed: Mapping[str, Found]) -> None:
    """Two tasks that want more than a little has: load balance moves one of them, not push."""
    assert pushed["overutilized"].cpus == [0, 1]
    assert pushed["overutilized"].counted["overutilized_set"] > 0
    assert pushed["overutilized"].counted["push_moved"] == 0
    assert pushed["overutilized"].counted["tick_moved"] == 0


def check_auto_filter(balanced: Mapping[str, Found], *, mainline: bool) -> None:
    """The filter is on with placement by cost and with push; alone it is as in mainline."""
    assert (balanced["auto"].counted["lb_group_filtered"] > 10) == mainline
    assert balanced["auto-cost"].counted["lb_group_filtered"] > 10
    assert balanced["auto-push"].counted["lb_group_filtered"] > 10


def check_filter(balanced: Mapping[str, Found]) -> None:
    """Capped tasks fill their CPU but do not overutilize it: their group is not overloaded."""
    assert balanced["no-filter"].counted["lb_group_filtered"] == 0
    assert balanced["filter"].counted["lb_group_filtered"] > 10


def check_delay(balanced: Mapping[str, Found]) -> None:
    """A CPU that is overutilized for 400 ms makes the system so after ``ou_delay_us``."""
    assert balanced["at-once"].counted["overutilized_set"] == 1
    assert balanced["in-time"].counted["overutilized_set"] == 1
    assert balanced["late"].counted["overutilized_set"] == 0


def check_delay_after_rest(balanced: Mapping[str, Found]) -> None:
    """A rest in which utilization falls below the limit begins the time anew; a short one not."""
    assert balanced["rests-at-once"].counted["overutilized_set"] >= 2
    assert balanced["rests"].counted["overutilized_set"] == 0
    assert balanced["short-rests"].counted["overutilized_set"] >= 1


WOKEN = re.compile(r" (\d+\.\d+): sched_wakeup: comm=works .*target_cpu=004")
ASKED = re.compile(r" (\d+\.\d+): sched_cpufreq_req: cpu=4 ")


def check_asks_after_rest(feec: KernelArtefact, platform: Platform, folder: Path) -> None:
    """A task that wakes up after a rest asks for a frequency, whatever the delay has looked at."""
    lines = [
        f"write {GROUP}/cpu.uclamp.max max",
        f"write {FILES}/ou_delay_us 1000000",
        "trace",
        "spawn works /bin/works 4 300 303 4",
        "wait works 20000",
    ]
    text = traced(feec, platform, folder, "sched:sched_wakeup eascope:sched_cpufreq_req", lines)
    woken = [float(time) for time in WOKEN.findall(text)]
    asked = [float(time) for time in ASKED.findall(text)]
    assert len(woken) >= 3
    # A tick, which asks as well, is up to 4 ms later.
    late = [time for time in woken if min(abs(time - other) for other in asked) > 0.0003]
    assert not late, late


TRACING = "/sys/kernel/tracing"
PUSHED = re.compile(
    r" sched_eas_push: comm=stuck pid=\d+ reason=(\w+) src=(\d) dst=(\d) path=(\w+) "
    r"util=\d+ runnable=(\d+) uclamp_max=(\d+) moved=(\d)"
)
DECIDED = re.compile(r" sched_feec_decision: comm=stuck .*path=(\w+)")


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
    done = boot(
        kernel.image,
        platform,
        script,
        folder / "out",
        arguments="loglevel=5 panic_on_warn=1",
        programs={name: guest_program(name, folder) for name in programs},
    )
    return done.text("trace.txt")


def check_events(feec: KernelArtefact, platform: Platform, folder: Path) -> None:
    """Each push says who is moved, why, from where to where and by which path.

    Two capped tasks share a big CPU: one waits and is pushed at a switch, the other at the tick.
    Then a task that does not fit a little CPU is freed there.
    """
    lines = [
        f"write {FILES}/feec_mode 1",
        f"write {FILES}/eas_push 2",
        "trace",
        f"spawn capped /bin/stuck 2 4 {ANYWHERE} 100",
        "wait capped 20000",
        f"write {GROUP}/cpu.uclamp.max max",
        f"spawn misfit /bin/stuck 1 0 {ANYWHERE} 100",
        "wait misfit 20000",
    ]
    shown = "eascope:sched_eas_push eascope:sched_feec_decision"
    text = traced(feec, platform, folder, shown, lines)
    events = PUSHED.findall(text)
    stuck = [event for event in events if event[:2] == ("stuck", "4")]
    assert {path for _, _, _, path, *_ in stuck} == {"push", "tick"}
    for _, _, dst, _, runnable, cap, moved in stuck:
        assert int(dst) < 4
        assert int(runnable) > int(cap) == 102
        assert moved == "1"
    misfit = [event for event in events if event[0] == "misfit" and event[1] == "0"]
    assert misfit
    assert all(int(dst) >= 4 for _, _, dst, *_ in misfit)
    assert set(DECIDED.findall(text)) >= {"push", "tick"}


ENERGY = re.compile(r" sched_compute_energy: comm=deadline .*dst_cpu=(-?\d+) .*max_util=(\d+)")


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
    lines = [push, "trace", "spawn deadline /bin/deadline 60", "wait deadline 20000"]
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
