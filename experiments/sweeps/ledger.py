# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign's ledger: a line for each cell that was run for it, in one file per job.

Run folders are the state. The ledger names the folder and the cost of each cell, so that no command
opens 100 000 folders: a cell is done if its line says so and its folder exists. A lost or damaged
line costs a look into the folder. Each job appends to its own file, because appends of several
machines to one file of a shared folder get mixed up.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from experiments.runs import SIMKEY
from host.cache import runs_root
from host.errors import EascopeError
from host.record import Record

DONE, FAILED = "done", "failed"
SUFFIX = ".jsonl"


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
        """One line."""
        return json.dumps(self.encode(), separators=(",", ":"), sort_keys=True).encode() + b"\n"


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
        self._stream = path.open("ab", buffering=0)

    def add(self, line: LedgerLine) -> None:
        """Append ``line`` in one write."""
        self._stream.write(line.to_bytes())

    def close(self) -> None:
        """End the file."""
        self._stream.close()


def read_lines(paths: Iterable[Path]) -> Iterator[LedgerLine]:
    """Every complete line of ``paths``; a line that a killed job left incomplete does not count."""
    for path in paths:
        try:
            data = path.read_bytes()
        except OSError:
            continue
        for text in data.splitlines():
            if (line := _line(text)) is not None:
                yield line


def _line(text: bytes) -> LedgerLine | None:
    try:
        fields = json.loads(text)
        line = LedgerLine(**fields)
    except (ValueError, TypeError):
        return None
    whole = isinstance(line.cell, str) and isinstance(line.simkey, str)
    return line if whole and line.state in (DONE, FAILED) else None


def read_ledger(name: str) -> dict[str, LedgerLine]:
    """The last line on each cell of a campaign, by cell id; ``done`` is final."""
    lines: dict[str, LedgerLine] = {}
    for line in read_lines(sorted(ledger_folder(name).glob(f"*{SUFFIX}"))):
        known = lines.get(line.cell)
        if known is None or known.state != DONE:
            lines[line.cell] = line
    return lines


def compact(name: str) -> None:
    """Put the ledger into one file; only while no job of the campaign runs.

    A reader sees the old files, the new one, or both; all give the same lines.
    """
    folder = ledger_folder(name)
    before = sorted(folder.glob(f"*{SUFFIX}"))
    if len(before) < 2:
        return
    lines = read_ledger(name)
    whole, work = folder / f"0{SUFFIX}", folder / f".0{os.getpid()}"
    work.write_bytes(b"".join(line.to_bytes() for line in lines.values()))
    os.replace(work, whole)
    for path in before:
        if path != whole:
            path.unlink(missing_ok=True)


def run_folders() -> set[str]:
    """Names of all run folders: one listing, however many there are."""
    try:
        with os.scandir(runs_root()) as entries:
            return {entry.name for entry in entries if SIMKEY.fullmatch(entry.name)}
    except FileNotFoundError:
        return set()
    except OSError as error:
        raise EascopeError(f"{runs_root()}: {error.strerror}") from error
