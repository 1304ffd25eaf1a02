# SPDX-License-Identifier: GPL-2.0-or-later
"""What the push mechanism does in a guest: whom it moves, when, and whom it leaves alone."""

import re
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.kernels.build import KernelArtefact
from eascope.kernels.switches import FEATURES
from eascope.kernels.variants import load_variants
from tests.support.feec_checks import check_reserved, reserved
from tests.support.guest_cases import Found
from tests.support.guest_mutants import guest_check
from tests.support.push_checks import ANYWHERE, CASES, STUCK, run
from tests.support.releases import kernel_of
from tests.support.stress import checked, counters, survive

pytestmark = [pytest.mark.guest, pytest.mark.long, pytest.mark.kernels("push@7.3")]

TRACING = "/sys/kernel/tracing"
PUSHED = re.compile(
    r" sched_fair_push: comm=stuck pid=\d+ reason=(\w+) src=(\d) dst=(\d) running=(\d) "
    r"util=\d+ runnable=(\d+) uclamp_max=(\d+) moved=(\d)"
)


@pytest.fixture(scope="module")
def push() -> KernelArtefact:
    """The kernel, built before the first test."""
    return kernel_of("push@7.3")


@pytest.fixture(scope="module")
def results(
    push: KernelArtefact, juno: Platform, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Found]:
    return run(push, juno, CASES, tmp_path_factory.mktemp("results"))


@pytest.mark.parametrize(
    "check",
    [
        *("check_off", "check_waiting", "check_alone", "check_reasons", "check_no_wait"),
        *("check_pinned", "check_uncapped", "check_overutilized", "check_idle", "check_last"),
        *("check_full", "check_elsewhere", "check_idle_group", "check_recent"),
    ],
)
def test_push_does_what_is_claimed(results: dict[str, Found], check: str) -> None:
    guest_check("push", check).asserts(results)


@pytest.mark.parametrize("check", ["check_eight", "check_partition"])
def test_in_a_boot_of_its_own(
    push: KernelArtefact, juno: Platform, tmp_path: Path, check: str
) -> None:
    guest_check("push", check).ask(push, juno, tmp_path)


def test_an_emptied_cpu_keeps_what_deadline_tasks_need(
    push: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    check_reserved(reserved(push, juno, tmp_path, push=f"write {FEATURES} {STUCK}"))


def test_the_event_says_who_is_pushed_and_why(
    push: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    script = [
        f"write {FEATURES} {STUCK}",
        "trace-setup 4096 eascope:sched_fair_push",
        "write /sys/fs/cgroup/cgroup.subtree_control +cpu",
        "mkdir /sys/fs/cgroup/group",
        "write /sys/fs/cgroup/group/cgroup.procs 0",
        "write /sys/fs/cgroup/group/cpu.uclamp.max 10",
        f"write {TRACING}/tracing_on 1",
        f"spawn stuck /bin/stuck 2 4 {ANYWHERE} 100",
        "wait stuck 20000",
        f"collect {TRACING}/trace trace.txt",
    ]
    done = checked(push.image, juno, script, tmp_path, "stuck")
    events = PUSHED.findall(done.text("trace.txt"))
    from_big = [event for event in events if event[1] == "4"]
    assert {event[3] for event in from_big} == {"0", "1"}, "one waited, one ran alone"
    for reason, _, dst, _, runnable, cap, moved in from_big:
        assert (reason, moved) == ("stuck", "1")
        assert int(dst) < 4
        assert int(runnable) > int(cap) == 102


def test_everything_is_at_work_under_stress(
    push: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    """Clamps, policies, CPUs and groups change at once, and the queue survives what it counts.

    Stress overutilizes the system, so no tick looks for another CPU; `check_alone` sees that.
    """
    switches = load_variants()["push-v8"].switches
    out = tmp_path / "run"
    done = survive(push.image, juno, out, switches=switches, ms=400)
    counted = counters(done.text("stats.txt"))
    for name in ("push_check", "push_moved", "push_same", "push_failed"):
        assert counted[name] > 0, name
