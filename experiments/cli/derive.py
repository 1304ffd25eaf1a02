# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope derive``: energy of finished runs with another power model; nothing is simulated."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eascope.experiments.cli.options import add_power
from eascope.experiments.cli.output import print_json
from eascope.experiments.cli.request import billing_of
from eascope.host.errors import EascopeError

if TYPE_CHECKING:
    from eascope.experiments.runs.finished import BilledBy
    from eascope.experiments.runs.store import Run

SUMMARY = "recompute the energy of finished runs with another power model, without simulating again"
EXAMPLE = "eascope derive --power derived"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The runs and the power model."""
    parser.add_argument(
        "runs", nargs="*", metavar="RUN", help="only these runs (default: all finished runs)"
    )
    add_power(parser, "derived")


def run(options: argparse.Namespace) -> int:
    """Print the energy of each run; exit 1 when one could not be derived.

    :raises RequestError: for a power model or a run that there is not.
    """
    from eascope.experiments.runs.store import all_runs, find_run

    billing = billing_of(options)
    runs = [find_run(name) for name in options.runs] if options.runs else all_runs()
    objects = [_derived(run, billing) for run in runs if run.state == "done" or options.runs]
    good = [entry for entry in objects if "problem" not in entry]
    if options.json:
        print_json(objects)
    else:
        for entry in objects:
            print(_line(entry))
        spent = sum(entry["host_s"] for entry in good)
        print(f"{len(good)} of {len(objects)} runs by {options.power} power in {spent:.1f} s")
    return 0 if len(good) == len(objects) else 1


def _line(entry: dict[str, Any]) -> str:
    name = f"{Path(entry['run']).name[:12]}  {entry.get('what', '')}"
    if "problem" in entry:
        return f"{name}  {entry['problem']}"
    return f"{name}  {entry['energy_j'] * 1e3:.2f} mJ  {entry['host_s']:.2f} s"


def _derived(run: Run, billing: BilledBy) -> dict[str, Any]:
    """One run: total energy and host seconds, or its fault."""
    from eascope.experiments.runs.finished import derived_by

    done: dict[str, Any] = {"run": str(run.path), "power": billing.power}
    begin = time.monotonic()
    try:
        if run.state != "done":
            raise EascopeError(f"{run.state}: only a finished run has an energy")
        cell = run.cell
        done["what"] = f"{cell.variant} {cell.scenario} seed {cell.seed}"
        derived = derived_by(run, billing)
        done |= {"energy_j": derived.result.energy_j.total, "derived": str(derived.path)}
    except EascopeError as error:
        done["problem"] = str(error)
    done["host_s"] = round(time.monotonic() - begin, 3)
    return done
