# SPDX-License-Identifier: GPL-2.0-or-later
"""Pieces of kernel sources, and toy trees and queues for the failures."""

from collections.abc import Callable
from pathlib import Path

import pytest

from eascope.kernels.build import KernelArtefact, kernel
from eascope.kernels.source import Source, find_source
from eascope.kernels.trees import tree_source
from tests import support
from tests.support.toy_linux import toy_linux

#: So that a failed check says what it compared.
pytest.register_assert_rewrite(
    "tests.kernels.exceptions",
    *(f"tests.support.{path.stem}" for path in Path(support.__path__[0]).glob("*_checks.py")),
)


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


@pytest.fixture
def linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The toy repository, with a cache of its own."""
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KERNEL_SRC", raising=False)
    tree_source.cache_clear()
    return toy_linux(tmp_path / "linux")
