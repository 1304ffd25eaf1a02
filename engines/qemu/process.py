# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU as a process: started, listened to, watched, and always ended.

The plugin sends lines through a pipe: progress, marks, the end. A guest may die without telling the
plugin. Then its console shows it, or the plugin finds every CPU idle for good, or simulated time
stands still by the host's clock.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from engines.base import EngineFailed
from engines.process import PANIC, Simulator, Spent, died, tail_lines
from engines.qemu.report import EXIT, FAIL, Report
from engines.qemu.settings import CONSOLE

LOG = "qemu.log"


@dataclass(frozen=True)
class Limits:
    """``stall_s``: host seconds without simulated progress."""

    stall_s: float


@dataclass
class QemuEnded(Spent):
    """What the plugin said about a run that reached its end."""

    exit_code: int = 0
    report: Report = field(default_factory=Report)


class _Qemu(Simulator):
    """The running QEMU, what it has said so far, and why it failed if it did."""

    def __init__(self, out: Path, log: Path) -> None:
        self.ended = QemuEnded()
        super().__init__("QEMU", self.ended)
        self.out = out
        self.log = log
        self._console_read = 0

    def line(self, line: bytes) -> bool:
        word, _, rest = line.decode(errors="replace").partition(" ")
        if word == "progress":
            return self.progress(rest)
        self.ended.report.take(word, rest)
        return False

    def look(self) -> None:
        panic = self.panic()
        if panic is not None and self.ended.report.end is None:
            raise self.failed(f"guest panic: {panic}")

    def panic(self) -> str | None:
        """The kernel's last words, when the console has them."""
        try:
            with (self.out / CONSOLE).open("rb") as console:
                console.seek(max(0, self._console_read - 200))
                text = console.read()
                self._console_read = console.tell()
        except FileNotFoundError:
            return None
        match = PANIC.search(text)
        return match.group().decode(errors="replace").strip() if match else None

    def failed(self, reason: str) -> EngineFailed:
        return EngineFailed(reason, tail_lines(self.out / CONSOLE), tail_lines(self.log))


def supervise(
    command: list[str],
    out: Path,
    scratch: Path,
    limits: Limits,
    on_progress: Callable[[float], None] | None,
) -> QemuEnded:
    """Run QEMU in ``out`` until its guest's agent says EXIT.

    :raises EngineFailed: when it ends in any other way.
    """
    log = scratch / LOG

    def start(writer: int) -> subprocess.Popen[bytes]:
        with log.open("wb") as log_file:
            return subprocess.Popen(
                [*command[:-1], f"{command[-1]},report={writer}"],
                cwd=out,
                stdin=subprocess.DEVNULL,
                stdout=log_file,
                stderr=subprocess.STDOUT,
                pass_fds=(writer,),
                start_new_session=True,
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
            )

    qemu = _Qemu(out, log)
    code = qemu.supervise(start, limits.stall_s, on_progress)
    end = qemu.ended.report.end
    if end is None:
        panic = qemu.panic()
        raise qemu.failed(f"guest panic: {panic}" if panic else died("QEMU", code))
    if end.kind == EXIT:
        qemu.ended.exit_code, qemu.ended.sim_ns = (int(value) for value in end.text.split())
        return qemu.ended
    raise qemu.failed(end.text if end.kind == FAIL else f"fast engine: {end.text}")
