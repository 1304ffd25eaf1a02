# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope power``: power from measured events, and measured powers for a platform."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from eascope.experiments.cli.output import print_json
from eascope.host.errors import RequestError, unknown
from eascope.host.table import Table

SUMMARY = "predict power from measured events, or read freqbench's results"
EXAMPLE = "eascope power predict --core cortex-a15 --csv rows.csv"

#: What ``eascope power`` can be asked to do, and what it needs for it.
VERBS = {"predict": ("core", "csv"), "freqbench": ("file", "platform")}


def add_options(parser: argparse.ArgumentParser) -> None:
    """What to do, with which core and which file."""
    parser.add_argument(
        "verb",
        metavar="predict|freqbench",
        help="predict: print the rows of the CSV file with a column power_w added; freqbench: "
        "print a platform that is --platform, billed by the powers of FILE",
    )
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="freqbench's results.csv or results.json"
    )
    parser.add_argument("--platform", metavar="P", help="the platform that FILE is of")
    parser.add_argument("--core", metavar="C", help="a core with counted events: cortex-a15")
    parser.add_argument(
        "--csv",
        metavar="FILE",
        help="CSV file with the event columns that power-models/calibration names",
    )


def run(options: argparse.Namespace) -> int:
    """Print the rows of the file with their power, or a platform.

    :raises RequestError: for a core, a file or a column that there is not.
    """
    if options.verb not in VERBS:
        raise unknown("power command", options.verb, VERBS)
    needed = VERBS[options.verb]
    for name in ("core", "csv", "file", "platform"):
        shown = "FILE" if name == "file" else f"--{name}"
        if (getattr(options, name) is None) == (name in needed):
            wrong = "is missing" if name in needed else "is not for it"
            raise RequestError(f"power {options.verb}: {shown} {wrong}")
    if options.verb == "freqbench":
        return _freqbench(options)
    from eascope.power.measurements import COLUMN, predicted

    rows = predicted(options.core, Path(options.csv))
    if options.json:
        print_json(rows)
    else:
        printed = [[*list(row.values())[:-1], f"{row[COLUMN]:.6f}"] for row in rows]
        sys.stdout.write(Table.of(list(rows[0]), printed).csv())
    return 0


def _freqbench(options: argparse.Namespace) -> int:
    from eascope.configs.platform_file import load_platform
    from eascope.power.freqbench import difference, read_rails

    platform, path = load_platform(options.platform), Path(options.file)
    if options.json:
        rails, left_out = read_rails(path, platform)
        print_json({"power_uw": rails, "left_out": left_out})
    else:
        own = Path(options.platform)
        base = str(own.resolve()) if own.suffix == ".toml" else options.platform
        print("\n".join(difference(base, platform, path)))
    return 0
