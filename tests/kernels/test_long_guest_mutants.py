# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels of each queue that are broken on purpose: a guest test must say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eascope.configs.platform import Platform
from eascope.kernels.build import KernelArtefact
from tests.support.feec_guest_mutants import MUTANTS as FEEC_MUTANTS
from tests.support.guest_mutants import MUTANTS
from tests.support.mutants import GuestMutant, must_fail, mutant_image
from tests.support.push_guest_mutants import MUTANTS as PUSH_MUTANTS
from tests.support.releases import kernel_of, source_for
from tests.support.sum_guest_mutants import MUTANTS as SUM_MUTANTS

pytestmark = [pytest.mark.long, pytest.mark.guest]


@pytest.mark.parametrize(
    ("mutant", "name"),
    [
        pytest.param(mutant, kernel, id=f"{kernel}-{mutant.claim}")
        for mutant in [*SUM_MUTANTS, *FEEC_MUTANTS, *MUTANTS, *PUSH_MUTANTS]
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
