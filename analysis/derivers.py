# SPDX-License-Identifier: GPL-2.0-or-later
"""Derivation in processes beside this one, so that each host core derives a run.

In one process it is one run at a time: most of it is Python, and polars can stop for ever when two
threads join tables at once on a busy host.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import IO

from eascope.analysis.derive import Derived, derive_each, is_derived
from eascope.analysis.records.cell import CellRecord
from eascope.configs.activity import Activity
from eascope.configs.platform import Platform
from eascope.host.errors import EascopeError
from eascope.power.model import PowerModel

Process = subprocess.Popen[bytes]
#: A run's folder, and what it is derived with; the record is that of the request.
What = tuple[Path, Platform, Activity, Sequence[PowerModel], CellRecord]


class Derivers:
    """Derives runs for several threads; each process is started when it is first needed."""

    def __init__(self, count: int) -> None:
        self.processes: list[Process] = []
        self._free: SimpleQueue[Process | None] = SimpleQueue()
        for _ in range(count):
            self._free.put(None)

    def __call__(self, *what: *What) -> list[Derived]:
        """As `derive_each` of the same arguments.

        :raises EascopeError: as there.
        """
        if is_derived(*what):
            return derive_each(*what)
        process = self._free.get()
        try:
            process = process or self._start()
            pickle.dump(what, _pipe(process.stdin))
            _pipe(process.stdin).flush()
            answer: list[Derived] | EascopeError = pickle.load(_pipe(process.stdout))
        except (EOFError, BrokenPipeError) as error:
            raise EascopeError(f"{what[0]}: the process that derived it has ended") from error
        finally:
            self._free.put(process)
        if isinstance(answer, EascopeError):
            raise answer
        return answer

    def _start(self) -> Process:
        # In a session of its own, because an interrupt is for this process, whose end ends it.
        process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "POLARS_MAX_THREADS": "1"},
            start_new_session=True,
        )
        self.processes.append(process)
        return process


@contextmanager
def derivers(count: int) -> Iterator[Derivers]:
    """`Derivers`, whose processes end with the context."""
    made = Derivers(count)
    try:
        yield made
    finally:
        for process in made.processes:
            process.communicate()


def _pipe(end: IO[bytes] | None) -> IO[bytes]:
    assert end is not None
    return end


def serve(asked: IO[bytes], answers: IO[bytes]) -> None:
    """Derive what is ``asked`` until its end."""
    while True:
        try:
            what = pickle.load(asked)
        except EOFError:
            return
        try:
            answer: list[Derived] | EascopeError = derive_each(*what)
        except EascopeError as error:
            answer = error
        try:
            pickle.dump(answer, answers)
            answers.flush()
        except BrokenPipeError:  # who asked has ended; what is left in the buffer cannot be flushed
            os._exit(0)


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
