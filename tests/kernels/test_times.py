# SPDX-License-Identifier: GPL-2.0-or-later
"""Estimates of builds: what the last ones of their kind took here."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernels import times
from kernels.source import Source
from kernels.worktree import FOLDER, LAYOUT, OUT, kept_objects

TOY = Source("6.12.0", "6.12.0-1", "0" * 64)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path))
    return tmp_path


def test_without_any_build_both_kinds_take_minutes() -> None:
    assert times.estimate_s(from_objects=True) == times.estimate_s(from_objects=False) > 60


def test_the_last_builds_of_a_kind_count() -> None:
    times.remember(from_objects=False, seconds=400)
    for seconds in (1_000, 13, 35, 20, 21, 22):
        times.remember(from_objects=True, seconds=seconds)
    assert times.estimate_s(from_objects=True) == 21, "the first is one too many"
    assert times.estimate_s(from_objects=False) == 400


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"from_objects_s": [1], "from_nothing_s": 3}']
)
def test_a_damaged_note_is_no_note(cache: Path, content: str) -> None:
    (cache / "kernel-times.json").write_text(content)
    assert times.estimate_s(from_objects=True) == times.FIRST_S
    times.remember(from_objects=True, seconds=7)
    assert times.estimate_s(from_objects=True) == 7


def test_a_build_starts_from_the_objects_of_its_source(cache: Path) -> None:
    home = cache / FOLDER
    assert not kept_objects(TOY)
    (home / "linux" / OUT).mkdir(parents=True)
    (home / "linux" / OUT / "vmlinux").touch()
    assert not kept_objects(TOY), "nobody says whose they are"
    (home / "tree.json").write_text(f'{{"layout": {LAYOUT}, "source": "{TOY.sha256}"}}')
    assert kept_objects(TOY)
    assert not kept_objects(Source("6.12.1", "6.12.1-1", "1" * 64))
    (home / "busy").touch()
    assert not kept_objects(TOY), "a build was killed there"
