# SPDX-License-Identifier: GPL-2.0-or-later
"""Sums of clamps together with what places tasks again that never sleep, in a guest."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.kernels.defaults import FILES_OF
from eascope.kernels.naming import variant_named
from eascope.kernels.switches import FEATURES
from tests.support import feec_push_checks, guest_cases, push_checks
from tests.support.releases import booted, kernel_of
from tests.support.sum_checks import (
    Guest,
    check_rt_asleep,
    check_rt_beside,
    check_rt_leaves_fair,
    check_sum,
)
from tests.support.sum_eas_checks import TOGETHER, check_fifty, run_fifty

pytestmark = pytest.mark.guest

#: As in all variants of sums: by the time that it runs, a capped task costs nothing where another
#: one keeps the CPU busy, and stays.
BY_CLAMPS = [f"write {FEATURES} NO_FEEC_BUSY_UNCLAMPED"]
BOTH = [booted(kernel, kernel) for kernel in TOGETHER]


@pytest.fixture
def guest(kernel: str, juno: Platform, tmp_path: Path) -> Guest:
    """The guest with both halves switched on."""
    switches = variant_named(TOGETHER[kernel][0])[1].switches
    return Guest(kernel_of(kernel).image, juno, tmp_path, switches=switches)


@pytest.mark.parametrize("kernel", BOTH)
def test_fifty_capped_tasks_leave_the_big_cpus(juno: Platform, tmp_path: Path, kernel: str) -> None:
    check_fifty(run_fifty(kernel_of(kernel), juno, tmp_path))


@pytest.mark.parametrize("kernel", BOTH)
@pytest.mark.parametrize(
    "check",
    [check_rt_beside, check_rt_asleep, check_rt_leaves_fair],
    ids=lambda check: check.__name__,
)
def test_caps_of_rt_tasks_hold_beside_fair_ones(
    guest: Guest, check: Callable[[Guest], None]
) -> None:
    check(guest)


@pytest.mark.parametrize("kernel", BOTH)
def test_caps_add_up(guest: Guest) -> None:
    check_sum(guest, 16, 50)


@pytest.mark.kernels("sum-feec")
def test_who_is_placed_by_cost_counts_once(juno: Platform, tmp_path: Path) -> None:
    cases = {
        name: replace(feec_push_checks.PUSHING[name], defaults=FILES_OF["sum-feec"])
        for name in ("stay", "push", "tick", "rate")
    }
    pushed = guest_cases.run(kernel_of("sum-feec"), juno, cases, tmp_path, BY_CLAMPS)
    feec_push_checks.check_push(pushed)
    feec_push_checks.check_tick(pushed)
    feec_push_checks.check_stays(pushed)


@pytest.mark.long
@pytest.mark.kernels("sum-push@7.3")
def test_who_is_pushed_counts_once(juno: Platform, tmp_path: Path) -> None:
    cases = {name: push_checks.CASES[name] for name in ("off", "waiting", "alone")}
    pushed = guest_cases.run(kernel_of("sum-push@7.3"), juno, cases, tmp_path, BY_CLAMPS)
    push_checks.check_off(pushed)
    push_checks.check_waiting(pushed)
    push_checks.check_alone(pushed)
