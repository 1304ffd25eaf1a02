# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels that are broken on purpose are found; whole ones survive stress."""

from pathlib import Path
from typing import Any

import pytest

from eascope.configs.platform import Platform
from eascope.kernels.build import KernelArtefact
from eascope.kernels.naming import kernel_names
from tests.support.guest_mutants import MUTANTS
from tests.support.mutants import GuestMutant, edited_image, must_fail
from tests.support.releases import booted, kernel_of, source_for
from tests.support.stress import busy_switches
from tests.support.threaded_guest import check_busy_threads, survive_threaded

pytestmark = [pytest.mark.long, pytest.mark.guest]

#: Checks that have passed on a whole kernel.
PASSED: set[tuple[str, ...]] = set()


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
    image = edited_image(name, [mutant.edit], source_for(name), tmp_path / "build")
    unknown: Any = None  # where its source is from
    broken = KernelArtefact(name, image, image, image, "", unknown)
    must_fail(mutant.check, broken, juno, tmp_path)
    asked = name, mutant.check.line, mutant.check.says
    if asked not in PASSED:
        (whole := tmp_path / "whole").mkdir()
        mutant.check.ask(kernel_of(name), juno, whole)
        PASSED.add(asked)


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
