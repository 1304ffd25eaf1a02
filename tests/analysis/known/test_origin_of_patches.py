# SPDX-License-Identifier: GPL-2.0-or-later
"""Records keep their kernels' patches by digest, and which are no longer today's is known."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from eascope.analysis.known.origin import digests_of, older, patches_of
from eascope.kernels.patch_series import effect_digest, series_digest, series_patches
from eascope.kernels.provenance import KernelProvenance
from eascope.kernels.variants import SERIES
from tests.support.records import kernel_provenance


def built(upstream: str, *all_series: str) -> KernelProvenance:
    """A kernel with today's patches of these series."""
    release = ".".join(upstream.split(".")[:2])
    digest = series_digest([SERIES / name for name in all_series], release)
    return replace(kernel_provenance(upstream), series=all_series, series_sha256=digest)


def test_a_record_has_a_digest_of_each_series_and_release() -> None:
    kernels = [
        *(built("6.12.117", "base"), built("6.12.117", "base", "feec")),
        built("7.3.4", "base", "push"),
    ]
    patches = patches_of(kernels)
    assert list(patches) == ["base@6.12", "feec@6.12", "base@7.3", "push@7.3"]
    assert patches == digests_of(patches)
    assert patches["base@6.12"] == effect_digest(SERIES / "base")
    assert not older(patches)


def test_a_kernel_of_other_patches_has_no_digests() -> None:
    own = replace(built("6.12.117", "base"), series=("base", "my-idea"))
    assert patches_of([own, kernel_provenance("6.12.117")]) == {}


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("Subject: ", "Subject: Again, ", True),  # the message
        ("\n@@ -", "\n@@ -1", True),  # where
        ("\n+\t", "\n+\t\t", False),
    ],
)
def test_only_what_a_series_changes_is_in_its_digest(
    tmp_path: Path, old: str, new: str, same: bool
) -> None:
    series = shutil.copytree(SERIES / "base", tmp_path / "base")
    (patch, *_) = sorted(series.glob("0*.patch"))
    assert old in patch.read_text()
    patch.write_text(patch.read_text().replace(old, new, 1))
    assert (effect_digest(series) == effect_digest(SERIES / "base")) is same


def test_a_changed_or_removed_series_is_older(tmp_path: Path) -> None:
    patches = digests_of(("base@6.12", "feec@6.12", "push@7.3"))
    same = shutil.copytree(SERIES, tmp_path / "series")
    assert older(patches, same) == []
    changed = shutil.copytree(SERIES, tmp_path / "changed")
    had = series_patches(changed / "feec")
    (changed / "feec" / "series").write_text("\n".join(patch.name for patch in had[:-1]))
    had[-1].unlink()
    shutil.rmtree(changed / "push")
    assert older(patches, changed) == ["feec@6.12", "push@7.3"]
