# SPDX-License-Identifier: GPL-2.0-or-later
"""What the queue ``base`` changes in load balance, utilization and clamps, seen in a guest."""

from __future__ import annotations

from pathlib import Path

import pytest

from configs.platform import Platform
from kernels.build import KernelArtefact
from tests.support.base_checks import balance, check_order, check_sleepers, check_util_est

pytestmark = pytest.mark.guest


def test_a_delayed_task_leaves_util_est_once(
    base_kernel: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    check_util_est(base_kernel, juno, tmp_path)


def test_sleepers_are_refused_unless_load_is_moved(
    base_kernel: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    check_sleepers(balance(base_kernel, juno, tmp_path))


@pytest.mark.parametrize("first", [False, True])
def test_the_order_of_clamps_and_enqueue_is_a_switch(
    base_kernel: KernelArtefact, juno: Platform, tmp_path: Path, *, first: bool
) -> None:
    check_order(base_kernel, juno, tmp_path, first=first)
