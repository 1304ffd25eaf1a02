# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5 as a process: started, listened to, watched, and always ended.

``engines/gem5/inside/run.py`` reports on stdout its progress, the time of each part, and its end.
All other output of gem5 goes to a log. The message of a failure shows the log's end.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from eascope.engines.base import EngineFailed
from eascope.engines.gem5.inside.request import Gem5Request
from eascope.engines.gem5.provider import SCRIPTS, find_gem5
from eascope.engines.process import PANIC, TAIL_LINES, Simulator, Spent, died, tail_lines

LOG = "gem5.log"
#: What the guest's console is called in gem5's folder.
TERMINAL = "system.terminal"
#: A disk with less than this left is full.
FULL_BYTES = 1 << 20

#: O3CPU allocates and frees several objects for each instruction; glibc keeps seven freed ones of a
#: size at hand by default; keeping more takes an eighth less processor time there.
#: Huge pages for the heap make what is read at an OPP change, all over it, a seventh cheaper.
MALLOC = "glibc.malloc.tcache_count=4000:glibc.malloc.hugetlb=1"

_WORD = b"eascope: "
#: gem5's own last words.
_DIED = re.compile(rb"^(?:\S+: )?((?:panic|fatal): .*)$", re.MULTILINE)
#: What it says whenever it goes on, and whenever a CPU falls asleep.
_NOISE = re.compile(r"info: Entering event queue|warn: PowerState: More than one power state")
_NO_SPACE = os.strerror(errno.ENOSPC).encode()


@dataclass
class Gem5Ended(Spent):
    """The last report of a run that reached its end.

    ``parts`` are host seconds by part, ``cpu_parts`` those of gem5's processor time; ``cause`` and
    ``text`` are how it ended.
    """

    parts: dict[str, float] = field(default_factory=dict)
    cpu_parts: dict[str, float] = field(default_factory=dict)
    cause: str = ""
    text: str = ""


class _Gem5(Simulator):
    """The running gem5 and its reports so far."""

    def __init__(self, folder: Path, log: BinaryIO) -> None:
        self.ended = Gem5Ended()
        super().__init__("gem5", self.ended)
        self.folder = folder
        self.log = log

    def line(self, line: bytes) -> bool:
        if not line.startswith(_WORD):
            self.log.write(line + b"\n")
            self.log.flush()
            return False
        word, _, rest = line.removeprefix(_WORD).decode(errors="replace").partition(" ")
        if word == "progress":
            return self.progress(rest)
        if word == "part":
            name, *spent = rest.split()
            for parts, seconds in zip(
                (self.ended.parts, self.ended.cpu_parts), map(float, spent), strict=True
            ):
                parts[name] = parts.get(name, 0.0) + seconds
            return True
        if word == "ended":
            self.ended.cause, _, self.ended.text = rest.partition(" ")
        return False

    def look(self) -> None:
        """Nothing: gem5 itself finds a guest's panic, by the kernel's symbols."""

    def failed(self, reason: str) -> EngineFailed:
        return EngineFailed(reason, tail_lines(self.folder / TERMINAL), log_tail(self.folder / LOG))

    def died(self, code: int) -> EngineFailed:
        """The error for a gem5 that ended without a report."""
        log = (self.folder / LOG).read_bytes()
        if _NO_SPACE in log or shutil.disk_usage(self.folder).free < FULL_BYTES:
            free = shutil.disk_usage(self.folder).free
            return self.failed(f"the disk is full: {self.folder.parent}: {free} bytes free")
        reasons = _DIED.findall(log)
        if not reasons:
            return self.failed(died("gem5", code))
        return self.failed(f"gem5 died: {reasons[-1].decode(errors='replace')}")

    def reason(self) -> str:
        """Why a run ended that did not end well."""
        cause, text = self.ended.cause, self.ended.text
        if cause == "fail":
            file = self.folder / "fail-reason"
            return file.read_text(errors="replace") if file.is_file() else f"the guest: {text}"
        if cause == "panic":
            try:
                panic = PANIC.search((self.folder / TERMINAL).read_bytes())
            except FileNotFoundError:
                panic = None
            return "guest panic: " + (panic.group().decode(errors="replace") if panic else text)
        if cause == "stall":
            return f"the guest hangs: {text}"
        return f"gem5: {text}" if cause == "fatal" else text


def log_tail(path: Path) -> list[str]:
    """The last lines of gem5's log, without those that it repeats at every step."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    # dict: each line once, where it came first.
    return list(dict.fromkeys(line for line in lines if line.strip() and not _NOISE.search(line)))[
        -TAIL_LINES:
    ]


def environment() -> dict[str, str]:
    """The environment of gem5; a person's own tunables of glibc stay as they are."""
    return {
        "GLIBC_TUNABLES": MALLOC,
        **os.environ,
        "LC_ALL": "C",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def supervise(
    request: Gem5Request,
    folder: Path,
    wanted: str,
    stall_s: float,
    on_progress: Callable[[float], None] | None,
) -> Gem5Ended:
    """Run gem5 in ``folder`` on ``request`` until it ends with the cause ``wanted``.

    :param stall_s: host seconds without simulated progress after which it is killed.
    :raises EngineFailed: when it ends in any other way.
    """
    asked = folder / "request.json"
    asked.write_text(json.dumps(request, indent=1, sort_keys=True))
    paths = [str(folder), str(SCRIPTS / "run.py"), str(asked)]
    command = [str(find_gem5()), "--listener-mode=off", "-d", *paths]
    with (folder / LOG).open("ab") as log:

        def start(writer: int) -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=writer,
                stderr=log,
                start_new_session=True,
                env=environment(),
            )

        gem5 = _Gem5(folder, log)
        code = gem5.supervise(start, stall_s, on_progress)
    if not gem5.ended.cause:
        raise gem5.died(code)
    if gem5.ended.cause != wanted:
        raise gem5.failed(gem5.reason())
    return gem5.ended
