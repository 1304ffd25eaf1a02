# SPDX-License-Identifier: GPL-2.0-or-later
"""What each switch of the EAS rework does, in a guest: where tasks are put, what moves them."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.kernels.build import KernelArtefact
from eascope.kernels.variants import load_variants
from tests.support.feec_checks import BALANCING, PLACING, check_auto_filter, run
from tests.support.feec_delay_checks import DELAYED
from tests.support.feec_push_checks import PUSHING
from tests.support.guest_cases import Found
from tests.support.guest_mutants import guest_check
from tests.support.releases import kernel_of, of_releases
from tests.support.stress import counters, survive

pytestmark = pytest.mark.guest

BOOTS = {"placed": PLACING, "pushed": PUSHING, "balanced": BALANCING, "delayed": DELAYED}
#: Checks that read what was found in each of these.
CHECKS = {
    "placed": [
        *("check_number", "check_guard", "check_opp", "check_raise", "check_idle_others"),
        *("check_v5", "check_v5_tiny", "check_margin"),
    ],
    "pushed": [
        *("check_push", "check_batch", "check_tick", "check_rate", "check_misfit"),
        *("check_uncapped", "check_pinned", "check_overutilized", "check_stays", "check_crowd"),
        *("check_naps", "check_preempted", "check_grows", "check_without_eas", "check_largest"),
        "check_throttled",
    ],
    "balanced": ["check_filter"],
    "delayed": [
        *("check_delay", "check_delay_after_rest", "check_delay_after_throttling"),
        "check_delay_without_task",
    ],
}


@pytest.fixture(scope="module", params=of_releases("feec"))
def feec(request: pytest.FixtureRequest) -> KernelArtefact:
    """The kernel of each release, built before the first test."""
    return kernel_of(request.param)


@pytest.fixture(scope="module")
def boot(
    feec: KernelArtefact, juno: Platform, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], dict[str, Found]]:
    """What a guest finds in the cases of one of `BOOTS`, booted once.

    It is no fixture with a parameter: pytest sets such a one up again for each test.
    """
    return cache(lambda name: run(feec, juno, BOOTS[name], tmp_path_factory.mktemp(name)))


@pytest.mark.parametrize(
    ("name", "check"), [(boot, check) for boot in CHECKS for check in CHECKS[boot]]
)
def test_each_switch_does_what_is_claimed(
    boot: Callable[[str], dict[str, Found]], name: str, check: str
) -> None:
    guest_check("feec", check).asserts(boot(name))


def test_the_filter_is_on_with_the_mechanisms_that_need_it(
    feec: KernelArtefact, boot: Callable[[str], dict[str, Found]]
) -> None:
    check_auto_filter(boot("balanced"), mainline=not feec.version.startswith("6.12"))


@pytest.mark.parametrize(
    "check",
    [
        *("check_boosted", "check_events", "check_asks_after_rest", "check_reserved"),
        "check_clamps_leave",
    ],
)
def test_in_a_boot_of_its_own(
    feec: KernelArtefact, juno: Platform, tmp_path: Path, check: str
) -> None:
    guest_check("feec", check).ask(feec, juno, tmp_path)


def test_everything_is_at_work_under_stress(
    feec: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    """Clamps, policies, CPUs and groups change at once, and the queue survives what it counts."""
    switches = load_variants()["feec-c-plus"].switches
    out = tmp_path / "run"
    # A push that fails is rare: none in 3 s of one seed, five in 6.
    done = survive(feec.image, juno, out, switches=switches, ms=6_000)
    counted = counters(done.text("stats.txt"))
    for name in (
        *("feec_called", "feec_moved", "feec_tie_nr", "feec_opp_up", "lb_group_filtered"),
        *("push_check", "push_moved", "push_same", "push_failed", "push_ratelimited"),
        *("tick_check", "tick_moved", "misfit_push"),
    ):
        assert counted[name] > 0, name
