# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope power``: power from measured events, by a core's calibrated model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from eascope.experiments.cli.output import print_json
from eascope.host.errors import RequestError, unknown

SUMMARY = "predict power from measured events with a core's calibrated model"
EXAMPLE = "eascope power predict --core cortex-a15 --csv rows.csv"

#: What ``eascope power`` can be asked to do.
VERBS = ("predict",)


def add_options(parser: argparse.ArgumentParser) -> None:
    """What to do, with which core and which file."""
    parser.add_argument("verb", metavar="predict", help="predict: add a column power_w")
    parser.add_argument("--core", metavar="C", help="a core with counted events: cortex-a15")
    parser.add_argument(
        "--csv",
        metavar="FILE",
        help="file of rows, with the columns that power-models/calibration names",
    )


def run(options: argparse.Namespace) -> int:
    """Print the rows of the file with their power.

    :raises RequestError: for a core, a file or a column that there is not.
    """
    from eascope.power.predict import predicted, write_csv

    if options.verb not in VERBS:
        raise unknown("power command", options.verb, VERBS)
    for name in ("core", "csv"):
        if getattr(options, name) is None:
            raise RequestError(f"power {options.verb}: --{name} is missing: allowed: --{name} NAME")
    rows = predicted(options.core, Path(options.csv))
    if options.json:
        print_json(rows)
    else:
        write_csv(rows, sys.stdout)
    return 0
