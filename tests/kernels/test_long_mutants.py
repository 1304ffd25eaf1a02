# SPDX-License-Identifier: GPL-2.0-or-later
"""What `sum` claims of its sums the kernel checks: break each claim, and it must say so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from eascope.configs.platform import Platform
from eascope.engines.base import EngineFailed
from tests.support.mutants import mutant_image
from tests.support.releases import source_for
from tests.support.stress import counters, survive
from tests.support.sum_checks import Guest, check_background
from tests.support.sum_mutants import CAP_STAYS, CLAIMS, BrokenClaim, first_warning

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
        survive(image, juno, tmp_path / "run", switches=SWITCHES, ms=400, deadlines=kernel == "sum")
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
    done = survive(image, juno, out, switches=SWITCHES, ms=400, deadlines=kernel == "sum")
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
    said = re.findall(r"uclamp: ([^:]+): cpu ", console)
    assert said == [CAP_STAYS.says], console[-2000:]
