# SPDX-License-Identifier: GPL-2.0-or-later
"""A simulator as a process: started, listened to, watched, and always ended.

A simulator writes lines into a pipe: its progress, and other facts for its engine. Each engine
reads its own lines. This module has the common part: it checks that simulated time moves and that
the process ends, and measures the host's time.
"""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from eascope.engines.base import EngineFailed

#: Lines of console and log that a failure shows.
TAIL_LINES = 15
#: How often the console is looked at and ``on_progress`` is called, in seconds.
POLL_S = 0.2
#: Between two looks so much time passes only where nobody was there to look.
SUSPENDED_S = 10.0

#: What a kernel says when it will not go on.
PANIC = re.compile(rb"Kernel panic - not syncing: .*|Internal error: .*|Unable to handle kernel .*")


@dataclass
class Spent:
    """Costs of a run: host and processor seconds, simulated ns, instructions."""

    host_s: float = 0.0
    cpu_s: float = 0.0
    sim_ns: int = 0
    instructions: int = 0


class Simulator(ABC):
    """A running simulator and its reports so far.

    :param name: for messages.
    :param spent: filled while it runs.
    """

    def __init__(self, name: str, spent: Spent) -> None:
        self.name = name
        self._spent = spent
        self._rest = b""

    def take(self, data: bytes) -> bool:
        """Take what came through the pipe; true when the simulator has got further."""
        moved = False
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            moved |= self.line(line)
        return moved

    def progress(self, text: str) -> bool:
        """``text`` has simulated ns and instructions; true when simulated time has moved."""
        at, instructions = (int(value) for value in text.split())
        moved = at > self._spent.sim_ns
        self._spent.sim_ns, self._spent.instructions = at, instructions
        return moved

    @abstractmethod
    def line(self, line: bytes) -> bool:
        """Take one line; true when the simulator has got further."""

    @abstractmethod
    def failed(self, reason: str) -> EngineFailed:
        """The error for ``reason``, with the ends of console and log."""

    @abstractmethod
    def look(self) -> None:
        """Look, every `POLL_S`, for events that the pipe does not report.

        :raises EngineFailed: when the guest has died without a word.
        """

    def supervise(
        self,
        start: Callable[[int], subprocess.Popen[bytes]],
        stall_s: float,
        on_progress: Callable[[float], None] | None,
    ) -> int:
        """Run the process to its end and return its exit code.

        The simulator must have its own session, so that a Ctrl-C reaches this process alone, which
        then kills it. If this process is killed, the simulator's next line finds no reader, and it
        ends by itself.

        :param start: starts the process, which writes its lines to the given file descriptor.
        :param stall_s: host seconds without simulated progress after which it is killed.
        :raises EngineFailed: when it does not start, makes no progress, or `look` says so.
        """
        started = time.monotonic()
        process, reader = self.started(start)
        try:
            self.listen(reader, stall_s, on_progress)
        except BaseException:
            # Popen would first look whether it has ended, and so take its end from us.
            os.kill(process.pid, signal.SIGKILL)
            raise
        finally:
            os.close(reader)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self._spent.cpu_s = usage.ru_utime + usage.ru_stime
        self._spent.host_s = time.monotonic() - started
        return process.returncode

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Within, host time counts as spent."""
        started = time.monotonic()
        yield
        self._spent.host_s = time.monotonic() - started

    def started(
        self, start: Callable[[int], subprocess.Popen[bytes]]
    ) -> tuple[subprocess.Popen[bytes], int]:
        """The process, and the descriptor that its lines come through.

        :raises EngineFailed: when it does not start.
        """
        reader, writer = os.pipe()
        try:
            return start(writer), reader
        except OSError as error:
            os.close(reader)
            raise self.failed(f"{self.name} does not start: {error}") from error
        finally:
            os.close(writer)

    def listen(
        self, reader: int, stall_s: float, on_progress: Callable[[float], None] | None
    ) -> None:
        """Take lines until nobody has the pipe's other end, or there is no more progress.

        Time in which this process was stopped itself, or the machine suspended, does not count.

        :raises EngineFailed: when simulated time does not move, or `look` says so.
        """
        moved_at = looked_at = awake_at = time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(reader, selectors.EVENT_READ)
            while True:
                if selector.select(POLL_S):
                    data = os.read(reader, 65536)
                    if not data:
                        self._tell(on_progress)
                        return
                    if self.take(data):
                        moved_at = time.monotonic()
                now = time.monotonic()
                if now - awake_at > SUSPENDED_S:
                    moved_at += now - awake_at
                awake_at = now
                if now - looked_at >= POLL_S:
                    looked_at = now
                    self._tell(on_progress)
                    self.look()
                if now - moved_at > stall_s:
                    raise self.failed(
                        f"no simulated progress for {stall_s:.0f} s of host time "
                        f"(at {self._spent.sim_ns / 1e9:.6f} simulated s): {self.name} hangs"
                    )

    def _tell(self, on_progress: Callable[[float], None] | None) -> None:
        if on_progress is not None:
            on_progress(self._spent.sim_ns / 1e9)


def tail_lines(path: Path) -> list[str]:
    """The last lines of a file that are not empty; none when it is not there."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return [line.rstrip() for line in lines if line.strip()][-TAIL_LINES:]


def died(name: str, code: int) -> str:
    """The end of a process that gave no reason: by a signal, if ``code`` is negative.

    :param name: of the program, for the message.
    """
    if code >= 0:
        return f"{name} died (exit code {code})"
    signal_name = signal.strsignal(-code) or "unknown"
    memory = ": the host may be out of memory" if -code == signal.SIGKILL else ""
    return f"{name} was killed by signal {-code} ({signal_name}){memory}"
