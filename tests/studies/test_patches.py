# SPDX-License-Identifier: GPL-2.0-or-later
"""Records keep their kernels' patches by digest, and pages say which are no longer today's."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.results.comparisons import Comparisons
from analysis.results.origin import RESULTS, RUNS, Origin
from kernels.provenance import KernelProvenance
from kernels.queues import series_digest
from kernels.variants import SERIES
from studies.draw import DRAWINGS
from studies.notes import PAGES
from studies.patches import digests_of, older, origin_words, patches_of
from tests.support.records import kernel_provenance

VARIANTS = ("mainline", "feec-b", "feec-d", "uclamp-sum", "push-v8@7.3")


def built(upstream: str, *queues: str) -> KernelProvenance:
    """A kernel with today's patches of these queues."""
    release = ".".join(upstream.split(".")[:2])
    digest = series_digest([SERIES / name for name in queues], release)
    return replace(kernel_provenance(upstream), series=queues, series_sha256=digest)


def test_a_record_has_a_digest_of_each_queue_and_release() -> None:
    kernels = [
        *(built("6.12.117", "base"), built("6.12.117", "base", "feec")),
        built("7.3.4", "base", "push"),
    ]
    patches = patches_of(kernels)
    assert list(patches) == ["base@6.12", "feec@6.12", "base@7.3", "push@7.3"]
    assert patches == digests_of(patches)
    assert patches["base@6.12"] == series_digest([SERIES / "base"])
    assert not older(patches)


def test_a_kernel_of_other_patches_has_no_digests() -> None:
    own = replace(built("6.12.117", "base"), series=("base", "my-idea"))
    assert patches_of([own, kernel_provenance("6.12.117")]) == {}


def test_a_page_names_the_variants_whose_patches_changed(tmp_path: Path) -> None:
    shutil.copytree(SERIES, tmp_path / "series")
    series = tmp_path / "series"
    queues = ("base@6.12", "feec@6.12", "sum@6.12", "push@7.3")
    origin = Origin("a test", RUNS, patches=digests_of(queues))
    assert origin_words(origin, VARIANTS, series).endswith("are today's.")
    (patch, *_) = sorted((series / "feec").glob("*.patch"))
    patch.write_text(patch.read_text() + "\n")
    assert older(origin.patches, series) == ["feec@6.12"]
    words = origin_words(origin, VARIANTS, series)
    assert "Recorded with older patches of feec on 6.12 (feec-b, feec-d): today's" in words
    shutil.rmtree(series / "push")
    words = origin_words(origin, VARIANTS, series)
    assert "feec on 6.12 (feec-b, feec-d); push on 7.3 (push-v8@7.3): today's" in words


def test_a_record_without_digests_says_so() -> None:
    assert origin_words(Origin("a test", RUNS)).endswith("its kernels were not recorded.")


@pytest.mark.parametrize("name", DRAWINGS)
def test_every_page_of_variants_says_whether_its_patches_are_todays(name: str) -> None:
    record = DRAWINGS[name].kind.read(RESULTS / f"{name}.json")
    if "kernel" not in record.origin.versions or name == "hardware":
        return
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    said = "not recorded|are today's|Recorded with older patches of [^*\n]*"
    assert re.search(rf"Made by `[^\n]*({said})", text)


def test_the_records_of_the_rework_have_their_kernels_patches() -> None:
    for name in ("eas-pixel6", "eas-juno-r2"):
        patches = Comparisons.read(RESULTS / f"{name}.json").origin.patches
        assert set(patches) == {"base@6.12", "feec@6.12"}
