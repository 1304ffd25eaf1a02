# SPDX-License-Identifier: GPL-2.0-or-later
"""What the rework's push does, asked of a kernel in a guest, and what must be found.

juno-r2's CPUs 0 to 3 are little, 4 and 5 are big; a tick is 4 ms.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from eascope.configs.platform import Platform
from eascope.kernels.build import KernelArtefact
from tests.support.feec_checks import FILES, Case, traced
from tests.support.guest_cases import GROUP, Found

#: Tasks that never sleep, first pinned to a CPU where they should not stay.
ANYWHERE = "0x3f"
#: Push, where no fork overutilizes the system: 7.3 may keep the mark until the case is over.
CALM = {"eas_push": 1, "feec_mode": 1, "ou_delay_us": 1_000_000}
PUSHING = {
    "stay": Case(f"stuck 2 4 {ANYWHERE} 200", cap="10"),
    "push": Case(f"stuck 2 4 {ANYWHERE} 200", cap="10", switches={"eas_push": 1, "feec_mode": 1}),
    "tick": Case(f"stuck 1 4 {ANYWHERE} 200", cap="10", switches={"eas_push": 1, "feec_mode": 1}),
    "rate": Case("stuck 1 4 0x30 400", cap="10", switches=CALM),
    "seldom": Case(
        "stuck 1 4 0x30 400", cap="10", switches={**CALM, "eas_push_min_interval_us": 100_000}
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
    "without-eas": Case(f"stuck 1 0 {ANYWHERE} 200", switches={"eas_push": 2}, energy_aware=False),
    "crowd": Case("stuck 4 4 0x30 400", cap="10", switches=CALM),
    "naps": Case("naps 1 0x30 600 1000 0x30", cap="10", switches=CALM),
    "preempted": Case(
        "preempted 4 5 400", cap="10", switches={**CALM, "eas_push_min_interval_us": 0}
    ),
    "grows": Case("grows 0 200", switches={"eas_push": 2}),
    "largest": Case("stuck 1 4 0x30 300", switches={"eas_push": 2}),
    "throttled": Case(
        "stuck 1 4 0x30 1000 0 0 0x30",
        cap="10",
        bandwidth="30000 100000",
        switches={**CALM, "eas_push_min_interval_us": 0},
    ),
}


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


def check_stays(pushed: Mapping[str, Found]) -> None:
    """One that runs alone does not count itself: an idle CPU of the same cost is no better."""
    assert pushed["rate"].counted["tick_check"] > 90
    # A task of the kernel may make it move.
    assert pushed["rate"].counted["tick_moved"] < 5


def check_crowd(pushed: Mapping[str, Found]) -> None:
    """Two on each CPU: those that wait are looked at, at a switch. The tick looks at neither."""
    counted = pushed["crowd"].counted
    assert counted["push_check"] > 50
    assert counted["tick_check"] < 0.1 * counted["push_check"]


def check_naps(pushed: Mapping[str, Found]) -> None:
    """One that falls asleep before its slice is over is not looked at, even with negative lag."""
    counted = pushed["naps"].counted
    assert counted["ttwu_delayed"] > 20
    # Its slice may begin in one run and end in another.
    assert counted["push_check"] < 0.3 * counted["ttwu_delayed"]


def check_preempted(pushed: Mapping[str, Found]) -> None:
    """One that goes on after a real-time task has not waited for a fair one: the tick looks."""
    counted = pushed["preempted"].counted
    assert counted["tick_check"] > 50
    # It waits for tasks of the kernel, too.
    assert counted["push_check"] < 5


def check_grows(pushed: Mapping[str, Found]) -> None:
    """The tick that finds a misfit moves it, and does not call its CPU overutilized."""
    ((cpu, overutilized),) = pushed["grows"].lines
    assert cpu >= 4
    assert pushed["grows"].counted["misfit_push"] >= 1
    assert overutilized == 0


def check_largest(pushed: Mapping[str, Found]) -> None:
    """One that fits no CPU is no misfit on the largest: there is none to go to."""
    counted = pushed["largest"].counted
    assert counted["overutilized_set"] > 0
    assert counted["push_check"] + counted["tick_check"] < 10


def check_throttled(pushed: Mapping[str, Found]) -> None:
    """One whose group is throttled is not asked for: a move would be refused, each 100 ms anew.

    While it has bandwidth, it is moved when another one wakes up on its CPU.
    """
    counted = pushed["throttled"].counted
    assert counted["push_moved"] > 10
    assert counted["push_failed"] < 3


def check_without_eas(pushed: Mapping[str, Found]) -> None:
    """Without EAS nobody is looked at."""
    counted = pushed["without-eas"].counted
    assert counted["feec_called"] == 0
    assert counted["push_check"] == counted["tick_check"] == 0


def check_rate(pushed: Mapping[str, Found]) -> None:
    """The default interval is shorter than a tick, so that each tick may look; a long one limits.

    With the interval of a tick, chance decides which ticks look.
    """
    item = pushed["rate"].counted
    # A task of the kernel may preempt it soon after a tick.
    assert item["push_ratelimited"] < 5
    assert item["tick_check"] > 90
    seldom = pushed["seldom"].counted
    assert seldom["push_ratelimited"] > 80
    assert 3 <= seldom["tick_check"] <= 8


def check_misfit(pushed: Mapping[str, Found]) -> None:
    """One too big for its CPU is pushed with ``eas_push`` = 2, else left to load balance."""
    assert pushed["misfit"].lines[0][0] >= 4
    assert pushed["misfit"].counted["misfit_push"] == 1
    # Push waits for the next tick, 4 ms at most. Load balance took 2.6 to 6 ms, by chance.
    assert pushed["misfit"].lines[0][1] < 5000
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
    # There is nowhere to go for them, so looks alone say whether push stands back.
    assert pushed["overutilized"].counted["push_check"] < 5
    assert pushed["overutilized"].counted["tick_check"] < 5


PUSHED = re.compile(
    r" sched_eas_push: comm=stuck pid=\d+ reason=(\w+) src=(\d) dst=(\d) path=(\w+) "
    r"util=\d+ runnable=(\d+) uclamp_max=(\d+) moved=(\d)"
)
DECIDED = re.compile(r" sched_feec_decision: comm=stuck .*path=(\w+)")


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


ENERGY = re.compile(r" sched_compute_energy: comm=stuck .*dst_cpu=-1 .*max_util=(\d+)")


def check_clamps_leave(feec: KernelArtefact, platform: Platform, folder: Path) -> None:
    """The boost of a task that is alone on its CPU is not asked for without the task."""
    lines = [
        f"write {GROUP}/cpu.uclamp.max 60",
        f"write {GROUP}/cpu.uclamp.min 60",
        f"write {FILES}/eas_push 1",
        "trace",
        "spawn boosted /bin/stuck 1 4 0x30 200",
        "wait boosted 20000",
    ]
    text = traced(feec, platform, folder, "eascope:sched_compute_energy", lines)
    utils = [int(util) for util in ENERGY.findall(text)]
    assert len(utils) > 20, text[-2000:]
    # Another task may run for a moment.
    assert sum(util > 500 for util in utils) < 0.1 * len(utils), utils
