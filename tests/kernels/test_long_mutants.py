# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels that are broken on purpose are found; whole ones survive stress."""

import re
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet

from eascope.configs.platform import Platform
from eascope.engines.base import EngineFailed
from eascope.kernels.build import KernelArtefact
from eascope.kernels.naming import kernel_names
from tests.support.guest_mutants import MUTANTS
from tests.support.mutants import GuestMutant, must_fail, mutant_image
from tests.support.releases import booted, kernel_of, source_for
from tests.support.stress import busy_switches, counters, survive
from tests.support.sum_checks import Guest, check_background
from tests.support.sum_mutants import CAP_STAYS, CLAIMS, BrokenClaim, first_warning
from tests.support.threaded_guest import check_busy_threads, survive_threaded

pytestmark = [pytest.mark.long, pytest.mark.guest]

FILES = "/sys/kernel/debug/sched/eascope"
#: The kernel's checks, and what makes it look at who waits.
SWITCHES = [
    ("/sys/kernel/debug/sched/features", "UCLAMP_CHECK"),
    (f"{FILES}/uclamp_wait", "2"),
    (f"{FILES}/uclamp_wait_deadband", "0"),
]


def _of(claims: list[BrokenClaim]) -> list[ParameterSet]:
    """Each of ``claims`` with each kernel that makes it."""
    return [
        pytest.param(claim, kernel, id=f"{kernel}-{claim.claim}")
        for claim in claims
        for kernel in claim.kernels
    ]


@pytest.mark.parametrize(("claim", "kernel"), _of([claim for claim in CLAIMS if claim.says]))
def test_a_broken_claim_is_said(
    claim: BrokenClaim, kernel: str, juno: Platform, tmp_path: Path
) -> None:
    image = mutant_image(kernel, claim.edit, source_for(kernel), tmp_path / "build")
    with pytest.raises(EngineFailed) as error:
        survive(image, juno, tmp_path / "run", switches=SWITCHES, ms=400)
    console = (tmp_path / "run/console.log").read_text(errors="replace")
    assert "WARNING: " in console, error.value
    assert first_warning(console) == claim.first_warning_of(kernel), console[-4000:]


@pytest.mark.parametrize(("claim", "kernel"), _of([claim for claim in CLAIMS if claim.counter]))
def test_a_broken_kernel_does_not_move_its_counter(
    claim: BrokenClaim, kernel: str, juno: Platform, tmp_path: Path
) -> None:
    """`test_sums_hold_under_stress` wants the counter to move."""
    image = mutant_image(kernel, claim.edit, source_for(kernel), tmp_path / "build")
    out = tmp_path / "run"
    done = survive(image, juno, out, switches=SWITCHES, ms=400)
    assert not counters(done.text("stats.txt"))[claim.counter]


@pytest.mark.parametrize("kernel", CAP_STAYS.kernels)
def test_the_check_of_who_runs_alone_sees_a_cap_that_stays(
    kernel: str, juno: Platform, tmp_path: Path
) -> None:
    """A capped hog of the least weight waits while another one runs; all sums are right."""
    image = mutant_image(kernel, CAP_STAYS.edit, source_for(kernel), tmp_path / "build")
    with pytest.raises(EngineFailed):
        check_background(Guest(image, juno, tmp_path), "-i", 1)
    console = (tmp_path / "out/console.log").read_text(errors="replace")
    output = re.findall(r"uclamp: ([^:]+): cpu ", console)
    assert output == [CAP_STAYS.says], console[-2000:]


@pytest.mark.parametrize(
    ("mutant", "name"),
    [
        pytest.param(mutant, kernel, id=f"{kernel}-{mutant.claim}")
        for mutant in MUTANTS
        for kernel in mutant.kernels
    ],
)
def test_a_broken_kernel_is_found(
    mutant: GuestMutant, name: str, juno: Platform, tmp_path: Path
) -> None:
    image = mutant_image(name, mutant.edit, source_for(name), tmp_path / "build")
    unknown: Any = None  # where its source is from
    broken = KernelArtefact(name, image, image, image, "", unknown)
    must_fail(mutant.check, broken, juno, tmp_path)
    whole = tmp_path / "whole"
    whole.mkdir()
    mutant.check.ask(kernel_of(name), juno, whole)


#: Of the host's time.
STRESS_MS = 3_000


@pytest.mark.parametrize("name", [booted(name, name) for name in kernel_names()])
def test_survives_stress_on_host_threads(name: str, juno: Platform, tmp_path: Path) -> None:
    """Each CPU is a thread of the host."""
    done = survive_threaded(
        kernel_of(name).image,
        juno,
        tmp_path / "run",
        switches=busy_switches(name),
        ms=STRESS_MS,
    )
    check_busy_threads(name, done.counters)
