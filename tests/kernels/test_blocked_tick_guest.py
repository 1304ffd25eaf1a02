# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel `blocked-tick` in a guest: what the tick of an idle CPU does, and teo's switch."""

from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.kernels.build import KernelArtefact
from tests.support.guest_mutants import guest_check
from tests.support.releases import kernel_of, of_releases
from tests.support.stress import busy_switches, counters, survive

pytestmark = pytest.mark.guest


@pytest.fixture(scope="module", params=of_releases("blocked-tick"))
def blocked_tick(request: pytest.FixtureRequest) -> KernelArtefact:
    """The kernel of each release, built before the first test."""
    return kernel_of(request.param)


#: As in tests/kernels/mutants: a check and its arguments.
CHECKS = [
    *("check_decays on=True", "check_decays on=False"),
    *("check_utilized utilized=True", "check_utilized utilized=False"),
]


@pytest.mark.parametrize("line", CHECKS)
def test_each_switch_does_what_is_claimed(
    blocked_tick: KernelArtefact, juno: Platform, tmp_path: Path, line: str
) -> None:
    guest_check("blocked-tick", line).ask(blocked_tick, juno, tmp_path)


def test_idle_ticks_are_at_work_under_stress(
    blocked_tick: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    """Groups, CPUs and policies change meanwhile: the update takes the runqueue's lock."""
    done = survive(
        blocked_tick.image,
        juno,
        tmp_path / "run",
        switches=busy_switches("blocked-tick"),
        ms=200,
    )
    assert counters(done.text("stats.txt"))["tick_blocked"] > 0
