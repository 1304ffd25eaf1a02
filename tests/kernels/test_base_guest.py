# SPDX-License-Identifier: GPL-2.0-or-later
"""What the queue ``base`` changes in load balance, utilization and clamps, seen in a guest."""

from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.kernels.build import KernelArtefact
from tests.support.guest_mutants import guest_check
from tests.support.releases import kernel_of, of_releases

pytestmark = pytest.mark.guest


@pytest.fixture(scope="module", params=of_releases("base"))
def base(request: pytest.FixtureRequest) -> KernelArtefact:
    """The kernel of each release: later mainline does by itself what the queue does for 6.12."""
    return kernel_of(request.param)


#: As in tests/kernels/mutants: a check and its arguments.
CHECKS = [
    *("check_util_est", "check_sleepers", "check_fair_server", "check_grants", "check_no_grants"),
    *("check_returns asleep=False", "check_returns asleep=True"),
    *("check_spare spare0=False", "check_spare spare0=True"),
    *("check_util_boost boost=False", "check_util_boost boost=True", "check_forced", "check_table"),
    *("check_boost_after_absence", "check_interrupts"),
]


@pytest.mark.parametrize("line", CHECKS)
def test_each_release_does_what_is_claimed(
    base: KernelArtefact, juno: Platform, tmp_path: Path, line: str
) -> None:
    guest_check("base", line).ask(base, juno, tmp_path)


#: Of the switches that are those of 6.12 alone.
OF_612 = [
    *("check_order first=False", "check_order first=True", "check_filtered_boost"),
    *("check_filter filtered=False", "check_filter filtered=True"),
]


@pytest.mark.parametrize("line", OF_612)
def test_the_first_release_does_what_is_claimed(
    base_kernel: KernelArtefact, juno: Platform, tmp_path: Path, line: str
) -> None:
    guest_check("base", line).ask(base_kernel, juno, tmp_path)
