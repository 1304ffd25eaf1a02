# SPDX-License-Identifier: GPL-2.0-or-later
"""``--dry-run``: print what ``run`` and ``compare`` would do."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from eascope.experiments.cli.output import print_columns, print_json, shown
from eascope.experiments.cli.request import warn

if TYPE_CHECKING:
    from eascope.experiments.runs.plan import Plan, Planned
    from eascope.experiments.runs.request import Names


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    """Whether anything is done at all."""
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print which runs exist, and what would be built and run; write nothing",
    )


#: A value of a model axis, and the number of its own cells; none if only billing differs.
AxisPart: TypeAlias = tuple[str, str, int]


def dry_run(
    options: argparse.Namespace,
    resolved: Callable[[], tuple[Sequence[Names], Sequence[AxisPart]]],
) -> int:
    """Print the plan of the cells that ``resolved`` names.

    :param resolved: gives the cells, and the parts to which the last of them belong, in their
        order.
    :raises EascopeError: an error that would end the command before any run.
    """
    from eascope.experiments.runs.plan import plan_of
    from eascope.host.dry import nothing_built
    from eascope.kernels.trees import tree_source

    with nothing_built():
        requests, parts = resolved()
        warn(requests[0], others=requests[1:])
        plan = plan_of(requests)
    # What git wrote of a tree's changes is gone.
    tree_source.cache_clear()
    counted = list(_counted(plan, parts))
    if options.json:
        print_json(_object(plan) | ({"axes": counted} if counted else {}))
    else:
        _print_text(plan, counted)
    return 0


def _counted(plan: Plan, parts: Sequence[AxisPart]) -> Iterator[dict[str, object]]:
    """How many runs are missing for each of ``parts``."""
    rest = iter(plan.cells[len(plan.cells) - sum(count for _, _, count in parts) :])
    for axis, value, count in parts:
        own = list(islice(rest, count))
        missing = sum(cell.run is None for cell in own)
        yield {"axis": axis, "value": value, "runs": len(own), "to_run": missing}


def _object(plan: Plan) -> dict[str, object]:
    return {
        "cells": [_cell(cell) for cell in plan.cells],
        "to_build": [{"what": name, "estimate": text} for name, text in plan.to_build.items()],
        "to_run": plan.to_run,
        "run_s": round(plan.run_s, 1),
    }


def _cell(cell: Planned) -> dict[str, object]:
    request = cell.names.request
    return {
        "variant": request.variant,
        "seed": request.seed,
        "energy_model": request.energy_model.words,
        "state": cell.state,
        "simkey": cell.simkey or None,
        "run": None if cell.run is None else str(cell.run.path),
    }


def _print_text(plan: Plan, axes: Sequence[Mapping[str, object]]) -> None:
    print_columns(
        (cell.names.request.words, cell.state, "" if cell.run is None else shown(cell.run.path))
        for cell in plan.cells
    )
    for part in axes:
        runs = f"{part['to_run']} of {part['runs']} runs missing" if part["runs"] else "no run"
        print(f"axis {part['axis']}, {part['value']}: {runs}")
    for name, estimate in plan.to_build.items():
        print(f"to build: {name}{f' ({estimate})' if estimate else ''}")
    print(plan.words)
    print("dry run: nothing written")
