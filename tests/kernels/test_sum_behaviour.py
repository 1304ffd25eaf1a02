# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel of uclamp sum aggregation does with caps in their normal uses, in a guest.

Each check has the frequency of one CPU's policy, read every 4 ms, while a few tasks share that CPU.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.kernels.build import KernelArtefact
from eascope.kernels.switches import STATS
from tests.support.guest_mutants import guest_check
from tests.support.releases import kernel_of, of_releases
from tests.support.stress import counters
from tests.support.sum_checks import (
    BIG_KHZ,
    BYSTANDERS,
    FEATURES,
    FILES,
    GROUPS,
    HEADROOM,
    RT_TASKS,
    WAITING,
    Guest,
    group,
    hog,
    within,
)

pytestmark = pytest.mark.guest


@pytest.fixture(scope="module", params=of_releases("sum"))
def sum_kernel(request: pytest.FixtureRequest) -> KernelArtefact:
    """The kernel of each release, built before the first test."""
    return kernel_of(request.param)


@pytest.fixture
def guest(sum_kernel: KernelArtefact, juno: Platform, tmp_path: Path) -> Guest:
    return Guest(sum_kernel.image, juno, tmp_path)


def either(name: str, feature: str, *cases: str) -> list[str]:
    """The check ``name`` with ``feature`` and without it, in each of ``cases``."""
    return [
        f"{name} {switch}{feature} {case}".strip()
        for switch in ("", "NO_")
        for case in cases or [""]
    ]


#: As in tests/kernels/mutants: a check and its arguments.
CHECKS = [
    *("check_background '-n 0' 3", "check_background '-n 10' 1", "check_background '-n 10' 3"),
    *("check_background '-n 19' 1", "check_background '-n 19' 3"),
    *("check_background '-n 19' 1 '-n -10'", "check_background -i 1", "check_background -i 3"),
    *("check_sum 2 400", "check_sum 16 50", "check_sum 32 25"),
    *("check_rt_beside", "check_rt_asleep", "check_rt_leaves_fair"),
    *either("check_rt_sum", "UCLAMP_RT_SUM", *RT_TASKS),
    *either("check_rt_boosts", "UCLAMP_RT_SUM"),
    *("check_capped_contention", "check_hidden_bound", "check_wait_in_eas", "check_lifted"),
    *(f"check_contention {bystander}" for bystander in BYSTANDERS),
    *("check_idle_waiter", "check_waits_for_others"),
    *("check_throttled_boost ''", "check_throttled_boost '-r 500 -p 5000'"),
    *("check_throttled_boost_ends", "check_throttled_io"),
    *("check_throttled alone", "check_throttled nested"),
    *("check_throttled_do_not_wait alone", "check_throttled_do_not_wait nested"),
    *("check_moved_while_throttled", "check_inherited", "check_promised"),
    *(f"check_nested_limit {kind}" for kind in ("bounded", "tightened", "relaxed")),
    *("check_lent", "check_fair_again_after_lending", "check_system_limit"),
    *either("check_boost", "UCLAMP_FITS_TRISTATE"),
    *either("check_hidden", "UCLAMP_OU_UNCLAMPED"),
    *either("check_headroom", "UCLAMP_NO_HEADROOM", *HEADROOM),
    *either("check_fit", "UCLAMP_NO_HEADROOM"),
    *either("check_events", "UCLAMP_NO_HEADROOM"),
    *either("check_uncapped", "UCLAMP_NO_HEADROOM"),
    *("check_reclassed", "check_reclassed_elsewhere cpu", "check_reclassed_elsewhere group"),
    *(f"check_cap_kept {kind}" for kind in ("group", "class", "class-left")),
    *("check_fair_again asleep", "check_fair_again running", "check_limit_at_once"),
    *("check_iowait 100", "check_iowait 1024"),
    *(f"check_wait {case}" for case in WAITING),
    *either("check_busy", "FEEC_BUSY_UNCLAMPED"),
    *either("check_busy_bounded", "FEEC_BUSY_BOUNDED"),
]


@pytest.mark.parametrize("line", CHECKS)
def test_clamps_do_what_is_claimed(
    sum_kernel: KernelArtefact, juno: Platform, tmp_path: Path, line: str
) -> None:
    guest_check("sum", line, checked=True).ask(sum_kernel, juno, tmp_path)


def test_a_cap_takes_effect_on_a_busy_cpu_by_itself(guest: Guest, juno: Platform) -> None:
    """The policy of one CPU, which is never idle: 20 % with headroom are its lowest OPP."""
    little, big = juno.clusters
    clusters = (little, replace(big, cpus=big.cpus[:1]))
    alone = replace(guest, platform=replace(juno, clusters=clusters))
    lines = [
        *group("later"),
        *within("later", hog("busy", 4)),
        "sleep-ms 300",
        f"write {GROUPS}/later/cpu.uclamp.max 20",
        "sleep-ms 100",
    ]
    assert set(alone.khz(lines, cpu=4, ms=200)) == {BIG_KHZ[0]}


def test_a_waking_task_counts_the_same_wherever_it_may_go(guest: Guest) -> None:
    """Where it slept it is judged as elsewhere: with its cap, not with what is left of it."""
    lines = [
        f"write {FEATURES} NO_UTIL_EST",  # which hides it: the estimate does not decay
        "spawn capped /bin/busybox taskset 30 /bin/hog -M 200 -r 40000 -p 60000",
        "sleep-ms 400",
    ]
    event = "eascope:sched_compute_energy"
    lines_traced = guest.traced(lines, event, [], ms=600)
    utils = [
        int(match[1])
        for line in lines_traced
        if (match := re.search(r"comm=hog .*dst_cpu=[45] .*max_util=(\d+)", line))
    ]
    # 200 with headroom, and what else is there.
    assert len(utils) >= 8
    assert min(utils) >= 250


def test_who_waited_while_nobody_looked_does_not_count(guest: Guest) -> None:
    """Switched on, the signal of waiting tasks begins at zero, also for the second time."""
    lines = [
        hog("capped", 4, "-M 100 -n -20"),
        *(hog(f"free{number}", 4) for number in range(3)),
        f"write {FILES}/uclamp_wait 1",
        "sleep-ms 300",
        f"write {FILES}/uclamp_wait 0",
        "sleep-ms 300",
    ]
    event = "eascope:sched_uclamp_cpu"
    lines_traced = guest.traced(lines, event, [f"write {FILES}/uclamp_wait 1"], ms=40)
    waits = [
        int(line.rpartition(" wait=")[2].split()[0]) for line in lines_traced if "cpu=4 " in line
    ]
    # Three tasks that wait are 3072 in the end, 65 in the first millisecond.
    first = next(n for n, wait in enumerate(waits) if wait)
    assert waits[first] < 600
    assert max(waits) > 600


def test_the_first_clamp_under_load(guest: Guest) -> None:
    """Tasks come and go on all CPUs while accounting is switched on: nothing is lost."""
    lines = [
        f"write {FEATURES} UCLAMP_CHECK",
        *(
            f"spawn load{number} /bin/hog -r {100 + 17 * number} -p {1000 + 31 * number}"
            for number in range(12)
        ),
        "sleep-ms 100",
        hog("capped", 4, "-M 100 -m 50 -r 3000 -p 4000"),
        "sleep-ms 100",
        f"collect {STATS} stats.txt",
    ]
    counted = counters(guest.boot(lines).text("stats.txt"))
    assert counted["uclamp_checked"] > 10
    assert not counted["uclamp_broken"]
