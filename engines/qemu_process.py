"""QEMU as a process: started, listened to, watched, and never left behind.

The plugin sends lines through a pipe (progress, marks, the end). A guest that dies without a word
is found by what its console says, by the plugin (every CPU idle for good), or by the host's clock
when simulated time stands still.
"""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from engines.base import EngineFailed

CONSOLE = "console.log"
LOG = "qemu.log"
#: Lines of console and log that a failure shows.
TAIL_LINES = 15
#: How often the console is looked at and ``on_progress`` is called, in seconds.
POLL_S = 0.2

#: What a kernel says when it will not go on.
PANIC = re.compile(rb"Kernel panic - not syncing: .*|Internal error: .*|Unable to handle kernel .*")


@dataclass(frozen=True)
class Limits:
    """``stall_s``: host seconds without simulated progress."""

    stall_s: float


@dataclass
class Ended:
    """What the plugin said about a run that reached its end."""

    host_s: float = 0.0
    cpu_s: float = 0.0
    sim_ns: int = 0
    instructions: int = 0
    exit_code: int = 0
    marks: list[tuple[int, int, int]] = field(default_factory=list)
    transitions: dict[int, tuple[int, int]] = field(default_factory=dict)


class _Guest:
    """The running QEMU, what it has said so far, and why it failed if it did."""

    def __init__(self, out: Path, log: Path) -> None:
        self.out = out
        self.log = log
        self.ended = Ended()
        self.end: tuple[str, str] | None = None
        self._console_read = 0
        self._rest = b""

    def take(self, data: bytes) -> bool:
        """Take what came through the pipe; true when simulated time has moved."""
        moved = False
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            moved |= self._line(line.decode(errors="replace"))
        return moved

    def _line(self, line: str) -> bool:
        word, _, rest = line.partition(" ")
        if word == "progress":
            at, instructions = (int(value) for value in rest.split())
            moved = at > self.ended.sim_ns
            self.ended.sim_ns, self.ended.instructions = at, instructions
            return moved
        if word == "mark":
            ident, at, mono = (int(value) for value in rest.split())
            self.ended.marks.append((ident, at, mono))
        elif word == "dvfs":
            cluster, requested, completed = (int(value) for value in rest.split())
            self.ended.transitions[cluster] = (requested, completed)
        elif word == "end":
            kind, _, text = rest.partition(" ")
            self.end = (kind, text)
        return False

    def panic(self) -> str | None:
        """The kernel's last words, when the console has them."""
        try:
            with (self.out / CONSOLE).open("rb") as console:
                console.seek(max(0, self._console_read - 200))
                text = console.read()
                self._console_read = console.tell()
        except FileNotFoundError:
            return None
        found = PANIC.search(text)
        return found.group().decode(errors="replace").strip() if found else None

    def failed(self, reason: str) -> EngineFailed:
        """The error for ``reason``, with the ends of console and log."""
        return EngineFailed(reason, tail_lines(self.out / CONSOLE), tail_lines(self.log))


def tail_lines(path: Path) -> list[str]:
    """The last lines of a file that are not empty; none when it is not there."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return [line.rstrip() for line in lines if line.strip()][-TAIL_LINES:]


def supervise(
    command: list[str],
    out: Path,
    scratch: Path,
    limits: Limits,
    on_progress: Callable[[float], None] | None,
) -> Ended:
    """Run QEMU in ``out`` until its guest's agent says EXIT.

    QEMU gets its own session, so a Ctrl-C reaches this process alone, which then kills it; and when
    this process is killed, the plugin's next line finds no reader and QEMU ends by itself.

    :raises EngineFailed: when it ends in any other way.
    """
    log = scratch / LOG
    guest = _Guest(out, log)
    reader, writer = os.pipe()
    command = [*command[:-1], f"{command[-1]},report={writer}"]
    started = time.monotonic()
    try:
        with log.open("wb") as log_file:
            process = subprocess.Popen(
                command,
                cwd=out,
                stdin=subprocess.DEVNULL,
                stdout=log_file,
                stderr=subprocess.STDOUT,
                pass_fds=(writer,),
                start_new_session=True,
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
            )
    except OSError as error:
        os.close(reader)
        raise guest.failed(f"QEMU does not start: {error}") from error
    finally:
        os.close(writer)
    try:
        _listen(guest, reader, limits, on_progress)
    except BaseException:
        process.send_signal(signal.SIGKILL)
        raise
    finally:
        os.close(reader)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = code = os.waitstatus_to_exitcode(status)
    guest.ended.cpu_s = usage.ru_utime + usage.ru_stime
    guest.ended.host_s = time.monotonic() - started
    if guest.end is None:
        panic = guest.panic()
        raise guest.failed(f"guest panic: {panic}" if panic else f"QEMU died (exit code {code})")
    kind, text = guest.end
    if kind == "exit":
        guest.ended.exit_code, guest.ended.sim_ns = (int(value) for value in text.split())
        return guest.ended
    raise guest.failed(text if kind == "fail" else f"fast engine: {text}")


def _listen(
    guest: _Guest,
    reader: int,
    limits: Limits,
    on_progress: Callable[[float], None] | None,
) -> None:
    """Take QEMU's lines until it has ended, failed or stopped making progress."""
    moved_at = looked_at = time.monotonic()
    with selectors.DefaultSelector() as selector:
        selector.register(reader, selectors.EVENT_READ)
        while True:
            if selector.select(POLL_S):
                data = os.read(reader, 65536)
                if not data:
                    return
                if guest.take(data):
                    moved_at = time.monotonic()
            now = time.monotonic()
            if now - looked_at >= POLL_S:
                looked_at = now
                if on_progress is not None:
                    on_progress(guest.ended.sim_ns / 1e9)
                panic = guest.panic()
                if panic is not None and guest.end is None:
                    raise guest.failed(f"guest panic: {panic}")
            if now - moved_at > limits.stall_s:
                raise guest.failed(
                    f"no simulated progress for {limits.stall_s:.0f} s of host time "
                    f"(at {guest.ended.sim_ns / 1e9:.6f} simulated s): QEMU hangs"
                )
