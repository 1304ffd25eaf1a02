# SPDX-License-Identifier: GPL-2.0-or-later
"""What each switch of the EAS rework does, in a guest: where tasks are put, what moves them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.kernels.build import KernelArtefact
from eascope.kernels.variants import load_variants
from tests.support.feec_checks import (
    BALANCING,
    BOOSTED,
    PLACING,
    check_auto_filter,
    check_boosted,
    check_filter,
    check_guard,
    check_idle_others,
    check_number,
    check_opp,
    check_raise,
    check_reserved,
    check_v5,
    check_v5_tiny,
    reserved,
    run,
)
from tests.support.feec_delay_checks import (
    DELAYED,
    check_asks_after_rest,
    check_delay,
    check_delay_after_rest,
    check_delay_after_throttling,
    check_delay_without_task,
)
from tests.support.feec_push_checks import (
    PUSHING,
    check_batch,
    check_clamps_leave,
    check_crowd,
    check_events,
    check_grows,
    check_largest,
    check_misfit,
    check_naps,
    check_overutilized,
    check_pinned,
    check_preempted,
    check_push,
    check_rate,
    check_stays,
    check_throttled,
    check_tick,
    check_uncapped,
    check_without_eas,
)
from tests.support.guest_cases import Found
from tests.support.releases import kernel_of, of_releases
from tests.support.stress import counters, survive

pytestmark = pytest.mark.guest


@pytest.fixture(scope="module", params=of_releases("feec"))
def feec(request: pytest.FixtureRequest) -> KernelArtefact:
    """The kernel of each release, built before the first test."""
    return kernel_of(request.param)


@pytest.fixture(scope="module")
def placed(
    feec: KernelArtefact, juno: Platform, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Found]:
    return run(feec, juno, PLACING, tmp_path_factory.mktemp("placed"))


def test_fewest_tasks_decide_between_equal_opps(placed: dict[str, Found]) -> None:
    check_number(placed)


def test_the_guard_keeps_headroom(placed: dict[str, Found]) -> None:
    check_guard(placed)


def test_cost_is_of_the_cpu_or_of_its_domain(placed: dict[str, Found]) -> None:
    check_opp(placed)


def test_an_opp_that_is_raised_for_others_counts(placed: dict[str, Found]) -> None:
    check_raise(placed)


def test_tasks_that_leave_the_cpu_to_others_count_where_the_source_counts_them(
    placed: dict[str, Found],
) -> None:
    check_idle_others(placed)


def test_the_fifth_posting_counts_no_real_time_tasks(placed: dict[str, Found]) -> None:
    check_v5(placed)


def test_the_fifth_posting_places_tasks_without_utilization(placed: dict[str, Found]) -> None:
    check_v5_tiny(placed)


def test_where_no_cpu_has_the_boost_the_largest_is_best(
    feec: KernelArtefact, tmp_path: Path
) -> None:
    check_boosted(run(feec, load_platform("pixel6"), BOOSTED, tmp_path))


@pytest.fixture(scope="module")
def pushed(
    feec: KernelArtefact, juno: Platform, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Found]:
    return run(feec, juno, PUSHING, tmp_path_factory.mktemp("pushed"))


@pytest.mark.parametrize(
    "check",
    [
        *(check_push, check_batch, check_tick, check_rate, check_misfit, check_uncapped),
        *(check_pinned, check_overutilized, check_stays, check_crowd, check_naps),
        *(check_preempted, check_grows, check_without_eas, check_largest, check_throttled),
    ],
    ids=lambda check: check.__name__,
)
def test_push(pushed: dict[str, Found], check: Callable[[Mapping[str, Found]], None]) -> None:
    check(pushed)


@pytest.fixture(scope="module")
def balanced(
    feec: KernelArtefact, juno: Platform, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Found]:
    return run(feec, juno, BALANCING, tmp_path_factory.mktemp("balanced"))


def test_groups_of_capped_tasks_are_not_overloaded(balanced: dict[str, Found]) -> None:
    check_filter(balanced)


def test_the_filter_is_on_with_the_mechanisms_that_need_it(
    feec: KernelArtefact, balanced: dict[str, Found]
) -> None:
    check_auto_filter(balanced, mainline=not feec.version.startswith("6.12"))


def test_events_say_who_is_pushed_and_why(
    feec: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    check_events(feec, juno, tmp_path)


@pytest.fixture(scope="module")
def delayed(
    feec: KernelArtefact, juno: Platform, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Found]:
    return run(feec, juno, DELAYED, tmp_path_factory.mktemp("delayed"))


def test_the_overutilized_mark_waits(delayed: dict[str, Found]) -> None:
    check_delay(delayed)


def test_the_mark_waits_again_after_a_rest(delayed: dict[str, Found]) -> None:
    check_delay_after_rest(delayed)


def test_the_mark_waits_again_after_throttling(delayed: dict[str, Found]) -> None:
    check_delay_after_throttling(delayed)


def test_with_a_delay_a_cpu_without_a_task_sets_no_mark(delayed: dict[str, Found]) -> None:
    check_delay_without_task(delayed)


def test_the_delay_takes_no_request_for_a_frequency(
    feec: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    check_asks_after_rest(feec, juno, tmp_path)


def test_an_emptied_cpu_keeps_what_deadline_tasks_need(
    feec: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    check_reserved(reserved(feec, juno, tmp_path))


def test_the_clamps_of_one_that_runs_alone_leave_with_it(
    feec: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    check_clamps_leave(feec, juno, tmp_path)


def test_everything_is_at_work_under_stress(
    feec: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    """Clamps, policies, CPUs and groups change at once, and the queue survives what it counts."""
    switches = load_variants()["feec-c-plus"].switches
    deadlines = feec.version.startswith("6.12")
    out = tmp_path / "run"
    # A push that fails is rare: none in 3 s of one seed, five in 6.
    done = survive(feec.image, juno, out, switches=switches, ms=6_000, deadlines=deadlines)
    counted = counters(done.text("stats.txt"))
    for name in (
        *("feec_called", "feec_moved", "feec_tie_nr", "feec_opp_up", "lb_group_filtered"),
        *("push_check", "push_moved", "push_same", "push_failed", "push_ratelimited"),
        *("tick_check", "tick_moved", "misfit_push"),
    ):
        assert counted[name] > 0, name
