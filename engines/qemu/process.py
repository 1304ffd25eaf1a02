# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU as a process: started, listened to, watched, and always ended.

The plugin sends lines through a pipe: progress, marks, the end. A guest may die without a message
to the plugin. Then its console shows it, or the plugin finds every CPU idle for good, or simulated
time stands still by the host's clock.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from eascope.engines.base import EngineFailed
from eascope.engines.process import PANIC, Simulator, Spent, died, tail_lines
from eascope.engines.qemu.command import quoted
from eascope.engines.qemu.report import EXIT, FAIL, Report
from eascope.engines.records import CONSOLE

LOG = "qemu.log"
SCRIPT = "script"


@dataclass(frozen=True, kw_only=True)
class QemuRun:
    """A run for QEMU.

    :param command: its command, the plugin's options last.
    :param script: the agent's script.
    :param out: the folder that the run fills.
    :param scratch: the folder of the log and the script.
    :param stall_s: host seconds without simulated progress after which it fails.
    :param on_progress: called with the simulated seconds so far.
    """

    command: list[str]
    script: bytes
    out: Path
    scratch: Path
    stall_s: float
    on_progress: Callable[[float], None] | None = None

    @property
    def log(self) -> Path:
        """QEMU's log."""
        return self.scratch / LOG

    def script_file(self) -> Path:
        """The script as a file."""
        path = self.scratch / SCRIPT
        path.write_bytes(self.script)
        return path

    def start(self, options: Mapping[str, int | str]) -> subprocess.Popen[bytes]:
        """Start QEMU in `out`.

        :param options: as for `start_qemu`.
        """
        return start_qemu(self.command, self.out, self.log, options)


@dataclass
class QemuEnded(Spent):
    """The plugin's last report of a run that reached its end.

    :param shared_instructions: those of a boot that another run has paid for.
    """

    exit_code: int = 0
    shared_instructions: int = 0
    report: Report = field(default_factory=Report)


class QemuProcess(Simulator):
    """A running QEMU, its reports so far, and the reason of a failure."""

    def __init__(self, out: Path, log: Path) -> None:
        self.ended = QemuEnded()
        super().__init__("QEMU", self.ended)
        self.out = out
        self.log = log
        self._console_read = 0

    def line(self, line: bytes) -> bool:
        """Progress, or what the report has."""
        word, _, rest = line.decode(errors="replace").partition(" ")
        if word == "progress":
            return self.progress(rest)
        self.ended.report.take(word, rest)
        return False

    def look(self) -> None:
        """For the words of a kernel that has died."""
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
        """With the ends of the guest's console and of QEMU's log."""
        return EngineFailed(reason, tail_lines(self.out / CONSOLE), tail_lines(self.log))


def start_qemu(
    command: list[str], out: Path, log: Path, options: Mapping[str, int | str]
) -> subprocess.Popen[bytes]:
    """QEMU in the folder ``out``.

    :param options: further options of the plugin: numbers are file descriptors, which QEMU
        inherits.
    """
    plugin = ",".join([command[-1], *(f"{name}={value}" for name, value in options.items())])
    with log.open("wb") as log_file:
        return subprocess.Popen(
            [*command[:-1], plugin],
            cwd=out,
            stdin=subprocess.DEVNULL,
            stdout=log_file,
            stderr=subprocess.STDOUT,
            pass_fds=[value for value in options.values() if isinstance(value, int)],
            start_new_session=True,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
        )


def ended_well(qemu: QemuProcess, code: int) -> QemuEnded:
    """The last report of a run that its agent's EXIT has ended.

    :param code: the process's exit code.
    :raises EngineFailed: when it ended in any other way.
    """
    end = qemu.ended.report.end
    if end is None:
        panic = qemu.panic()
        raise qemu.failed(f"guest panic: {panic}" if panic else died("QEMU", code))
    if end.kind == EXIT:
        qemu.ended.exit_code, qemu.ended.sim_ns = (int(value) for value in end.text.split())
        return qemu.ended
    raise qemu.failed(end.text if end.kind == FAIL else f"fast engine: {end.text}")


def run_alone(run: QemuRun) -> QemuEnded:
    """Boot QEMU for this run alone, until its guest's agent says EXIT.

    :raises EngineFailed: when it ends in any other way.
    """
    path = run.script_file()
    qemu = QemuProcess(run.out, run.log)
    code = qemu.supervise(
        lambda writer: run.start({"report": writer, "script": quoted(path.absolute())}),
        run.stall_s,
        run.on_progress,
    )
    return ended_well(qemu, code)
