# SPDX-License-Identifier: GPL-2.0-or-later
"""``--dry-run``: what ``run`` and ``compare`` would do, said without doing any of it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from experiments.cli.output import print_columns, print_json, shown
from experiments.cli.request import warn

if TYPE_CHECKING:
    from experiments.plan import Plan, Planned
    from experiments.request import Names


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    """Whether anything is done at all."""
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print which runs are there and what would be built and run; write nothing",
    )


def dry_run(options: argparse.Namespace, resolved: Callable[[], Sequence[Names]]) -> int:
    """Print the plan of the cells that ``resolved`` names.

    :raises EascopeError: what would end the command before it runs anything.
    """
    from experiments.plan import plan_of
    from host.dry import nothing_built
    from kernels.trees import tree_source

    with nothing_built():
        requests = resolved()
        warn(requests[0])
        plan = plan_of(requests)
    # What git wrote of a tree's changes is gone.
    tree_source.cache_clear()
    if options.json:
        print_json(_object(plan))
    else:
        _print_text(plan)
    return 0


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


def _print_text(plan: Plan) -> None:
    print_columns(
        (cell.names.request.words, cell.state, "" if cell.run is None else shown(cell.run.path))
        for cell in plan.cells
    )
    for name, estimate in plan.to_build.items():
        print(f"to build: {name}{f' ({estimate})' if estimate else ''}")
    print(plan.words)
    print("nothing was written: without --dry-run the command does it")
