# SPDX-License-Identifier: GPL-2.0-or-later
"""What the queue ``base`` changes in load balance, utilization and clamps, seen in a guest."""

from __future__ import annotations

from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.kernels.build import KernelArtefact
from tests.support.base_checks import (
    balance,
    check_fair_server,
    check_filter,
    check_filtered_boost,
    check_grants,
    check_no_grants,
    check_order,
    check_sleepers,
    check_spare,
    check_util_est,
)
from tests.support.releases import kernel_of, of_releases

pytestmark = pytest.mark.guest


@pytest.fixture(scope="module", params=of_releases("base"))
def base(request: pytest.FixtureRequest) -> KernelArtefact:
    """The kernel of each release: later mainline does by itself what the queue does for 6.12."""
    return kernel_of(request.param)


def test_a_delayed_task_leaves_util_est_once(
    base: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    check_util_est(base, juno, tmp_path)


def test_sleepers_are_refused_unless_load_is_moved(
    base: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    check_sleepers(balance(base, juno, tmp_path))


@pytest.mark.parametrize("first", [False, True])
def test_the_order_of_clamps_and_enqueue_is_a_switch(
    base_kernel: KernelArtefact, juno: Platform, tmp_path: Path, *, first: bool
) -> None:
    check_order(base_kernel, juno, tmp_path, first=first)


@pytest.mark.parametrize("filtered", [False, True])
def test_short_tasks_may_leave_a_cap_alone(
    base_kernel: KernelArtefact, juno: Platform, tmp_path: Path, *, filtered: bool
) -> None:
    check_filter(base_kernel, juno, tmp_path, filtered=filtered)


def test_a_filtered_task_keeps_its_boost(
    base_kernel: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    check_filtered_boost(base_kernel, juno, tmp_path)


def test_a_fair_server_stops_once(base: KernelArtefact, juno: Platform, tmp_path: Path) -> None:
    check_fair_server(base, juno, tmp_path)


@pytest.mark.parametrize("spare0", [False, True])
def test_a_cpu_without_spare_capacity_is_a_switch(
    base: KernelArtefact, juno: Platform, tmp_path: Path, *, spare0: bool
) -> None:
    check_spare(base, juno, tmp_path, spare0=spare0)


def test_what_a_package_grants_is_what_the_kernel_sees(
    base: KernelArtefact, wide: Platform, tmp_path: Path
) -> None:
    check_grants(base, wide, tmp_path)


def test_without_a_budget_the_kernel_reads_no_grant(
    base: KernelArtefact, wide: Platform, tmp_path: Path
) -> None:
    check_no_grants(base, wide, tmp_path)
