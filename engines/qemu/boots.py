# SPDX-License-Identifier: GPL-2.0-or-later
"""One boot for many runs: QEMU at its agent's barrier, which forks a run for each script.

Runs of one machine differ only in their script. The agent asks for the script at the end of the
boot, and there the plugin waits (``plugin/share.c``). A forked run continues exactly as its parent
would have, so its files have the same bytes as those of a run with its own boot.
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from eascope.engines.base import EngineFailed
from eascope.engines.process import Spent, died
from eascope.engines.qemu.process import QemuEnded, QemuProcess, QemuRun, ended_well
from eascope.engines.qemu.settings import RAW_COUNTERS
from eascope.engines.records import CONSOLE
from eascope.host.cache import digest_of, sha256_file

#: Machines that wait for runs, in one process; each takes 0.3 GB.
MAX_IDLE = 4
_ANSWER_BYTES = 256


class BootGone(EngineFailed):
    """The booted machine takes no script: it was killed while it waited."""

    def __init__(self) -> None:
        super().__init__("QEMU was killed between its boot and its run", [], [])


@dataclass
class Boot:
    """A machine that has booted.

    :param files: its console and counters up to then.
    :param ended: its reports up to then.
    """

    process: subprocess.Popen[bytes]
    control: socket.socket
    files: dict[str, bytes]
    ended: QemuEnded

    def run(self, run: QemuRun, script: Path) -> QemuEnded:
        """Go on with ``script``, the file of the run's, to the agent's EXIT.

        :raises BootGone: when the machine has not taken the script.
        :raises EngineFailed: when the run ends in any other way than by EXIT.
        """
        for name, data in self.files.items():
            (run.out / name).write_bytes(data)
        qemu = QemuProcess(run.out, run.log)
        qemu.ended.report.marks.extend(self.ended.report.marks)
        reader = self._fork(script, run.out, run.log)
        with qemu.timed():
            try:
                qemu.listen(reader, run.stall_s, run.on_progress)
            except BaseException:
                self.kill()
                raise
            finally:
                os.close(reader)
        return ended_well(qemu, self._ended(qemu))

    def _fork(self, script: Path, out: Path, log: Path) -> int:
        """Ask for the run; returns the descriptor that its lines come through."""
        reader, writer = os.pipe()
        given = [
            os.open(out, os.O_RDONLY | os.O_DIRECTORY),
            os.open(script, os.O_RDONLY),
            os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644),
            writer,
        ]
        try:
            socket.send_fds(self.control, [b"r"], given)
        except OSError as error:
            os.close(reader)
            self.kill()
            raise BootGone from error
        finally:
            for descriptor in given:
                os.close(descriptor)
        return reader

    def _ended(self, qemu: QemuProcess) -> int:
        """The run's exit code, as `subprocess` has it; its processor time goes into ``qemu``."""
        word, *rest = self.control.recv(_ANSWER_BYTES).decode().split() or [""]
        if word == "ended":
            qemu.ended.cpu_s = int(rest[1]) / 1e6
            return os.waitstatus_to_exitcode(int(rest[0]))
        code = self.process.wait() if word == "" else 0
        self.kill()
        raise qemu.failed(f"QEMU does not fork: {' '.join(rest)}" if rest else died("QEMU", code))

    def kill(self) -> None:
        """End the machine and a run of it."""
        self.control.close()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @property
    def spent(self) -> Spent:
        """What the boot took."""
        return self.ended


class Boots:
    """Machines that wait for their next run, the one that was used last at the end."""

    def __init__(self) -> None:
        self._idle: list[tuple[str, Boot]] = []
        self._lock = threading.Lock()

    def take(self, key: str) -> Boot | None:
        """One that waits; nobody else gets it meanwhile."""
        with self._lock:
            for i, (other, boot) in enumerate(self._idle):
                if other == key:
                    del self._idle[i]
                    return boot
        return None

    def give(self, key: str, boot: Boot) -> None:
        """Let it wait. Beyond `MAX_IDLE` machines, the one that waits longest is ended."""
        with self._lock:
            self._idle.append((key, boot))
            leaving = self._idle[:-MAX_IDLE]
            del self._idle[:-MAX_IDLE]
        for _, old in leaving:
            old.kill()

    def end(self) -> None:
        """End all that wait."""
        with self._lock:
            leaving, self._idle = self._idle, []
        for _, boot in leaving:
            boot.kill()


BOOTS = Boots()
atexit.register(BOOTS.end)


def _boot(run: QemuRun) -> Boot | QemuEnded:
    """Start QEMU until its agent asks for a script, or a guest without agent ends."""
    control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    qemu = QemuProcess(run.out, run.log)
    with qemu.timed():
        try:
            process, reader = qemu.started(
                lambda writer: run.start({"report": writer, "serve": theirs.fileno()})
            )
        except EngineFailed:
            control.close()
            raise
        finally:
            theirs.close()
        boot = Boot(process, control, {}, qemu.ended)
        try:
            qemu.listen(reader, run.stall_s, run.on_progress)
            answer = control.recv(_ANSWER_BYTES).decode().split()
        except BaseException:
            boot.kill()
            raise
        finally:
            os.close(reader)
    if not answer:
        control.close()
        return ended_well(qemu, process.wait())
    qemu.ended.cpu_s = int(answer[1]) / 1e6
    boot.files = {name: (run.out / name).read_bytes() for name in (CONSOLE, RAW_COUNTERS)}
    return boot


def _run_and_keep(key: str, boot: Boot, run: QemuRun, script: Path) -> QemuEnded:
    """`Boot.run`; afterwards the machine waits for its next run, also where a guest has failed."""
    try:
        return boot.run(run, script)
    finally:
        if boot.process.poll() is None:
            BOOTS.give(key, boot)


def run_shared(files: Sequence[Path], run: QemuRun) -> QemuEnded:
    """A run of a machine, from a boot that is there or a new one.

    The run that boots pays for it.

    :param files: the guest's files; their bytes and the run's command identify the machine.
    :raises EngineFailed: when it ends in any other way than by the agent's EXIT.
    """
    path = run.script_file()
    key = digest_of({"command": run.command, "files": [sha256_file(file) for file in files]})
    while (boot := BOOTS.take(key)) is not None:
        try:
            ended = _run_and_keep(key, boot, run, path)
        except BootGone:
            continue
        ended.shared_instructions = boot.spent.instructions
        return ended
    booted = _boot(run)
    if isinstance(booted, QemuEnded):
        return booted
    ended = _run_and_keep(key, booted, run, path)
    ended.host_s += booted.spent.host_s
    ended.cpu_s += booted.spent.cpu_s
    return ended
