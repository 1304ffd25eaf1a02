# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign's ledger: a line for each cell that was run for it, in one file per job.

Run folders are the state. The ledger names the folder and the cost of each cell, so that no command
opens 100 000 folders: a cell is done if its line says so and its folder exists. Each job appends to
its own file, because appends of several machines to one file of a shared folder get mixed up.

Every line ends with a check, a digest of the rest of it. A line that is lost, is damaged, or comes
from a version without checks does not count; it costs a look for the run of its cell.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, get_type_hints

from eascope.experiments.runs.store import SIMKEY
from eascope.host.cache import runs_root
from eascope.host.errors import EascopeError, RequestError
from eascope.host.record import Record

DONE, FAILED = "done", "failed"
SUFFIX = ".jsonl"
#: Digits of a check, and the length of the end of a line, which has it.
_DIGITS = 16
_END = len(b',"check":"') + _DIGITS + len(b'"}')
#: Seconds, MIPS, MiB and KiB are at most this.
_MOST = 1e15


@dataclass(frozen=True)
class LedgerLine(Record):
    """The outcome of one cell.

    :param cell: see `experiments.sweeps.resolver`.
    :param host_s: host seconds of the simulation, ``cpu_s`` their processor time.
    :param core_s: processor seconds of all: preparation, simulation and tables; the first cell of a
        job has those of the job's start, too. 0 in lines of earlier versions.
    :param peak_mib: the largest process of its job.
    :param disk_kib: of the run's folder with its derived tables.
    """

    cell: str
    state: str
    simkey: str = ""
    cause: str = ""
    host_s: float = 0.0
    cpu_s: float = 0.0
    core_s: float = 0.0
    sim_s: float = 0.0
    mips: float = 0.0
    peak_mib: int = 0
    disk_kib: int = 0

    @property
    def spent_s(self) -> float:
        """``core_s``, or what a line of an earlier version has."""
        return self.core_s or self.host_s

    def to_bytes(self) -> bytes:
        """One line, with its check."""
        body = json.dumps(self.encode(), separators=(",", ":"), sort_keys=True).encode()[:-1]
        return body + _end(body) + b"\n"


#: The types of a line's values in JSON, by key; a number may be whole.
_OF_JSON: dict[type, tuple[type, ...]] = {str: (str,), int: (int,), float: (float, int)}
_HINTS = get_type_hints(LedgerLine)
_JSON = json.JSONDecoder().decode
_KINDS = {entry.name: _OF_JSON[_HINTS[entry.name]] for entry in fields(LedgerLine)}


def _end(body: bytes) -> bytes:
    """The end of a line that begins with ``body``: its check."""
    return b',"check":"%s"}' % sha256(body).hexdigest()[:_DIGITS].encode()


def campaigns_root() -> Path:
    """``runs/campaigns``."""
    return runs_root() / "campaigns"


def folder_of(name: str) -> Path:
    """The folder of a campaign."""
    return campaigns_root() / name


def platforms_folder() -> Path:
    """The files of derived platforms, of all campaigns."""
    return campaigns_root() / "platforms"


def ledger_folder(name: str) -> Path:
    """The files of a campaign's ledger."""
    return folder_of(name) / "ledger"


class LedgerFile:
    """The file to which one job appends."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = path.open("a+b", buffering=0)
        if (size := path.stat().st_size) and os.pread(self._stream.fileno(), 1, size - 1) != b"\n":
            self._stream.write(b"\n")  # ends the line that a killed job left incomplete

    def add(self, line: LedgerLine) -> None:
        """Append ``line`` in one write."""
        self._stream.write(line.to_bytes())

    def close(self) -> None:
        """End the file."""
        self._stream.close()


def read_lines(paths: Iterable[Path]) -> Iterator[LedgerLine]:
    """The lines of ``paths`` that match their checks."""
    for path in paths:
        try:
            data = path.read_bytes()
        except OSError:
            continue
        for text in data.split(b"\n"):
            if (line := _line(text)) is not None:
                yield line


def _line(text: bytes) -> LedgerLine | None:
    body = text[:-_END]
    if not body or text[-_END:] != _end(body):
        return None
    values = _values(body + b"}")
    if values is None:
        return None
    # As `LedgerLine(**values)`, which takes longer than to parse the line: keys are fields, and
    # defaults are those of the class.
    line = object.__new__(LedgerLine)
    line.__dict__.update(values)
    known = SIMKEY.fullmatch(line.simkey) or (line.state == FAILED and not line.simkey)
    return line if known else None


def _values(text: bytes) -> dict[str, Any] | None:
    """The values of a line without its check, each of its type and range; None: anything else.

    `host.record` takes four times as long as all else of a line, of which surveys read 100 000.
    """
    try:
        values = _JSON(text.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict) or "cell" not in values:
        return None
    if values.get("state") not in (DONE, FAILED):
        return None
    for key, value in values.items():
        kinds = _KINDS.get(key, ())
        if type(value) not in kinds or (str not in kinds and not 0 <= value <= _MOST):
            return None
    return values


def problems_of(name: str) -> list[str]:
    """Lines of a campaign's ledger that are not as they were written, in words.

    A line of a version without checks is none: nothing says how it was written.
    """
    problems = []
    for path in sorted(ledger_folder(name).glob(f"*{SUFFIX}")):
        try:
            texts = path.read_bytes().split(b"\n")
        except OSError as error:
            problems.append(f"{path}: {error.strerror}: its cells are looked up anew")
            continue
        problems += [
            f"{path}: line {number} does not match its check: it is not used, and its cell is "
            "looked up anew"
            for number, text in enumerate(texts, 1)
            if text and _line(text) is None and _values(text) is None
        ]
    return problems


def ledgers() -> list[str]:
    """Names of the campaigns that have a ledger, sorted."""
    return sorted(path.parent.name for path in campaigns_root().glob("*/ledger") if path.is_dir())


def read_ledger(name: str) -> dict[str, LedgerLine]:
    """The last line on each cell of a campaign, by cell id; ``done`` is final."""
    lines: dict[str, LedgerLine] = {}
    for line in read_lines(sorted(ledger_folder(name).glob(f"*{SUFFIX}"))):
        known = lines.get(line.cell)
        if known is None or known.state != DONE:
            lines[line.cell] = line
    return lines


def run_folders() -> set[str]:
    """Names of all run folders: one listing, however many there are."""
    try:
        with os.scandir(runs_root()) as entries:
            return {entry.name for entry in entries if SIMKEY.fullmatch(entry.name)}
    except FileNotFoundError:
        return set()
    except NotADirectoryError as error:
        raise RequestError(f"EASCOPE_RUNS {runs_root()}: not a directory") from error
    except OSError as error:
        raise EascopeError(f"{runs_root()}: {error.strerror}") from error
