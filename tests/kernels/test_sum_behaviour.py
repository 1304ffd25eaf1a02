# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel of uclamp sum aggregation does with caps in their normal uses, in a guest.

Each test has the frequency of one CPU's policy, read every 4 ms, while a few tasks share that CPU.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.kernels.build import KernelArtefact
from eascope.kernels.switches import STATS
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
    check_background,
    check_boost,
    check_busy,
    check_cap_kept,
    check_capped_contention,
    check_contention,
    check_events,
    check_fair_again,
    check_fit,
    check_headroom,
    check_hidden,
    check_hidden_bound,
    check_idle_waiter,
    check_iowait,
    check_limit_at_once,
    check_reclassed,
    check_reclassed_elsewhere,
    check_rt_asleep,
    check_rt_beside,
    check_rt_boosts,
    check_rt_leaves_fair,
    check_rt_sum,
    check_sum,
    check_system_limit,
    check_uncapped,
    check_wait,
    check_wait_in_eas,
    check_waits_for_others,
    group,
    hog,
    within,
)
from tests.support.sum_group_checks import (
    check_fair_again_after_lending,
    check_inherited,
    check_lent,
    check_lifted,
    check_moved_while_throttled,
    check_nested_limit,
    check_promised,
    check_throttled,
    check_throttled_boost,
    check_throttled_boost_ends,
    check_throttled_do_not_wait,
    check_throttled_io,
)

pytestmark = pytest.mark.guest


@pytest.fixture(scope="module", params=of_releases("sum"))
def sum_kernel(request: pytest.FixtureRequest) -> KernelArtefact:
    """The kernel of each release, built before the first test."""
    return kernel_of(request.param)


@pytest.fixture
def guest(sum_kernel: KernelArtefact, juno: Platform, tmp_path: Path) -> Guest:
    return Guest(sum_kernel.image, juno, tmp_path)


#: How the capped task runs, how many others there are, and how those run. At nice 0 with one other
#: it gets half: 512 and 200 ask for 890, where one OPP ends and the next begins.
BACKGROUND = [
    *(("-n 0", 3, "-n 0"), ("-n 10", 1, "-n 0"), ("-n 10", 3, "-n 0")),
    *(("-n 19", 1, "-n 0"), ("-n 19", 3, "-n 0"), ("-n 19", 1, "-n -10")),
    *(("-i", 1, "-n 0"), ("-i", 3, "-n 0")),
]


@pytest.mark.parametrize(("options", "others", "theirs"), BACKGROUND)
def test_a_waiting_capped_task_takes_nothing(
    guest: Guest, options: str, others: int, theirs: str
) -> None:
    """Whatever weights say."""
    check_background(guest, options, others)


@pytest.mark.parametrize(("number", "cap"), [(2, 400), (16, 50), (32, 25)])
def test_caps_add_up_however_many_they_are(guest: Guest, number: int, cap: int) -> None:
    check_sum(guest, number, cap)


def test_an_rt_tasks_cap_bounds_its_own_part(guest: Guest) -> None:
    check_rt_beside(guest)


def test_an_rt_tasks_cap_holds_while_it_sleeps(guest: Guest) -> None:
    check_rt_asleep(guest)


def test_an_rt_tasks_cap_is_not_a_fair_tasks(guest: Guest) -> None:
    check_rt_leaves_fair(guest)


@pytest.mark.parametrize("case", RT_TASKS)
@pytest.mark.parametrize("feature", ["UCLAMP_RT_SUM", "NO_UCLAMP_RT_SUM"])
def test_caps_of_rt_tasks_may_add_up(guest: Guest, feature: str, case: str) -> None:
    check_rt_sum(guest, feature, case)


@pytest.mark.parametrize("feature", ["UCLAMP_RT_SUM", "NO_UCLAMP_RT_SUM"])
def test_boosts_of_rt_tasks_may_add_up(guest: Guest, feature: str) -> None:
    check_rt_boosts(guest, feature)


def test_a_capped_task_that_waits_asks_for_no_more_than_its_cap(guest: Guest) -> None:
    check_capped_contention(guest)


def test_no_more_is_given_back_than_caps_took(guest: Guest) -> None:
    check_hidden_bound(guest)


def test_eas_knows_what_is_given_back(guest: Guest) -> None:
    check_wait_in_eas(guest)


def test_a_cap_holds_when_its_group_is_not_limited_any_more(guest: Guest) -> None:
    check_lifted(guest)


@pytest.mark.parametrize("bystander", BYSTANDERS)
def test_contention_counts_beside_capped_tasks(guest: Guest, bystander: str) -> None:
    check_contention(guest, bystander)


def test_who_gets_no_time_is_given_nothing_back(guest: Guest) -> None:
    check_idle_waiter(guest)


def test_who_waits_for_uncapped_tasks_is_given_nothing_back(guest: Guest) -> None:
    check_waits_for_others(guest)


@pytest.mark.parametrize("options", ["", "-r 500 -p 5000"], ids=["awake", "waking"])
def test_throttled_boosts_do_not_count(guest: Guest, options: str) -> None:
    check_throttled_boost(guest, options)


def test_throttled_boosts_do_not_end_eas(guest: Guest) -> None:
    check_throttled_boost_ends(guest)


def test_throttled_tasks_do_not_lift_the_bound_of_io(guest: Guest) -> None:
    check_throttled_io(guest)


@pytest.mark.parametrize("kind", ["alone", "nested"])
def test_a_throttled_group_takes_nothing(guest: Guest, kind: str) -> None:
    check_throttled(guest, kind)


@pytest.mark.parametrize("kind", ["alone", "nested"])
def test_throttled_tasks_do_not_wait(guest: Guest, kind: str) -> None:
    check_throttled_do_not_wait(guest, kind)


def test_who_comes_to_a_throttled_group_takes_nothing(guest: Guest) -> None:
    check_moved_while_throttled(guest)


def test_what_a_group_leaves_goes_to_its_parent(guest: Guest) -> None:
    check_inherited(guest)


def test_a_boost_is_kept_for_who_waits(guest: Guest) -> None:
    check_promised(guest)


@pytest.mark.parametrize("kind", ["bounded", "tightened", "relaxed"])
def test_limits_of_groups_bound_those_below(guest: Guest, kind: str) -> None:
    check_nested_limit(guest, kind)


def test_a_task_that_inherits_a_priority_keeps_its_cap(guest: Guest) -> None:
    check_lent(guest)


def test_a_cap_comes_back_from_an_inherited_priority(guest: Guest) -> None:
    check_fair_again_after_lending(guest)


def test_a_limit_of_the_system_reaches_tasks_in_groups(guest: Guest) -> None:
    """It bounds what each task requested, though its group allows more."""
    check_system_limit(guest)


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


@pytest.mark.parametrize("feature", ["UCLAMP_FITS_TRISTATE", "NO_UCLAMP_FITS_TRISTATE"])
def test_a_boost_that_cannot_be_had(guest: Guest, feature: str) -> None:
    check_boost(guest, feature)


@pytest.mark.parametrize("feature", ["UCLAMP_OU_UNCLAMPED", "NO_UCLAMP_OU_UNCLAMPED"])
def test_what_a_cap_hides_may_mean_overutilized(guest: Guest, feature: str) -> None:
    check_hidden(guest, feature)


@pytest.mark.parametrize("case", HEADROOM)
@pytest.mark.parametrize("feature", ["UCLAMP_NO_HEADROOM", "NO_UCLAMP_NO_HEADROOM"])
def test_a_clamp_may_have_no_headroom(guest: Guest, feature: str, case: str) -> None:
    check_headroom(guest, feature, case)


@pytest.mark.parametrize("feature", ["UCLAMP_NO_HEADROOM", "NO_UCLAMP_NO_HEADROOM"])
def test_what_fits_without_headroom(guest: Guest, feature: str) -> None:
    check_fit(guest, feature)


@pytest.mark.parametrize("feature", ["UCLAMP_NO_HEADROOM", "NO_UCLAMP_NO_HEADROOM"])
def test_events_of_tasks_and_cpus_add_up(guest: Guest, feature: str) -> None:
    check_events(guest, feature)


@pytest.mark.parametrize("feature", ["UCLAMP_NO_HEADROOM", "NO_UCLAMP_NO_HEADROOM"])
def test_no_cap_is_none(guest: Guest, feature: str) -> None:
    check_uncapped(guest, feature)


def test_what_slept_in_another_class_is_forgotten(guest: Guest) -> None:
    check_reclassed(guest)


@pytest.mark.parametrize("kind", ["cpu", "group"])
def test_what_moved_in_another_class_is_forgotten(guest: Guest, kind: str) -> None:
    check_reclassed_elsewhere(guest, kind)


@pytest.mark.parametrize("kind", ["group", "class", "class-left"])
def test_a_cap_leaves_with_what_it_caps(guest: Guest, kind: str) -> None:
    check_cap_kept(guest, kind)


@pytest.mark.parametrize("kind", ["asleep", "running"])
def test_a_cap_comes_with_what_it_caps(guest: Guest, kind: str) -> None:
    check_fair_again(guest, kind)


def test_a_limit_of_the_system_is_asked_for_once(guest: Guest) -> None:
    check_limit_at_once(guest)


@pytest.mark.parametrize("cap", [100, 1024])
def test_a_cap_bounds_the_boost_for_io(guest: Guest, cap: int) -> None:
    check_iowait(guest, cap)


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


@pytest.mark.parametrize("case", WAITING)
def test_what_caps_took_is_given_back_to_who_waits(guest: Guest, case: str) -> None:
    check_wait(guest, case)


@pytest.mark.parametrize("feature", ["FEEC_BUSY_UNCLAMPED", "NO_FEEC_BUSY_UNCLAMPED"])
def test_a_capped_task_is_billed_for_its_cap_or_its_time(guest: Guest, feature: str) -> None:
    check_busy(guest, feature)
