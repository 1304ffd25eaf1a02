# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope gc``: what it lists, what it removes, and what it never touches."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from eascope.configs.platform import Platform
from eascope.engines.base import EngineFailed
from eascope.experiments.runs import store
from eascope.experiments.runs.finished import derived_by
from eascope.experiments.runs.leftovers import KINDS, leftovers, remove
from eascope.experiments.runs.store import Run, all_runs, execute
from eascope.host.cache import MANIFEST, artefact, cache_root, runs_root, write_atomic
from eascope.host.errors import EascopeError
from eascope.host.scratch import SETTLED_S, locked, scratch
from tests.support.command import json_inside, output_of, refused
from tests.support.fake import KEY, badly, cell
from tests.support.synthetic import playback, write_run

ALL = tuple(KINDS)


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EASCOPE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))


def age(path: Path, days: float = 0.0) -> None:
    """As if it had been written so many days and two minutes ago."""
    at = time.time() - days * 86_400 - 2 * SETTLED_S
    os.utime(path, (at, at))


def age_all(root: Path) -> None:
    for path in root.rglob("*"):
        if not path.is_symlink():
            age(path)


def kinds_and_names(*kinds: str, days: float = 0) -> list[tuple[str, str]]:
    return [(leftover.kind, leftover.path.name) for leftover in leftovers(kinds or ALL, days)]


def killed_run() -> Path:
    """What a process leaves that was killed while it simulated."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.fake", "forever"], stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        age_all(runs_root())
        assert kinds_and_names("temporary", "locks") == [], "it lives"
        child.send_signal(signal.SIGKILL)
    (left,) = runs_root().glob(".*.tmp-*")
    return left


def test_what_a_killed_process_leaves() -> None:
    left = killed_run()
    assert kinds_and_names() == [("temporary", left.name), ("locks", KEY)]
    [entry, _] = leftovers(ALL, 0)
    assert entry.size == sum(file.stat().st_size for file in left.rglob("*") if file.is_file()) > 0
    assert [remove(leftover) for leftover in leftovers(ALL, 0)] == [True, True]
    assert kinds_and_names() == []
    assert execute(cell()).state == "done"


def test_an_entry_in_use_is_neither_listed_nor_removed() -> None:
    runs_root().mkdir()
    kind = cache_root() / "kernel"
    kind.mkdir(parents=True)
    with scratch(kind, "ab" * 16) as folder, locked(kind / f".{'ab' * 16}.lock"):
        age_all(kind)
        assert kinds_and_names() == []
    folder.mkdir()  # as a killed process leaves it
    age(folder)
    [entry] = leftovers(("temporary",), 0)
    with locked(kind / f".{'ab' * 16}.lock"):  # and another builds the same now
        assert not remove(entry)
        assert folder.is_dir()


def test_failed_and_broken_runs_go_and_finished_stay() -> None:
    good = execute(cell())
    with pytest.raises(EascopeError, match="guest panic"):
        execute(cell(badly, key="cd" * 32))
    broken = execute(cell(key="ef" * 32))
    (broken.path / "done").unlink()
    age_all(runs_root())
    assert sorted(kinds_and_names("failed")) == [("failed", "cd" * 32), ("failed", "ef" * 32)]
    assert all(remove(leftover) for leftover in leftovers(ALL, 0))
    assert [run.path for run in all_runs()] == [good.path]


def test_a_run_whose_trace_was_full_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the next command would begin with the size that did not suffice."""
    monkeypatch.setattr(store, "_has_larger", lambda cell: False)

    def full(on_progress: Callable[[float], None] | None) -> None:
        raise EngineFailed("the trace ring buffer of cpu 3 was too small", [], [])

    with pytest.raises(EascopeError, match="too small"):
        execute(cell(full))
    age_all(runs_root())
    assert kinds_and_names("failed") == []


def test_a_failed_run_that_is_tried_again_is_in_use() -> None:
    with pytest.raises(EascopeError, match="guest panic"):
        execute(cell(badly))
    age_all(runs_root())
    assert kinds_and_names("failed") == [("failed", KEY)]
    with locked(runs_root() / ".locks" / KEY):
        assert kinds_and_names("failed") == []


def test_tables_of_another_version_go(juno: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    path = runs_root() / KEY
    write_run(path, juno, playback("mainline", 0))
    with monkeypatch.context() as patch:
        patch.setattr("eascope.analysis.derive.analysis_version", lambda: "an older one")
        old = derived_by(Run(path), "published").path
    new = derived_by(Run(path), "published").path
    assert old != new
    for folder in (old, new):
        age(folder, days=3)
    assert kinds_and_names("derived", days=4) == []
    assert kinds_and_names("derived", days=2) == [("derived", old.name)]
    assert all(remove(leftover) for leftover in leftovers(("derived",), 2))
    assert [folder.name for folder in new.parent.iterdir()] == [new.name]


def test_old_comparisons_and_unused_artefacts_go() -> None:
    for name in ("old", "new"):
        (runs_root() / "comparisons" / name).mkdir(parents=True)
    age(runs_root() / "comparisons" / "old", days=31)

    def make(name: str) -> Path:
        return artefact("thing", {"a": name}, lambda work: write_atomic(work / "x", name.encode()))

    old, used = make("old"), make("used")
    age_all(cache_root())
    for folder in (old, used):
        age(folder, days=31)
    assert make("used") == used, "its use is remembered"
    assert kinds_and_names("comparisons", "cache", days=30) == [
        ("comparisons", "old"),
        ("cache", old.name),
    ]
    (used / MANIFEST).unlink()
    assert ("cache", used.name) in kinds_and_names("cache", days=30), "it is of no use to anybody"


def test_the_command_lists_and_removes_when_asked() -> None:
    left = killed_run()
    out = output_of("gc")
    assert "temporary  0.0 MB" in out
    assert "\nto remove: 1 entry of 0.0 MB and 1 lock file that no process holds\n" in out
    assert "nothing removed; eascope gc --remove removes these" in out
    assert left.is_dir()
    [lock] = json_inside("gc", "locks")
    assert (lock["kind"], lock["removed"]) == ("locks", False)
    out = output_of("gc", "--remove")
    assert "\nremoved: 1 entry of 0.0 MB and 1 lock file that no process holds\n" in out
    assert output_of("gc") == "nothing to remove\n"
    assert not left.exists()
    assert "unknown kind 'lokcs' (did you mean locks?)" in refused("gc", "lokcs")
