# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope run``: one cell, unless its run is there already."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from eascope.experiments.arguments import natural
from eascope.experiments.cli.dry_run import add_dry_run, dry_run
from eascope.experiments.cli.options import add_all, add_cell, add_power
from eascope.experiments.cli.output import cost, measured, print_json, shown
from eascope.experiments.cli.request import billing_of, machine_of, request_of, warn, warn_of

if TYPE_CHECKING:
    from eascope.analysis.derive import Derived
    from eascope.experiments.runs.cell import Cell
    from eascope.experiments.runs.request import Resolved
    from eascope.experiments.runs.store import Run

SUMMARY = "run one simulation, or reuse its finished run"
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
    if options.dry_run:
        from eascope.experiments.runs.writable import check_runs_place

        check_runs_place()
        return dry_run(options, lambda: ([_names(options)], ()))
    cell, done, derived = execute(options)
    if options.json:
        _print_object(done, derived)
    else:
        _print_text(cell, options.power, done, derived, whole=options.all)
    return 0


def execute(options: argparse.Namespace) -> tuple[Cell, Run, Derived]:
    """The cell of ``options``, its run, which is executed unless it is there, and the result.

    :raises EascopeError: the request is wrong, or the run failed.
    """
    from eascope.experiments.runs.cell import prepare, without_effect
    from eascope.experiments.runs.finished import derived_for
    from eascope.experiments.runs.pool import run_all
    from eascope.experiments.runs.writable import check_runs_place

    check_runs_place()
    names = _names(options)
    warn(names, options.power)
    cell = prepare(names)
    warn_of(without_effect([names]))
    [(done, derived)] = run_all(
        [cell], lambda cell, done: (done, derived_for(cell, done, options.power))
    )
    return cell, done, derived


def _names(options: argparse.Namespace) -> Resolved:
    """The requested cell.

    :raises RequestError: for the first name or value that is wrong.
    """
    from eascope.experiments.runs.request import resolve
    from eascope.power.given import given_model

    model = given_model(options.em, options.em_error)
    billing = billing_of(options)
    names = resolve(request_of(options, options.variant, options.seed, model))
    names.request.own.check_used([options.variant])
    billing.check(names)
    return names


def _print_object(done: Run, derived: Derived) -> None:
    host = cost(done.host)
    del host["sim_s"]
    print_json({**derived.result.encode(), "run": str(done.path), **host})


def _print_text(cell: Cell, power: str | None, done: Run, derived: Derived, *, whole: bool) -> None:
    from eascope.analysis import choice, decisions
    from eascope.analysis.compare import comparison
    from eascope.experiments.runs.finished import BilledBy

    variants = {derived.cell.variant: [derived]}
    platform, activity = cell.machine.platform, cell.resolved.activity
    print(measured(comparison(platform, variants), whole=whole), end="")
    print(decisions.text(decisions.of_first_runs(variants)), end="")
    judged = choice.of_first_runs(variants, lambda: machine_of(BilledBy(power), platform, activity))
    print(choice.text(judged), end="")
    if done.host.parts_s:
        parts = done.host.parts_s.items()
        print("host time: " + ", ".join(f"{name} {spent:.1f} s" for name, spent in parts))
    print(f"run: {shown(done.path)}")
