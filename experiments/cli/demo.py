# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope demo``: the comparison on the front page; ``make demo`` is this after a setup."""

from __future__ import annotations

import argparse
import shlex

from eascope.experiments.cli import compare
from eascope.experiments.cli.dry_run import add_dry_run
from eascope.experiments.cli.options import Parser

#: What is compared, as options of ``eascope compare``.
COMPARED = (
    "mainline uclamp-sum --platform juno-r2 --scenario uclamp/frequency-spike --seeds 20 "
    "--source-conditions"
)
SUMMARY = "run the README's comparison: uclamp max against sum aggregation, 20 seeds"
EXAMPLE = "eascope demo"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Where its files go; whether anything is run."""
    parser.description = f"The same as: eascope compare {COMPARED}"
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="directory for figures and report (default: one per comparison in runs/comparisons)",
    )
    add_dry_run(parser)


def run(options: argparse.Namespace) -> int:
    """As ``eascope compare``.

    :raises EascopeError: a run failed.
    """
    parser = Parser()
    compare.add_options(parser)
    asked = parser.parse_args(shlex.split(COMPARED))
    vars(asked).update(json=options.json, out=options.out, dry_run=options.dry_run)
    return compare.run(asked)
