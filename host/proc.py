# SPDX-License-Identifier: GPL-2.0-or-later
"""Subprocesses whose failure shows the command and the end of its log; progress lines."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType

from eascope.host.errors import EascopeError
from eascope.host.scratch import shared_locks

#: Lines of a failed command's log that are shown.
TAIL_LINES = 15


def tail(text: str) -> str:
    """The last `TAIL_LINES` non-empty lines of ``text``, indented by two spaces."""
    kept = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join("  " + line for line in kept[-TAIL_LINES:])


class CommandFailed(EascopeError):
    """A subprocess ended with an error; the message has its command and the end of its log."""

    def __init__(self, command: Sequence[str], code: int, log_text: str, label: str = "") -> None:
        self.command = list(command)
        self.code = code
        self.log_text = log_text
        head = f"{label}: " if label else ""
        super().__init__(
            f"{head}command failed with exit code {code}: {shlex.join(self.command)}\n"
            f"{tail(log_text)}"
        )


def need(program: str, package: str) -> str:
    """Path of ``program``, or an error that names the Debian package which has it."""
    path = shutil.which(program)
    if path is None:
        raise EascopeError(
            f"{program} is not installed: run: apt-get install {package} (or make setup)"
        )
    return path


def run(
    command: Sequence[str | Path],
    *,
    log: Path | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
    label: str = "",
    nice: int = 0,
) -> bytes:
    """Run ``command`` to its end.

    :param log: file that receives stdout and stderr together (appended); without it both are
        captured and stdout is returned.
    :param env: added to the environment; ``LC_ALL`` is always ``C``.
    :param nice: added niceness, so that long work leaves the host usable.
    :returns: stdout, or ``b""`` when it went to ``log``.
    :raises CommandFailed: on a non-zero exit.
    :raises EascopeError: when the program does not exist.
    """
    argv = [str(part) for part in command]
    full_env = {**os.environ, "LC_ALL": "C", **(env or {})}
    if nice:
        argv = ["nice", "-n", str(nice), *argv]
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
    try:
        with log.open("ab") if log is not None else nullcontext() as out:
            done = subprocess.run(
                argv,
                cwd=cwd,
                env=full_env,
                input=stdin,
                stdin=subprocess.DEVNULL if log is not None and stdin is None else None,
                stdout=subprocess.PIPE if out is None else out,
                stderr=subprocess.PIPE if out is None else subprocess.STDOUT,
                check=False,
                pass_fds=shared_locks(),
            )
    except FileNotFoundError as error:
        raise EascopeError(f"{argv[0]}: no such program ({error.strerror})") from error
    written = b"" if log is not None else done.stdout
    if done.returncode != 0:
        whole = log.read_bytes() if log is not None else written + done.stderr
        raise CommandFailed(argv, done.returncode, whole.decode(errors="replace"), label)
    return written


def say(text: str) -> None:
    """Print a line for the person who waits, on stderr so that stdout stays parseable."""
    print(text, file=sys.stderr, flush=True)


class Ending:
    """The end of a ``python -m`` command: one line for every known error.

    ``with Ending() as ending: ...``, then ``return ending.code``: 0, an error's exit code, or 130
    after an interrupt.
    """

    code = 0

    def __enter__(self) -> Ending:
        """Begin the command."""
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """Print an error in one line and keep its exit code."""
        if isinstance(error, EascopeError):
            say(f"error: {error}")
            self.code = error.exit_code
        elif isinstance(error, KeyboardInterrupt):
            say("interrupted; the same command continues")
            self.code = 130
        else:
            return False
        return True


class Step:
    """A named piece of long work: prints its start with an estimate, and its duration.

    >>> with Step("kernel base", estimate_s=240):
    ...     build()
    """

    def __init__(self, label: str, estimate_s: float | None = None, estimate: str = "") -> None:
        self.label = label
        self.estimate = about(estimate_s, estimate)
        self.started = 0.0

    def __enter__(self) -> Step:
        """Print the step's name and its usual duration."""
        self.started = time.monotonic()
        say(f"  {self.label} ...{f' ({self.estimate})' if self.estimate else ''}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Print its end and its duration."""
        word = "done" if error is None else "failed"
        say(f"  {self.label}: {word} in {duration(time.monotonic() - self.started)}")


def about(estimate_s: float | None, estimate: str = "") -> str:
    """``about 41 s``, or the words of an ``estimate`` that is no number; empty without either."""
    return estimate or (f"about {duration(estimate_s)}" if estimate_s else "")


def duration(seconds: float) -> str:
    """``41 s``, ``3 min 20 s``, ``1 h 05 min``."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
