# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope diff``: two finished runs, decision by decision."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from eascope.experiments.cli.options import add_power
from eascope.experiments.cli.output import print_json
from eascope.experiments.cli.request import billing_of
from eascope.host.errors import RequestError

if TYPE_CHECKING:
    from eascope.analysis.records.cell import CellRecord
    from eascope.experiments.runs import Run

SUMMARY = "say where two finished runs part, decision by decision, and what each difference costs"
EXAMPLE = "eascope diff 3f9a 81c2"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The two runs and the power model."""
    for name in ("a", "b"):
        parser.add_argument(
            name, metavar="RUN", help="folder of a run, or the beginning of its name"
        )
    parser.add_argument(
        "--any",
        action="store_true",
        help="compare runs that differ in more than the variant; on one platform",
    )
    add_power(parser)


def run(options: argparse.Namespace) -> int:
    """Print in what the runs differ.

    :raises RequestError: no run has that name, or the two cannot be compared.
    """
    from eascope.analysis.run_diff import RunDiff
    from eascope.analysis.run_diff_text import record, text
    from eascope.experiments.finished import derived_by, platform_of
    from eascope.experiments.runs import find_run

    billing = billing_of(options)
    runs = [_finished(find_run(name)) for name in (options.a, options.b)]
    check(*(each.cell for each in runs), anything=options.any)
    diff = RunDiff.of(platform_of(runs[0]), *(derived_by(each, billing) for each in runs))
    words = ["eascope", "diff", options.a, options.b, *(["--any"] if options.any else [])]
    words += ["--power", options.power] if options.power else []
    command = shlex.join(words)
    if options.json:
        print_json(record(diff, command))
    else:
        print(text(diff, command), end="")
    return 0


def _finished(run: Run) -> Run:
    if run.state != "done":
        raise RequestError(f"{run.path}: {run.state}: only finished runs are compared")
    return run


def _keys(cell: CellRecord) -> dict[str, Any]:
    """What two runs must have in common."""
    names = ("platform", "scenario", "engine", "mode", "seed", "duration", "elide")
    return {
        **{name: getattr(cell, name) for name in names},
        "release": cell.kernel.source_words,
        "controls": ", ".join(cell.set_otherwise) or "none",
        "energy model": cell.energy_model.words,
        **{f"inputs.{name}": digest for name, digest in cell.inputs.encode().items()},
    }


def check(a: CellRecord, b: CellRecord, *, anything: bool = False) -> None:
    """Refuse runs that differ in more than the variant.

    :param anything: only runs of different platforms are refused.
    :raises RequestError: naming the first key that differs.
    """
    keys, others = _keys(a), _keys(b)
    for key, value in keys.items():
        if value != others.get(key) and not (anything and "platform" not in key):
            more = "" if "platform" in key else "; --any compares them all the same"
            raise RequestError(
                f"these runs cannot be compared: {key} is {value} in A and {others.get(key)} in B: "
                f"allowed: runs that differ in the variant alone{more}"
            )
