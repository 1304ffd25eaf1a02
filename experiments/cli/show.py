# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope show``: one run with its cell, its end and its result."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from eascope.experiments.cli.options import add_all, add_power
from eascope.experiments.cli.output import measured, print_columns, print_json, run_object
from eascope.experiments.cli.request import billing_of, machine_of

if TYPE_CHECKING:
    from eascope.experiments.runs.finished import BilledBy
    from eascope.experiments.runs.store import Run

SUMMARY = "print one run: its configuration and its results"
EXAMPLE = "eascope show 3f9a"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The run and the power model."""
    parser.add_argument(
        "run", metavar="RUN", help="directory of the run, or the beginning of its name"
    )
    add_power(parser)
    add_all(parser)


def run(options: argparse.Namespace) -> int:
    """Print one run.

    :raises EascopeError: when no run has that name, or it is damaged.
    """
    from eascope.experiments.runs.store import find_run

    billing = billing_of(options)
    chosen = find_run(options.run)
    record = run_object(chosen)
    text = ""
    if chosen.state == "done":
        record["result"], text = _result(chosen, billing, whole=options.all)
    elif chosen.state == "failed":
        failure = chosen.failure
        record["failed"] = failure.encode()
        text = "\n".join([*(failure.console_tail or ()), *(failure.log_tail or ())])
    if options.json:
        print_json([record])
    else:
        lines = [pair for pair in record.items() if pair[0] not in ("also", "result", "failed")]
        for named in record.get("also", ()):
            lines.append(("also", ", ".join(map(str, named.values()))))
        print_columns(lines)
        print("\n" + text.rstrip("\n"))
    return 0


def _result(run: Run, billing: BilledBy, *, whole: bool) -> tuple[dict[str, Any], str]:
    """A finished run's ``result.json``, and the same as text."""
    from eascope.analysis import choice, decisions
    from eascope.analysis.compare import comparison
    from eascope.experiments.runs.finished import derived_by
    from eascope.experiments.runs.inputs import simulated_with

    derived, simulated = derived_by(run, billing), simulated_with(run.path)
    variants = {run.cell.variant: [derived]}
    text = measured(comparison(simulated[0], variants), whole=whole)
    text += decisions.text(decisions.of_first_runs(variants))
    text += choice.text(choice.of_first_runs(variants, lambda: machine_of(billing, *simulated)))
    return derived.result.encode(), text
