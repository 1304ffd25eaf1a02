# SPDX-License-Identifier: GPL-2.0-or-later
"""``--dry-run``: print what ``run`` and ``compare`` would do."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from eascope.experiments.cli.options import form_of
from eascope.experiments.cli.output import print_columns, print_json, shown
from eascope.experiments.cli.request import warn
from eascope.host.cache import entries
from eascope.host.errors import RequestError
from eascope.host.proc import duration

if TYPE_CHECKING:
    from eascope.experiments.runs.request import Resolved
    from eascope.experiments.runs.store import Run


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    """The option that only prints what would be done."""
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print which runs exist, and what would be built and run; write nothing",
    )


#: A value of a model axis, and the number of its own cells; none if only billing differs.
AxisPart: TypeAlias = tuple[str, str, int]


def dry_run(
    options: argparse.Namespace,
    resolved: Callable[[], tuple[Sequence[Resolved], Sequence[AxisPart]]],
) -> int:
    """Print the plan of the cells that ``resolved`` names.

    :param resolved: gives the cells, and the parts to which the last of them belong, in their
        order.
    :raises RequestError: for a form that a plan has not.
    :raises EascopeError: an error that would end the command before any run.
    """
    from eascope.host.dry import nothing_built
    from eascope.kernels.trees import tree_source

    form = form_of(options)
    if form not in ("text", "json"):
        raise RequestError(f"--dry-run with --format {form}: allowed: text, json")
    with nothing_built():
        requests, parts = resolved()
        warn(requests[0], others=requests[1:])
        plan = _plan_of(requests)
    # What git wrote of a tree's changes is gone.
    tree_source.cache_clear()
    counted = list(_counted(plan, parts))
    if form == "json":
        print_json(_object(plan) | ({"axes": counted} if counted else {}))
    else:
        _print_text(plan, counted)
    return 0


@dataclass(frozen=True)
class _Planned:
    """A cell that was not run.

    :param simkey: empty while one of its inputs is not built.
    :param run: the finished run, if there is one.
    """

    resolved: Resolved
    simkey: str
    run: Run | None

    @property
    def state(self) -> str:
        """``done``, ``to run`` or, while its key is not known, ``unknown``."""
        if self.run is not None:
            return "done"
        return "to run" if self.simkey else "unknown"


@dataclass(frozen=True)
class _Plan:
    """The plan of a request.

    :param to_build: artefacts that would be built or fetched first, with an estimate in words.
    :param run_s: host seconds for all cells without a known run.
    """

    cells: tuple[_Planned, ...]
    to_build: Mapping[str, str]
    run_s: float

    @property
    def to_run(self) -> int:
        """Number of runs, at most; cells of one key are one run."""
        missing = [cell for cell in self.cells if cell.run is None]
        known = {cell.simkey for cell in missing if cell.simkey}
        return len(known) + sum(not cell.simkey for cell in missing)

    @property
    def words(self) -> str:
        """One line: the number of runs and their time."""
        if not self.to_run:
            return "nothing to run"
        most = "at most " if any(cell.state == "unknown" for cell in self.cells) else ""
        return f"to run: {most}{self.to_run} of {len(self.cells)}, about {duration(self.run_s)}"


def _plan_of(requests: Sequence[Resolved]) -> _Plan:
    """The plan of cells, within `host.dry.nothing_built`.

    :raises EascopeError: an error that would end the command before any run.
    """
    from eascope.experiments.runs.cell import missing, prepare
    from eascope.experiments.runs.pool import Work, seconds_for
    from eascope.experiments.runs.store import existing

    to_build: dict[str, str] = {}
    cells = []
    for names in requests:
        lacking = missing(names)
        to_build |= {part.label: part.estimate for part in lacking}
        for kind in names.engine.artefacts:
            if kind != names.engine.name and not list(entries(kind)):
                to_build[f"{kind} (of the engine)"] = ""
        simkey = "" if lacking else prepare(names).simkey
        cells.append(_Planned(names, simkey, existing(simkey) if simkey else None))
    to_do = {cell.simkey or number: cell for number, cell in enumerate(cells) if cell.run is None}
    works = [Work.of_names(cell.resolved) for cell in to_do.values()]
    return _Plan(tuple(cells), to_build, seconds_for(works))


def _counted(plan: _Plan, parts: Sequence[AxisPart]) -> Iterator[dict[str, object]]:
    """How many runs are missing for each of ``parts``."""
    rest = iter(plan.cells[len(plan.cells) - sum(count for _, _, count in parts) :])
    for axis, value, count in parts:
        own = list(islice(rest, count))
        missing = sum(cell.run is None for cell in own)
        yield {"axis": axis, "value": value, "runs": len(own), "to_run": missing}


def _object(plan: _Plan) -> dict[str, object]:
    return {
        "cells": [_cell(cell) for cell in plan.cells],
        "to_build": [{"what": name, "estimate": text} for name, text in plan.to_build.items()],
        "to_run": plan.to_run,
        "run_s": round(plan.run_s, 1),
    }


def _cell(cell: _Planned) -> dict[str, object]:
    request = cell.resolved.request
    return {
        "variant": request.variant,
        "seed": request.seed,
        "energy_model": request.energy_model.words,
        "state": cell.state,
        "simkey": cell.simkey or None,
        "run": None if cell.run is None else str(cell.run.path),
    }


def _print_text(plan: _Plan, axes: Sequence[Mapping[str, object]]) -> None:
    print_columns(
        (cell.resolved.request.words, cell.state, "" if cell.run is None else shown(cell.run.path))
        for cell in plan.cells
    )
    for part in axes:
        runs = f"{part['to_run']} of {part['runs']} runs missing" if part["runs"] else "no run"
        print(f"axis {part['axis']}, {part['value']}: {runs}")
    for name, estimate in plan.to_build.items():
        print(f"to build: {name}{f' ({estimate})' if estimate else ''}")
    print(plan.words)
    print("dry run: nothing written")
