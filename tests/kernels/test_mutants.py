# SPDX-License-Identifier: GPL-2.0-or-later
"""Each mutant of the long tests can be made."""

import shutil
from pathlib import Path

import pytest

from eascope.kernels.naming import kernel_named
from eascope.kernels.variants import SERIES
from tests.support.guest_mutants import MUTANTS
from tests.support.patch_series import apply_series, source_files
from tests.support.releases import source_for

KERNELS = sorted({kernel for mutant in MUTANTS for kernel in mutant.kernels})


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_a_mutant_changes_is_once_in_the_source(kernel: str, tmp_path: Path) -> None:
    source, tree = source_for(kernel), tmp_path / "tree"
    shutil.copytree(source_files(source), tree)
    for series in kernel_named(kernel).series:
        apply_series(tree, SERIES / series, source)
    for mutant in MUTANTS:
        if kernel in mutant.kernels:
            text = (tree / mutant.edit.file).read_text()
            assert mutant.edit.edited(text) != text, mutant.claim
