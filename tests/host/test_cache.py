# SPDX-License-Identifier: GPL-2.0-or-later
"""Digests of files: read once by a process, and again whenever they have changed."""

import hashlib
import os
from io import BufferedReader
from pathlib import Path

import pytest

from eascope.host import cache


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry per file that was read to its end."""
    reads: list[int] = []
    digest = hashlib.file_digest

    def counted(stream: BufferedReader, name: str) -> object:
        reads.append(1)
        return digest(stream, name)

    monkeypatch.setattr(hashlib, "file_digest", counted)
    return reads


def test_an_unchanged_file_is_read_once(
    tmp_path: Path, reads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "CLOCK_TICK_S", -1.0)
    path = tmp_path / "kernel"
    path.write_bytes(b"one")
    assert cache.sha256_file(path) == cache.sha256_file(path) == cache.sha256_bytes(b"one")
    assert len(reads) == 1
    path.write_bytes(b"two")
    os.utime(path, ns=(0, 1))
    assert cache.sha256_file(path) == cache.sha256_bytes(b"two")
    assert len(reads) == 2


def test_a_file_that_was_just_written_is_read_again(tmp_path: Path, reads: list[int]) -> None:
    """A second change within one tick of the file system's clock leaves the same times."""
    path = tmp_path / "kernel"
    for content in (b"one", b"two", b"ten"):
        path.write_bytes(content)
        os.utime(path, ns=(0, 0))
        assert cache.sha256_file(path) == cache.sha256_bytes(content)
    assert len(reads) == 3
