# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope run``: one cell, unless its run is there already."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from experiments.arguments import natural
from experiments.cli.dry_run import add_dry_run, dry_run
from experiments.cli.options import add_all, add_cell, add_power
from experiments.cli.output import cost, measured, print_json, shown
from experiments.cli.request import request_of, warn

if TYPE_CHECKING:
    from analysis.derive import Derived
    from configs.platform import Platform
    from experiments.request import Names
    from experiments.runs import Run

SUMMARY = "run one cell, unless its run is there already"
EXAMPLE = "eascope run --platform juno-r2 --variant mainline --scenario smoke"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The variant, the seed, the cell, the power model."""
    parser.add_argument("--variant", required=True, metavar="V", help="see: eascope list variants")
    parser.add_argument(
        "--seed",
        type=natural,
        default=0,
        metavar="N",
        help="seed of the replicate (default 0)",
    )
    add_cell(parser)
    add_power(parser)
    add_all(parser)
    add_dry_run(parser)


def run(options: argparse.Namespace) -> int:
    """Run the cell, unless its run is there, and print the result.

    :raises EascopeError: the request is wrong, or the run failed.
    """
    from experiments.cell import prepare
    from experiments.finished import derived_for
    from experiments.pool import run_all
    from experiments.writable import check_runs_place

    check_runs_place()
    if options.dry_run:
        return dry_run(options, lambda: ([_names(options)], ()))
    names = _names(options)
    warn(names)
    cell = prepare(names)
    [(done, derived)] = run_all(
        [cell], lambda cell, done: (done, derived_for(cell, done, options.power))
    )
    if options.json:
        _print_object(done, derived)
    else:
        _print_text(cell.machine.platform, done, derived, whole=options.all)
    return 0


def _names(options: argparse.Namespace) -> Names:
    """The requested cell.

    :raises RequestError: for the first name or value that is wrong.
    """
    from experiments.finished import BilledBy
    from experiments.request import resolve
    from power.choice import check_power
    from power.given import given_model

    model = given_model(options.em, options.em_error)
    check_power(options.power)
    names = resolve(request_of(options, options.variant, options.seed, model))
    names.request.own.check_used([options.variant])
    BilledBy(options.power).check(names)
    return names


def _print_object(done: Run, derived: Derived) -> None:
    host = cost(done.host)
    del host["sim_s"]
    print_json({**derived.result.encode(), "run": str(done.path), **host})


def _print_text(platform: Platform, done: Run, derived: Derived, *, whole: bool) -> None:
    from analysis.compare import comparison
    from analysis.decisions import of_first_runs, text

    variants = {derived.cell.variant: [derived]}
    print(measured(comparison(platform, variants), whole=whole), end="")
    print(text(of_first_runs(variants)), end="")
    if done.host.parts_s:
        parts = done.host.parts_s.items()
        print("host time: " + ", ".join(f"{name} {spent:.1f} s" for name, spent in parts))
    print(f"run: {shown(done.path)}")
