# SPDX-License-Identifier: GPL-2.0-or-later
"""Claims: locks between machines that share a folder but not the kernel's locks.

A lock of the kernel (`host.scratch.locked`) is freed when its holder dies, but many shared file
systems keep it on one machine. So the holder of the lock ``PATH`` also makes the file
``PATH.claim-N`` and touches it every `BEAT_S`. A watcher knows that the holder is dead

* at once if the holder ran on this boot of this machine: its process is gone;
* otherwise if its claim was not touched during `LEASE_S` on the watcher's own clock. Clocks of two
  machines are never compared, and setting a clock to another time has no effect.

A successor makes the claim with the next number. Only one machine can make a file, so one of
several wins. It then looks again. If another claim has come meanwhile, it withdraws its own.
"""

from __future__ import annotations

import json
import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from eascope.host.scratch import left_over, locked

#: Between the name of a lock and the number of a claim.
MARK = ".claim-"
#: Seconds between two touches of a claim, and without one until its holder counts as dead. File
#: systems show another machine's touches late: on NFS by up to 60 s.
BEAT_S, LEASE_S = 15.0, 150.0
#: Seconds between two looks at a claim of another machine.
LOOK_S = 1.0


@dataclass(frozen=True)
class Holder:
    """The process that made a claim.

    :param host: the machine's name, for messages alone: several may have one.
    :param boot: of the machine, and of the processes that see each other (a container's).
    :param started: start of the process in clock ticks after the boot; process ids are reused.
    """

    host: str
    boot: str
    pid: int
    started: int


@dataclass
class LockClaim:
    """A claim's file as it was seen: its number, its text (unique), its last touch."""

    path: Path
    number: int
    text: str
    beat: int

    @property
    def holder(self) -> Holder | None:
        """Who made it; None: not written yet, or damaged."""
        try:
            fields = json.loads(self.text)
            return Holder(
                host=str(fields["host"]),
                boot=str(fields["boot"]),
                pid=int(fields["pid"]),
                started=int(fields["started"]),
            )
        except (ValueError, KeyError, TypeError, RecursionError):
            return None


@dataclass
class ClaimWatch:
    """Distinguishes dead holders from live ones by watching their claims.

    :param clock: seconds; one that only moves forward.
    """

    clock: Callable[[], float] = time.monotonic
    _seen: dict[str, tuple[int, float]] = field(default_factory=dict)

    def dead(self, claim: LockClaim) -> bool:
        """True if the holder of ``claim`` is dead, as far as this watcher knows by now."""
        holder = claim.holder
        if holder is not None and holder.boot == this_boot():
            return started_at(holder.pid) != holder.started
        now = self.clock()
        key = f"{claim.number} {claim.text}"
        beat, since = self._seen.setdefault(key, (claim.beat, now))
        if beat != claim.beat:
            self._seen[key] = (claim.beat, now)
            return False
        return now - since >= LEASE_S


@cache
def this_boot() -> str:
    """This boot of this machine, and the process ids that are valid here."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:  # no /proc: then only touches count
        return f"unknown {random.getrandbits(64):x}"


def started_at(pid: int) -> int | None:
    """When a process of this machine was started, in clock ticks after the boot; None: it is gone.

    A zombie counts as gone.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # After the name, which may have spaces and brackets itself.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else int(fields[19])


def claims_on(path: Path) -> list[LockClaim]:
    """The claims on the lock ``path``, by number."""
    pattern = re.compile(re.escape(f"{path.name}{MARK}") + r"(\d{1,9})")
    claims = []
    with suppress(FileNotFoundError):
        for name in os.listdir(path.parent):
            if match := pattern.fullmatch(name):
                claim = _read(path.parent / name, int(match[1]))
                claims += [claim] if claim else []
    return sorted(claims, key=lambda claim: claim.number)


def _read(path: Path, number: int) -> LockClaim | None:
    """A claim's file; None: it is gone. Opening it shows other machines' touches on NFS."""
    try:
        with path.open("rb") as stream:
            text = stream.read(4096).decode(errors="replace")
            return LockClaim(path, number, text, os.fstat(stream.fileno()).st_mtime_ns)
    except FileNotFoundError:
        return None


class _Beats:
    """Touches all claims of this process, in a thread that runs while there are any."""

    def __init__(self) -> None:
        self._claims: set[Path] = set()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, path: Path) -> None:
        with self._lock:
            self._claims.add(path)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, daemon=True, name="claims")
                self._thread.start()

    def remove(self, path: Path) -> None:
        with self._lock:
            self._claims.discard(path)

    def _run(self) -> None:
        while True:
            self._wake.wait(BEAT_S)
            with self._lock:
                paths = list(self._claims)
                if not paths:
                    self._thread = None
                    return
            for path in paths:
                # By the file server's clock. A claim that somebody took over is gone.
                with suppress(OSError):
                    os.utime(path)


_BEATS = _Beats()


@contextmanager
def claimed(
    path: Path, waiting: Callable[[], None], watch: ClaimWatch | None = None
) -> Iterator[None]:
    """Hold the claim on ``path``, whose lock the caller holds on this machine.

    :param waiting: called when a live holder has it, before we wait.
    """
    mine = _acquire(path, waiting, watch or ClaimWatch())
    _BEATS.add(mine)
    try:
        yield
    finally:
        _BEATS.remove(mine)
        mine.unlink(missing_ok=True)


def _acquire(path: Path, waiting: Callable[[], None], watch: ClaimWatch) -> Path:
    """Make the one claim on ``path``: its file."""
    told = False
    while True:
        claims = claims_on(path)
        if not all([watch.dead(claim) for claim in claims]):
            if not told:
                waiting()
                told = True
            time.sleep(LOOK_S)
            continue
        dead = {claim.text for claim in claims}
        mine = _make(path, max((claim.number for claim in claims), default=0) + 1)
        if mine is None:
            continue
        if all(claim.text in dead or claim.path == mine for claim in claims_on(path)):
            for claim in claims:
                claim.path.unlink(missing_ok=True)
            return mine
        mine.unlink(missing_ok=True)
        time.sleep(random.uniform(0.0, LOOK_S))


def _make(path: Path, number: int) -> Path | None:
    """Make the claim ``number``; None: another has made it."""
    file = path.with_name(f"{path.name}{MARK}{number}")
    pid = os.getpid()
    fields = {
        "host": os.uname().nodename,
        "boot": this_boot(),
        "pid": pid,
        "started": started_at(pid) or 0,
        "token": f"{random.getrandbits(64):016x}",
    }
    try:
        with file.open("x") as stream:
            stream.write(json.dumps(fields))
    except FileExistsError:
        return None
    except OSError:
        file.unlink(missing_ok=True)
        raise
    return file


@contextmanager
def locked_everywhere(path: Path, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock ``path`` on this machine, and the claim on it among all.

    :param waiting: called when another process holds it, before we wait.
    """
    with locked(path, waiting), claimed(path, waiting):
        yield


@contextmanager
def left_over_everywhere(path: Path) -> Iterator[bool]:
    """As `host.scratch.left_over`, and nobody on another machine has a claim on ``path`` either.

    Claims of dead processes are gone afterwards.
    """
    with left_over(path) as left:
        claims = claims_on(path) if left else []
        watch = ClaimWatch()
        if not all([watch.dead(claim) for claim in claims]):
            yield False
            return
        with claimed(path, lambda: None) if claims else nullcontext():
            yield left
