# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope em``: a platform's energy model and derived power, its device tree, predicted power."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from eascope.experiments.cli.options import add_energy_model
from eascope.experiments.cli.output import print_json
from eascope.host.table import Table

SUMMARY = "print the kernel's energy model and the derived power, OPP by OPP"
EXAMPLE = "eascope em juno-r2"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The platform and the energy model."""
    parser.add_argument(
        "platform", metavar="PLATFORM", help="platform, see: eascope list platforms"
    )
    add_energy_model(parser)
    parser.add_argument(
        "--device-tree", action="store_true", help="print the source of its device tree instead"
    )
    parser.add_argument(
        "--predict",
        metavar="FILE",
        help="print the rows of this CSV file with a column power_w, by the calibrated model of a "
        "core in place of PLATFORM (cortex-a15); power-models/calibration names the event columns",
    )


def run(options: argparse.Namespace) -> int:
    """Print a line per OPP, the device tree or the rows.

    :raises RequestError: for a platform, a core, an energy model, a file or a column that there is
        not.
    """
    from eascope.configs.inherit import activity_of
    from eascope.configs.platform_file import load_platform
    from eascope.power.em import em_rows, records, text
    from eascope.power.given import given_model

    if options.predict is not None:
        return _predict(options.platform, Path(options.predict), json=options.json)
    platform = load_platform(options.platform)
    if options.device_tree:
        from eascope.configs.devicetree import device_tree_source
        from eascope.engines.registry import DEFAULT_ENGINE, get_engine

        print(device_tree_source(platform, get_engine(DEFAULT_ENGINE).layout), end="")
        return 0
    model = given_model(options.em, options.em_error)
    rows = em_rows(platform, activity_of(platform), model)
    if options.json:
        print_json(records(rows))
    else:
        print(text(rows))
    return 0


def _predict(core: str, source: Path, *, json: bool) -> int:
    from eascope.power.measurements import COLUMN, predicted

    rows = predicted(core, source)
    if json:
        print_json(rows)
    else:
        printed = [[*list(row.values())[:-1], f"{row[COLUMN]:.6f}"] for row in rows]
        sys.stdout.write(Table.of(list(rows[0]), printed).csv())
    return 0
