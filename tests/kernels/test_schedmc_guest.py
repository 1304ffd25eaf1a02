# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel `schedmc` in a guest: whom load balance gathers, and what its switches take."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.configs.platform_file import load_platform
from eascope.kernels.build import KernelArtefact
from eascope.kernels.switches import SCHED_DEBUG
from tests.support.guest_cases import Found
from tests.support.kernel_guest import boot
from tests.support.releases import kernel_of, of_releases
from tests.support.schedmc_checks import CASES, CHECKS, FILES, run, slow
from tests.support.stress import busy_switches, checked, counters, guest_program, survive

pytestmark = pytest.mark.guest

TRACING = "/sys/kernel/tracing"


@pytest.fixture(scope="module", params=of_releases("schedmc"))
def schedmc(request: pytest.FixtureRequest) -> KernelArtefact:
    """The kernel of each release, built before the first test."""
    return kernel_of(request.param)


@pytest.fixture(scope="module")
def tc2() -> Platform:
    return load_platform("tc2-like")


@pytest.fixture(scope="module")
def found(
    schedmc: KernelArtefact, tc2: Platform, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Found]:
    return run(schedmc, tc2, CASES, tmp_path_factory.mktemp("found"))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_gathering(found: dict[str, Found], check: Callable[[Mapping[str, Found]], None]) -> None:
    check(found)


def test_ten_writers_leave_no_stale_domain(
    schedmc: KernelArtefact, tc2: Platform, tmp_path: Path
) -> None:
    """While all CPUs are busy; a value out of range is EINVAL."""
    flags = [
        f"{SCHED_DEBUG}/domains/cpu{cpu}/domain{index}/flags"
        for cpu in tc2.cpus
        for index in (0, 1)
    ]
    script = [
        f"write {SCHED_DEBUG}/verbose Y",
        "spawn levels /bin/levels 10 20",
        "wait levels 60000",
    ]
    script.append("collect /tmp/levels.log levels.log")
    for level in (0, 2):
        script += [f"write {FILES}/sched_mc_power_savings {level}"]
        script += [f"write {FILES}/sched_asym_packing {int(level > 0)}"]
        script += [f"collect {path} {level}-{number}" for number, path in enumerate(flags)]
    done = checked(schedmc.image, tc2, script, tmp_path, "levels")
    assert int(done.text("levels.log")) > 50
    for number in range(len(flags)):
        off, on = (done.text(f"{level}-{number}").split() for level in (0, 2))
        top = number % 2 == 1
        assert ("SD_POWERSAVINGS_BALANCE" in on) == top
        assert "SD_POWERSAVINGS_BALANCE" not in off
        assert ("SD_PREFER_SIBLING" in on, "SD_PREFER_SIBLING" in off) == (False, top)
        assert ("SD_ASYM_PACKING" in on, "SD_ASYM_PACKING" in off) == (True, False)


def test_an_event_says_which_cluster_leads(
    schedmc: KernelArtefact, tc2: Platform, tmp_path: Path
) -> None:
    script = [
        f"write {FILES}/sched_mc_power_savings 1",
        "trace-setup 1024 eascope:sched_mc_ps_decision",
        f"write {TRACING}/tracing_on 1",
        "spawn gather /bin/gather 150 0 1 4",
        "wait gather 20000",
        f"collect {TRACING}/trace trace.txt",
    ]
    programs = {"gather": guest_program("gather", tmp_path)}
    machine = slow(tc2, equal=True)
    done = boot(schedmc.image, machine, script, tmp_path / "out", programs=programs)
    said = re.findall(
        r"sched_mc_ps_decision: dst_cpu=([0-3]) newly_idle=[01] leader_first_cpu=0 nr_leader=2 "
        r"min_first_cpu=4 nr_min=1 failed=(\d+)",
        done.text("trace.txt"),
    )
    assert {failed for _, failed in said} >= {"0", "1", "2", "3"}


def test_everything_is_at_work_under_stress(
    schedmc: KernelArtefact, juno: Platform, tmp_path: Path
) -> None:
    """Attributes, groups, CPUs, policies and levels change at once; no CPU idles for long."""
    done = survive(
        schedmc.image,
        juno,
        tmp_path / "run",
        switches=busy_switches("schedmc"),
        ms=400,
    )
    assert re.search(r"^level [1-9]", done.text("stress.txt"), re.MULTILINE)
    assert counters(done.text("stats.txt"))["lb_active"] > 0
