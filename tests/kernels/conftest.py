# SPDX-License-Identifier: GPL-2.0-or-later
"""Pieces of kernel sources, and toy trees and queues for the failures."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from host.cache import artefact, sha256_bytes
from kernels.build import KernelArtefact, kernel
from kernels.source import PACKAGE, Source, find_source, series_patches
from kernels.variants import SERIES

#: What checkpatch reads besides the patch.
CHECKPATCH = ("scripts/checkpatch.pl", "scripts/spelling.txt", "scripts/const_structs.checkpatch")


def queues() -> list[Path]:
    """The folders of all queues."""
    return sorted(path.parent for path in SERIES.glob("*/series"))


def touched_files() -> list[str]:
    """Existing files that the queues change (not those that they add)."""
    found: set[str] = set()
    added: set[str] = set()
    for queue in queues():
        for patch in series_patches(queue):
            for part in re.split(r"^diff --git ", patch.read_text(), flags=re.MULTILINE)[1:]:
                name = part.split(" b/", 1)[1].splitlines()[0]
                (added if "\nnew file mode " in part else found).add(name)
    return sorted(found - added)


def source_files(source: Source) -> Path:
    """A folder with the files of ``source`` that the queues touch, and checkpatch; cached."""
    names = [*touched_files(), *CHECKPATCH]

    def build(folder: Path) -> None:
        source.tar(folder, ["--strip-components=1", *(f"{PACKAGE}/{name}" for name in names)])

    key = {"source": source.sha256, "files": sha256_bytes("\n".join(names).encode())}
    return artefact("kernel-files", key, build, label=f"files of {source.label}", large=True)


@pytest.fixture(scope="session")
def source() -> Source:
    """The source that kernels are built from."""
    return find_source()


@pytest.fixture(scope="session")
def base_kernel() -> KernelArtefact:
    """The base kernel, built when the cache does not have it."""
    return kernel("base")


@pytest.fixture
def toy(tmp_path: Path) -> Callable[[str], tuple[Path, Path]]:
    """A function that makes a tree with one file and a queue with one patch of it.

    Its argument is the file's text; the patch was made against lines 1 to 9, each ``line N``.
    """

    def make(text: str) -> tuple[Path, Path]:
        tree, queue = tmp_path / "tree", tmp_path / "toy"
        tree.mkdir()
        queue.mkdir()
        (tree / "file.c").write_text(text)
        (queue / "series").write_text("0001-change.patch\n")
        (queue / "0001-change.patch").write_text(
            "From: someone <someone@localhost>\nSubject: [PATCH] change\n\n---\n"
            "diff --git a/file.c b/file.c\n--- a/file.c\n+++ b/file.c\n"
            "@@ -2,7 +2,7 @@\n line 2\n line 3\n line 4\n-line 5\n+line five\n"
            " line 6\n line 7\n line 8\n"
        )
        return tree, queue

    return make
