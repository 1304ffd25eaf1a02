# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders of runs: ``runs/<simkey>/``, immutable once complete; the folder is the whole state.

A run is written under a temporary name and renamed when it is complete. So a folder with ``done``
is a whole run, and a folder without it is a failed run. A lock for each simkey keeps two processes
off the same cell; the kernel frees it when its holder dies. A claim (`host.claims`) does the same
between machines.
"""

from __future__ import annotations

import json
import os
import platform as host
import re
import shutil
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from eascope.analysis.derived_folder import DERIVED, roots_of
from eascope.analysis.records.cell import CELL, CellRecord
from eascope.engines.base import EngineFailed, EngineRun
from eascope.engines.records import (
    CONSOLE,
    COUNTERS,
    FAILED,
    HOST,
    MARKS,
    STATE,
    TRACE,
    Failure,
    HostRecord,
)
from eascope.experiments.runs.failures import explained, trace_full
from eascope.experiments.runs.inputs import FOLDER as INPUTS
from eascope.experiments.runs.inputs import MACHINE
from eascope.experiments.runs.trace_events import larger_kib
from eascope.host.cache import runs_root
from eascope.host.claims import locked_everywhere
from eascope.host.errors import Again, EascopeError, RequestError
from eascope.host.proc import say
from eascope.host.scratch import MARK, scratch
from eascope.host.sealed import DONE, added, damage, files_of, seal
from eascope.host.writing import writing_into

if TYPE_CHECKING:
    from eascope.experiments.runs.cell import Cell

#: Files that a run must have besides ``cell.json``; the engine and the guest wrote them.
RAW = (CONSOLE, COUNTERS, MARKS, STATE)
#: The folder of the cells' locks.
LOCKS = ".locks"
SIMKEY = re.compile(r"[0-9a-f]{64}")
#: What is not under the digests of ``done``: ``host.json``, and what is derived from the run.
OUTSIDE = (HOST, DERIVED)


@dataclass(frozen=True)
class Run:
    """The folder of a run. ``fresh``: it was executed just now."""

    path: Path
    fresh: bool = False

    @property
    def cell(self) -> CellRecord:
        """``cell.json``.

        :raises RecordError: one line when it is damaged.
        """
        return CellRecord.read(self.path / CELL)

    @property
    def later(self) -> list[CellRecord]:
        """Records of later requests that this run was derived for, other than `cell`."""
        records = []
        for path in sorted(cell for root in roots_of(self.path) for cell in root.glob(f"*/{CELL}")):
            with suppress(EascopeError):  # damaged tables are made again: `check` names them
                records.append(CellRecord.read(path))
        return records

    @property
    def host(self) -> HostRecord:
        """``host.json``: host seconds and the like.

        :raises RecordError: one line when it is damaged.
        """
        return HostRecord.read(self.path / HOST)

    @property
    def failure(self) -> Failure:
        """``failed.json``: why the run failed.

        :raises RecordError: one line when it is damaged.
        """
        return Failure.read(self.path / FAILED)

    @property
    def state(self) -> str:
        """``done``, ``failed`` or ``broken`` (`cause` says why)."""
        if (self.path / DONE).is_file():
            return "broken" if flaw(self.path) else "done"
        return "failed" if (self.path / FAILED).is_file() else "broken"

    @property
    def cause(self) -> str:
        """Why the run is broken, in one line; empty if it is not."""
        if (self.path / DONE).is_file():
            return flaw(self.path)
        return "" if (self.path / FAILED).is_file() else f"neither {DONE} nor {FAILED} exists"


def all_runs() -> list[Run]:
    """Every run directory, oldest first."""
    root = runs_root()
    if not root.is_dir():
        return []
    folders = [path for path in root.iterdir() if SIMKEY.fullmatch(path.name)]
    return [
        Run(path) for path in sorted(folders, key=lambda path: (path.stat().st_mtime, path.name))
    ]


def find_run(name: str) -> Run:
    """A run by its directory or by the beginning of its simkey.

    :raises RequestError: when none or several fit.
    """
    path = Path(name)
    if (path / CELL).is_file():
        return Run(path)
    fitting = [run for run in all_runs() if run.path.name.startswith(name)]
    if len(fitting) != 1:
        what = "no run" if not fitting else f"{len(fitting)} runs"
        raise RequestError(
            f"run {name!r}: {what} of this name in {runs_root()}; expected a run's directory, or "
            "the beginning of one name of eascope status"
        )
    return fitting[0]


def existing(simkey: str) -> Run | None:
    """The complete run of a simkey, if there is one."""
    run = Run(runs_root() / simkey)
    return run if run.state == "done" else None


def lock_of(simkey: str) -> Path:
    """The file that is locked by the process that runs the cell."""
    return runs_root() / LOCKS / simkey


def execute(cell: Cell, on_progress: Callable[[float], None] | None = None) -> Run:
    """The run of ``cell``: an existing run, or a new one.

    A failed run stays as ``runs/<simkey>/failed.json`` with its cause and log tails. The next
    request tries it again. An interrupt (Ctrl-C, or ``on_progress`` raising) leaves nothing.

    :param on_progress: called with simulated seconds; may raise to end the run.
    :raises Again: when its trace did not fit; `prepare` then gives its cell larger buffers.
    :raises EascopeError: when the run failed.
    """
    if (run := existing(cell.simkey)) is not None:
        return run
    root = runs_root()
    with writing_into(root):
        root.mkdir(parents=True, exist_ok=True)
    final = root / cell.simkey

    def waiting() -> None:
        say(f"  {cell.simkey[:12]}: waiting for another process running the same simulation")

    with writing_into(root), locked_everywhere(lock_of(cell.simkey), waiting):
        if (run := existing(cell.simkey)) is not None:
            return run
        for stale in root.glob(f".{cell.simkey}{MARK}*"):
            shutil.rmtree(stale, ignore_errors=True)
        with scratch(root, cell.simkey) as work:
            cell.record.write(work / CELL)
            _write_inputs(work, cell)
            try:
                with writing_into(root):
                    _simulate(cell, work, on_progress)
            except EngineFailed as error:
                larger = trace_full(error.reason) and _has_larger(cell)
                cause = explained(error.reason, cell.record.variant, larger=larger)
                tails = error.console_tail, error.log_tail
                _write_failure(work, EngineFailed(cause, *tails))
                _publish(work, final)
                if larger:
                    raise Again(f"{_name(cell)}: {cause}") from error
                raise EngineFailed(f"{_name(cell)}: {cause}", *tails) from error
            except Exception as error:
                _write_failure(work, error)
                _publish(work, final)
                raise
            _publish(work, final)
    return Run(final, fresh=True)


def _has_larger(cell: Cell) -> bool:
    """True if the buffers of the trace may be larger than those of ``cell``."""
    return larger_kib(cell.record.controls.trace_kib_per_cpu, cell.machine.platform) > 0


def _name(cell: Cell) -> str:
    """A name of the cell among those that a command runs."""
    record = cell.record
    return f"{record.platform}, {record.variant}, {record.scenario}, seed {record.seed}"


def _simulate(cell: Cell, work: Path, on_progress: Callable[[float], None] | None) -> None:
    """Run the engine into ``work`` and mark it done when every file is there."""
    result = cell.resolved.engine.run(cell.machine, work, on_progress)
    for name in (*RAW, TRACE) if cell.record.controls.trace_events else RAW:
        if not (work / name).is_file():
            raise EascopeError(f"the engine ended without an error, but left no {name}")
    _host_record(result).write(work / HOST)
    seal(work, OUTSIDE)


def _host_record(result: EngineRun) -> HostRecord:
    """The run's costs, rounded to measurable digits."""

    def rounded(parts: Mapping[str, float]) -> dict[str, float]:
        return {part: round(spent, 3) for part, spent in parts.items()}

    return HostRecord(
        host_s=round(result.host_s, 3),
        mips=round(result.mips, 1),
        sim_s=round(result.sim_s, 6),
        cpu_s=round(result.cpu_s, 3),
        cpus=os.cpu_count(),
        machine=host.machine(),
        python=host.python_version(),
        parts_s=rounded(result.parts_s),
        parts_cpu_s=rounded(result.parts_cpu_s),
    )


def _write_inputs(work: Path, cell: Cell) -> None:
    """Write ``inputs/`` before the run, so that a failed run has its inputs as well."""
    folder = work / INPUTS
    for name, data in cell.inputs().items():
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)


def _write_failure(work: Path, error: Exception) -> None:
    """``failed.json``: the cause in one line, and the ends of the logs."""
    failure = Failure(cause=str(error).splitlines()[0] if str(error) else repr(error))
    if isinstance(error, EngineFailed):
        failure = replace(
            failure, console_tail=tuple(error.console_tail), log_tail=tuple(error.log_tail)
        )
    elif not isinstance(error, EascopeError):
        failure = replace(failure, traceback=tuple(traceback.format_exc().splitlines()))
    failure.write(work / FAILED)


def _publish(work: Path, final: Path) -> None:
    """Give the directory its name; an earlier failed run of the same cell makes way.

    A finished run stays: another machine took the cell over while this process stood still, and
    made the same bytes.
    """
    if Run(final).state == "done":
        return
    for path in files_of(work).values():
        path.chmod(0o444)
    if final.exists():
        old = final.with_name(f".{final.name}{MARK}old")
        shutil.rmtree(old, ignore_errors=True)
        os.rename(final, old)
        os.rename(work, final)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.rename(work, final)


def check(run: Run) -> list[str]:
    """Faults of a run's bytes: one line each, empty if no byte has changed."""
    if not (run.path / DONE).is_file():
        return [f"{run.path}: {run.state}"]
    try:
        wrong = damage(run.path) + added(run.path, OUTSIDE)
        if run.path.name != (simkey := run.cell.simkey):
            wrong.append(f"{run.path}: simkey in {CELL} is {simkey!r}")
    except EascopeError as error:
        return [str(error)]
    # Tables without digests are unfinished: nothing reads them.
    for done in sorted(done for root in roots_of(run.path) for done in root.glob(f"[!.]*/{DONE}")):
        wrong += [f"{line}: eascope show makes it again" for line in damage(done.parent)]
    return wrong


def flaw(run: Path) -> str:
    """Why a run with the file ``done`` cannot be used, in one line; empty if it looks whole.

    `eascope verify` reads every byte. Commands that only list thousands of runs make this check for
    each. It reads ``done`` but does not check the files that it names, and takes 30 us.
    """
    done = run / DONE
    try:
        sealed = json.loads(done.read_bytes())
    except (OSError, ValueError, RecursionError):
        return f"{done}: not readable as JSON"
    files = sealed.get("files") if isinstance(sealed, dict) else None
    if not isinstance(files, dict) or CELL not in files:
        return f"{done}: has no digests of the run's files"
    machine = run / INPUTS / MACHINE
    return "" if machine.is_file() else f"{machine}: is missing"
