# SPDX-License-Identifier: GPL-2.0-or-later
"""Scratch folders and locks: held while a process lives, known as left over when it was killed."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from eascope.host import scratch as module
from eascope.host.scratch import left_over, locked, scratch
from tests.support.waiting import HANG_S, until

HOLD = """
import sys, time
from pathlib import Path
from eascope.host.scratch import locked, scratch
root = Path(sys.argv[1])
with scratch(root, "work") as folder, locked(root / "lock"):
    (folder / "file").write_text("half")
    print(folder, flush=True)
    time.sleep(600)
"""

WORK = """
import sys
from pathlib import Path
from eascope.host.proc import run
from eascope.host.scratch import locked
root = Path(sys.argv[1])
with locked(root / "lock", shared=True):
    run(["sh", "-c", f"echo > {root}/works; read line < {root}/end"], log=root / "log")
"""


def settle(path: Path) -> None:
    """As if it had been made two minutes ago."""
    at = path.stat().st_mtime - 2 * module.SETTLED_S
    os.utime(path, (at, at))


def is_left_over(path: Path) -> bool:
    with left_over(path) as is_left:
        return is_left


def test_scratch_is_removed_or_renamed(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), scratch(tmp_path, "a") as folder:  # noqa: PT012 - inside
        (folder / "file").write_text("")
        raise KeyboardInterrupt
    with scratch(tmp_path, "b") as folder:
        (folder / "file").write_text("")
        folder.rename(tmp_path / "b")
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    assert (tmp_path / "b" / "file").is_file()


def test_a_folder_of_a_live_process_is_not_left_over(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        folder = Path(child.stdout.readline().strip())
        paths = [folder, tmp_path / "lock"]
        try:
            for path in paths:
                settle(path)
            assert [is_left_over(path) for path in paths] == [False, False]
        finally:
            child.send_signal(signal.SIGKILL)
    assert folder.is_dir()
    assert [is_left_over(path) for path in paths] == [True, True]


def test_a_new_folder_is_not_left_over(tmp_path: Path) -> None:
    """Its process may not hold it yet."""
    folder = tmp_path / "young"
    folder.mkdir()
    assert not is_left_over(folder)
    settle(folder)
    assert is_left_over(folder)
    shutil.rmtree(folder)
    assert not is_left_over(folder)


def test_a_lock_whose_file_was_removed_is_taken_anew(tmp_path: Path) -> None:
    """Two processes never hold one lock, though a third removed its file between them."""
    lock = tmp_path / "lock"
    inside: list[str] = []
    entered, leave = threading.Event(), threading.Event()

    opened = threading.Event()

    def second() -> None:
        with locked(lock, opened.set):
            inside.append("second")
            entered.set()
            leave.wait(HANG_S)

    waiting = threading.Event()

    def third() -> None:
        with locked(lock, waiting.set):
            inside.append("third")

    with locked(lock):
        # The second opens the file that is removed while it waits for it.
        started = threading.Thread(target=second)
        started.start()
        assert opened.wait(HANG_S)
        lock.unlink()
    assert entered.wait(HANG_S)
    last = threading.Thread(target=third)
    last.start()
    assert waiting.wait(HANG_S), "the second holds the file that has the name now"
    assert inside == ["second"]
    leave.set()
    started.join(HANG_S)
    last.join(HANG_S)
    assert inside == ["second", "third"]


def test_a_program_keeps_its_killed_parents_shared_lock(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "end")
    parent = subprocess.Popen([sys.executable, "-c", WORK, str(tmp_path)])
    until((tmp_path / "works").exists, "the start of the program")
    parent.kill()
    parent.wait()
    waiting, inside = threading.Event(), threading.Event()

    def take() -> None:
        with locked(tmp_path / "lock", waiting.set):
            inside.set()

    thread = threading.Thread(target=take)
    thread.start()
    assert waiting.wait(HANG_S), "the lock is free while the program works"
    assert not inside.is_set()
    (tmp_path / "end").write_text("\n")
    thread.join(HANG_S)
    assert inside.is_set()


def test_a_lock_is_shared_only_while_it_is_held(tmp_path: Path) -> None:
    assert module.shared_locks() == ()
    with locked(tmp_path / "one"):
        assert module.shared_locks() == ()
        with locked(tmp_path / "two", shared=True):
            (descriptor,) = module.shared_locks()
            assert os.path.samestat(os.fstat(descriptor), (tmp_path / "two").stat())
        assert module.shared_locks() == ()
