# SPDX-License-Identifier: GPL-2.0-or-later
"""Claims on locks that the file system keeps on one machine: one holder, and dead ones found."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from eascope.host import claims
from eascope.host.claims import (
    ClaimWatch,
    claimed,
    claims_on,
    left_over_everywhere,
    locked_everywhere,
    started_at,
    this_boot,
)
from tests.support.waiting import HANG_S, until

#: Workers count in a file what no two of them may do at once. They do not lock: as on machines
#: whose file system keeps locks local.
WORK = """
import os, sys, time
from pathlib import Path
from eascope.host import claims
claims.LOOK_S = 0.01
root = Path(sys.argv[1])
with claims.claimed(root / "lock", lambda: None):
    os.close(os.open(root / "inside", os.O_CREAT | os.O_EXCL))
    time.sleep(0.02)
    os.unlink(root / "inside")
    with (root / "did").open("a") as stream:
        stream.write("x")
"""
HOLD = """
import sys, time
from pathlib import Path
from eascope.host.claims import locked_everywhere
with locked_everywhere(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def foreign(lock: Path, number: int = 1, **changes: object) -> Path:
    """A claim that a process of another machine made."""
    fields = {"host": "other", "boot": "b", "pid": 1, "started": 1, "token": f"{number}", **changes}
    path = lock.with_name(f"{lock.name}{claims.MARK}{number}")
    path.write_text(json.dumps(fields))
    return path


@contextmanager
def holding(lock: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds ``lock`` until it is killed."""
    command = [sys.executable, "-c", HOLD, str(lock)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        try:
            yield child
        finally:
            child.kill()


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_no_two_are_inside_without_the_kernels_locks(tmp_path: Path) -> None:
    workers = [subprocess.Popen([sys.executable, "-c", WORK, str(tmp_path)]) for _ in range(8)]
    assert [worker.wait(HANG_S) for worker in workers] == [0] * 8
    assert (tmp_path / "did").read_text() == "x" * 8
    assert claims_on(tmp_path / "lock") == []


def test_a_killed_process_of_this_machine_is_known_at_once(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with holding(lock) as child:
        (claim,) = claims_on(lock)
        assert claim.holder is not None
        assert claim.holder.pid == child.pid
        assert not ClaimWatch().dead(claim)
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert ClaimWatch().dead(claim)
    waited: list[str] = []
    with locked_everywhere(lock, lambda: waited.append("")):
        assert [item.number for item in claims_on(lock)] == [2]
    assert waited == []
    assert claims_on(lock) == []


def test_a_process_id_that_is_used_again_is_another_process(tmp_path: Path) -> None:
    boot, pid = this_boot(), os.getpid()
    started = started_at(os.getpid())
    assert started is not None
    foreign(tmp_path / "a", boot=boot, pid=pid, started=started - 1)
    foreign(tmp_path / "b", boot=boot, pid=pid, started=started)
    assert [ClaimWatch().dead(claim) for claim in claims_on(tmp_path / "a")] == [True]
    assert [ClaimWatch().dead(claim) for claim in claims_on(tmp_path / "b")] == [False]


def test_a_process_nobody_has_waited_for_is_gone() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    until(lambda: started_at(child.pid) is None, "the process's end")
    child.wait()


def test_another_machine_is_dead_when_nobody_has_touched_its_claim(tmp_path: Path) -> None:
    path, clock = foreign(tmp_path / "lock"), Clock()
    watch = ClaimWatch(clock)

    def dead() -> bool:
        (claim,) = claims_on(tmp_path / "lock")
        return watch.dead(claim)

    assert not dead()
    clock.now = claims.LEASE_S - 1
    assert not dead()
    os.utime(path, ns=(1, 1))  # a touch, by whatever clock
    assert not dead()
    clock.now += claims.LEASE_S - 1
    assert not dead()
    clock.now += 1
    assert dead()


@pytest.mark.parametrize("at", [0, 4e9])
def test_no_clocks_are_compared(at: float, tmp_path: Path) -> None:
    """Neither a claim of 1970 nor one of 2096 says anything by its time."""
    path = foreign(tmp_path / "lock")
    os.utime(path, (at, at))
    assert [ClaimWatch().dead(claim) for claim in claims_on(tmp_path / "lock")] == [False]


@pytest.mark.parametrize("text", ["", "[]", "{", "7", '{"host": 1}', "[" * 5000, "\0" * 9999])
def test_a_damaged_claim_is_of_another_machine(text: str, tmp_path: Path) -> None:
    path, clock = foreign(tmp_path / "lock"), Clock()
    path.write_text(text)
    (claim,) = claims_on(tmp_path / "lock")
    assert claim.holder is None
    watch = ClaimWatch(clock)
    assert not watch.dead(claim)
    clock.now = claims.LEASE_S
    assert watch.dead(claim)


def test_a_taken_over_claim_is_waited_for_and_then_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "LOOK_S", 0.01)
    lock, clock = tmp_path / "lock", Clock()
    foreign(lock, 7)
    waiting, inside = threading.Event(), threading.Event()

    def take() -> None:
        with claimed(lock, waiting.set, ClaimWatch(clock)):
            inside.set()

    thread = threading.Thread(target=take)
    thread.start()
    assert waiting.wait(HANG_S)
    assert not inside.is_set()
    clock.now = claims.LEASE_S
    assert inside.wait(HANG_S)
    thread.join(HANG_S)
    assert list(tmp_path.iterdir()) == []


def test_one_who_finds_another_claim_withdraws_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two take over from a dead holder; the slower one judged a claim that is long gone."""
    monkeypatch.setattr(claims, "LOOK_S", 0.01)
    lock, clock = tmp_path / "lock", Clock()
    old = foreign(lock, 1)
    real = claims._make
    seen: list[list[int]] = []

    def make(path: Path, number: int) -> Path | None:
        if not seen:  # meanwhile another machine took over, ended, and a third has begun
            old.unlink()
            foreign(lock, 1, token="third")
        result = real(path, number)
        seen.append([claim.number for claim in claims_on(lock)])
        return result

    monkeypatch.setattr(claims, "_make", make)
    waited = threading.Event()

    def third_ends() -> None:
        waited.set()
        lock.with_name(f"lock{claims.MARK}1").unlink()

    clock.now = 0.0
    watch = ClaimWatch(clock)
    (claim,) = claims_on(lock)
    watch.dead(claim)
    clock.now = claims.LEASE_S
    with claimed(lock, third_ends, watch):
        assert waited.is_set(), "it waited for the third"
    assert seen[0] == [1, 2]


def test_a_holder_touches_its_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "BEAT_S", 0.01)
    lock = tmp_path / "lock"
    with locked_everywhere(lock):
        (claim,) = claims_on(lock)
        os.utime(claim.path, ns=(1, 1))
        until(lambda: claims_on(lock)[0].beat != 1, "a touch")
        assert time.time_ns() - claims_on(lock)[0].beat < 3600e9


def test_what_another_machine_holds_is_not_left_over(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with locked_everywhere(lock):
        pass
    os.utime(lock, (0, 0))
    claim = foreign(lock)
    with left_over_everywhere(lock) as free:
        assert not free
    foreign(lock, boot=this_boot(), pid=2**22 + 1)  # no process has that id
    with left_over_everywhere(lock) as free:
        assert free
    assert not claim.exists()


def test_a_full_disk_leaves_no_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("json.dumps", full)
    with pytest.raises(OSError, match="No space"), claimed(tmp_path / "lock", lambda: None):
        pass
    assert list(tmp_path.iterdir()) == []
