# SPDX-License-Identifier: GPL-2.0-or-later
"""Within `nothing_built` the cache is read and nothing is added to it."""

from pathlib import Path

import pytest

from eascope.host.cache import artefact
from eascope.host.dry import NotBuilt, nothing_built, refuse, work_folder


def build(folder: Path) -> None:
    (folder / "file").write_text("built")


def test_a_dry_run_names_a_missing_artefact_with_its_estimate(own_cache: Path) -> None:
    with nothing_built():
        with pytest.raises(NotBuilt) as caught:
            artefact("kernel", {"name": "x"}, build, label="kernel x", estimate_s=300)
        assert (caught.value.label, caught.value.estimate) == ("kernel x", "about 5 min 00 s")
        with pytest.raises(NotBuilt) as caught:
            artefact("kernel", {"name": "x"}, build, estimate="unknown: up to 1 h")
        assert (caught.value.label, caught.value.estimate) == ("kernel", "unknown: up to 1 h")
    assert not own_cache.exists()


@pytest.mark.usefixtures("own_cache")
def test_a_dry_run_uses_an_artefact_without_marking_the_use() -> None:
    folder = artefact("kernel", {"name": "x"}, build)
    before = folder.stat().st_mtime_ns
    with nothing_built():
        assert artefact("kernel", {"name": "x"}, build) == folder
    assert folder.stat().st_mtime_ns == before


def test_a_dry_run_builds_cheap_artefacts_in_a_temporary_folder(own_cache: Path) -> None:
    with nothing_built():
        folder = artefact("devicetree", {"name": "x"}, build)
        assert (folder / "file").read_text() == "built"
        assert artefact("devicetree", {"name": "x"}, build) == folder
        assert work_folder() in folder.parents
    assert not folder.exists()
    assert not own_cache.exists()


def test_outside_nothing_is_refused() -> None:
    refuse("package lists")
    assert work_folder() is None
    with nothing_built(), pytest.raises(NotBuilt, match="package lists is not there"):
        refuse("package lists")
