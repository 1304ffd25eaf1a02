# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel that starts from another's objects is, byte for byte, the one built from nothing."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from eascope.host.cache import cache_root, sha256_file
from eascope.kernels import build as module
from eascope.kernels.source import find_source
from eascope.kernels.variants import load_catalogue

pytestmark = [pytest.mark.long]

#: Files that a kernel compiles after base: kernel/sched, and what it touches besides.
MOST = 150
BUILT = ("Image", "vmlinux", "config")
#: A compiled or assembled object in kbuild's log.
OBJECT = re.compile(r"^  (?:CC|AS)  ", re.MULTILINE)


def build(names: Sequence[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Build ``names`` one after the other in a new tree, without ccache."""
    packages = cache_root() / "apt"
    folder.mkdir()
    (folder / "apt").symlink_to(packages)
    done = {}
    with monkeypatch.context() as patch:
        patch.setenv("EASCOPE_CACHE", str(folder))
        patch.setenv("CCACHE_DISABLE", "1")
        for name in names:
            done[name] = folder / f"built-{name}"
            done[name].mkdir()
            module._build(load_catalogue().kernels[name], find_source(), done[name])
    return done


def objects(built: Path) -> int:
    """How many objects a build compiled."""
    return len(OBJECT.findall((built / "build.log").read_text()))


def test_first_or_second_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_source()  # in the usual cache, which the new ones borrow packages from
    present = build(["sum", "feec"], tmp_path / "there", monkeypatch)
    back = build(["feec", "sum"], tmp_path / "back", monkeypatch)
    for first, second in ((present["sum"], back["sum"]), (back["feec"], present["feec"])):
        assert objects(second) < objects(first)
        for name in BUILT:
            assert sha256_file(first / name) == sha256_file(second / name), (first, name)


def test_kernels_after_base_compile_few_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the series add to `task_struct` is in the block that base reserves there."""
    find_source()
    later = ("sum", "feec", "latnice", "schedmc", "sum-feec")
    done = build(("base", *later), tmp_path / "few", monkeypatch)
    counts = {name: objects(built) for name, built in done.items()}
    print(counts)
    assert counts.pop("base") > 3 * MOST
    assert max(counts.values()) <= MOST, counts
