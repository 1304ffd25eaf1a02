# SPDX-License-Identifier: GPL-2.0-or-later
"""The series of patches, and the kernel's files that they touch."""

from functools import cache
from pathlib import Path

import pytest

from eascope.kernels import drift
from eascope.kernels.drift import touched_files
from eascope.kernels.patch_series import folders_of_series, is_ported, series_patches
from eascope.kernels.patching import apply_patch
from eascope.kernels.source import Source, find_source, offered_releases
from eascope.kernels.variants import SERIES, load_catalogue

#: What checkpatch reads besides the patch.
CHECKPATCH = ("scripts/checkpatch.pl", "scripts/spelling.txt", "scripts/const_structs.checkpatch")


@cache
def source_of(release: str) -> Source:
    """The source that kernels of ``release`` are built from; skips where no suite has it."""
    if release not in offered_releases():
        pytest.skip(f"no suite offers the source of Linux {release} (any more)")
    return find_source((), release)


def all_series() -> list[Path]:
    """The folders of all series of the project; a person's own follow no rules of ours."""
    own = {folder for kernel in load_catalogue().kernels.values() for folder in kernel.own}
    return [folder for folder in folders_of_series(SERIES) if folder not in own]


def source_files(source: Source) -> Path:
    """A folder with the files of ``source`` that the series touch, and checkpatch; cached."""
    release = source.release.name
    names = touched_files(
        (series for series in all_series() if is_ported(series, release)), release
    )
    return drift.source_files(source, [*names, *CHECKPATCH])


def apply_series(tree: Path, folder: Path, source: Source) -> None:
    """Apply a series to ``tree``, without fuzz.

    :raises PatchFailed: as `apply_patch`; the tree then has the patches before that one.
    """
    patches = series_patches(folder, source.release.name)
    for number in range(len(patches)):
        apply_patch(tree, patches, number, source)
