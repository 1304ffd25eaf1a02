# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of a campaign: cells that one job runs one after another, on one booted machine.

Snakemake's rule and a task of a Slurm array call ``eascope part FILE``. A part's file has points
and seeds; the job needs nothing else but the checkout, the cache and the runs. Finished cells are
not run again, and a failed cell does not stop those after it.
"""

from __future__ import annotations

import re
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import ClassVar

from eascope.engines.base import Identity
from eascope.experiments.runs.cell import Cell, identity_of, prepare
from eascope.experiments.runs.failures import from_outside
from eascope.experiments.runs.finished import BilledBy, derived_for
from eascope.experiments.runs.request import Resolved
from eascope.experiments.runs.store import Run, execute
from eascope.experiments.sweeps.ledger import (
    DONE,
    FAILED,
    SUFFIX,
    LedgerFile,
    LedgerLine,
    ledger_folder,
    platforms_folder,
)
from eascope.experiments.sweeps.point import Point
from eascope.experiments.sweeps.resolver import Resolver, cell_id
from eascope.host.cache import runs_root
from eascope.host.errors import Again, EascopeError, RequestError, bad_input
from eascope.host.keys import NAME_RULE, is_name
from eascope.host.proc import duration, say
from eascope.host.record import Record, RecordError
from eascope.host.sealed import files_of

SCHEMA = 1
#: Names of jobs: `experiments.sweeps.session` makes them of time, host and process.
_JOB = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
#: Cells of a part, at most and at least (but for the rest): a part boots once.
MOST_CELLS, LEAST_CELLS = 20, 4


@dataclass(frozen=True)
class PartGroup(Record):
    """A point, and the seeds of it that a part runs."""

    point: Point
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class SweepPart(Record):
    """``N.json``: the cells of one job.

    :param campaign: whose ledger it writes; ``job`` is the ledger file's name.
    :param power: the power that energies are billed by; None: each platform's default.
    :param retry: whether cells that have failed are tried again.
    """

    schema_read: ClassVar[int | None] = SCHEMA

    schema: int
    campaign: str
    file: str
    job: str
    groups: tuple[PartGroup, ...]
    power: str | None = None
    retry: bool = False

    @property
    def cells(self) -> int:
        """How many cells it has."""
        return sum(len(group.seeds) for group in self.groups)


def read_part(path: Path) -> SweepPart:
    """The part in a file.

    :raises RequestError: one line: file, key, value, what is allowed.
    """
    try:
        part = SweepPart.read(path)
    except RecordError as error:
        raise RequestError(str(error)) from error
    # Both are names of files below the folder of runs.
    if not is_name(part.campaign):
        raise bad_input(path, "campaign", part.campaign, NAME_RULE)
    if not _JOB.fullmatch(part.job):
        raise bad_input(path, "job", part.job, "letters, digits, dots, dashes, and no dot first")
    if not part.cells:
        raise bad_input(path, "groups", [], "groups with at least one seed")
    for number, group in enumerate(part.groups):
        for seed in group.seeds:
            if seed < 0:
                raise bad_input(path, f"groups.{number}.seeds", seed, "integers from 0")
    return part


Execute = Callable[[Cell], Run]


def run_part(part: SweepPart, execute_cell: Execute = execute) -> int:
    """Run the missing cells of a part; returns how many cells still have no run.

    :param execute_cell: runs a cell that is prepared.
    :raises EascopeError: when the part cannot be begun.
    """
    resolver = Resolver(platforms_folder(), part.file)
    own_s = _own_time()
    failed = 0
    # All of it is read before the ledger is begun.
    groups = [
        (group, resolver.resolved(group.point), group.point.billed(part.power))
        for group in part.groups
    ]
    with closing(LedgerFile(ledger_folder(part.campaign) / f"{part.job}{SUFFIX}")) as ledger:
        for group, resolved, billed in groups:
            identity, group_id = identity_of(resolved.engine), resolver.group_id(resolved)
            for seed in group.seeds:
                cell = cell_id(group_id, seed)
                asked = resolved.with_seed(seed)
                line = _run_cell(part, asked, identity, cell, execute_cell, own_s, billed)
                ledger.add(line)
                failed += line.state != DONE
                state = duration(line.host_s) if line.state == DONE else f"failed: {line.cause}"
                say(f"  {group.point.words}, seed {seed}: {state}")
    return failed


def _own_time() -> Iterator[float]:
    """Processor seconds of this process between two of them; the first counts from its start."""
    before = 0.0
    while True:
        now = time.process_time()
        yield now - before
        before = now


def _run_cell(
    part: SweepPart,
    resolved: Resolved,
    identity: Identity,
    cell: str,
    execute_cell: Execute,
    own_s: Iterator[float],
    billed: BilledBy,
) -> LedgerLine:
    simkey = ""
    try:
        prepared = prepare(resolved, identity)
        simkey = prepared.simkey
        before = Run(runs_root() / simkey)
        if before.state == "failed" and not part.retry:
            cause = before.failure.cause
            if not from_outside(cause):
                return LedgerLine(cell, FAILED, simkey, cause)
        run = execute_cell(prepared)
        simkey = ""  # the run is sound: what fails from here on is this cell's alone
        derived_for(prepared, run, billed)
        return line_of(cell, run, next(own_s))
    except Again as again:
        say(f"  {again}")
        return _run_cell(part, resolved, identity, cell, execute_cell, own_s, billed)
    except EascopeError as error:
        cause = (str(error).splitlines() or [repr(error)])[0]
        return LedgerLine(cell, FAILED, simkey, cause)


def line_of(cell: str, run: Run, own_s: float) -> LedgerLine:
    """The ledger's line on a finished run.

    :param own_s: processor seconds of this process for it.
    """
    host = run.host
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return LedgerLine(
        cell,
        DONE,
        run.path.name,
        host_s=host.host_s,
        cpu_s=host.cpu_s,
        core_s=round(own_s + host.cpu_s, 3),
        sim_s=host.sim_s,
        mips=host.mips,
        peak_mib=max(children, own) // 1024,
        disk_kib=disk_kib(run.path),
    )


def disk_kib(folder: Path) -> int:
    """KiB of the blocks of all files below ``folder``."""
    return sum(path.lstat().st_blocks for path in files_of(folder).values()) // 2


def split(
    groups: Sequence[tuple[str, Point, Sequence[int]]], size: int
) -> list[tuple[PartGroup, ...]]:
    """Parts of at most ``size`` cells; one part has cells of one machine alone.

    :param groups: machine, point and missing seeds, in any order.
    """
    by_machine: dict[str, list[tuple[Point, int]]] = {}
    for machine, point, seeds in groups:
        by_machine.setdefault(machine, []).extend((point, seed) for seed in seeds)
    parts = []
    for cells in by_machine.values():
        # Parts of one machine are as equal as they can be: 21 cells by 20 are 11 and 10.
        count = -(-len(cells) // size)
        edges = [len(cells) * n // count for n in range(count + 1)]
        for first, end in pairwise(edges):
            points = groupby(cells[first:end], lambda cell: id(cell[0]))
            some = [list(of_point) for _, of_point in points]
            parts.append(tuple(PartGroup(of[0][0], tuple(s for _, s in of)) for of in some))
    return parts
