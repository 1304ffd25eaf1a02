# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope em``: a platform's energy model with derived power, or its device tree."""

from __future__ import annotations

import argparse

from eascope.experiments.cli.options import add_energy_model
from eascope.experiments.cli.output import print_json

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


def run(options: argparse.Namespace) -> int:
    """Print a line per OPP, or the device tree.

    :raises RequestError: for a platform or an energy model that there is not.
    """
    from eascope.configs.inherit import activity_of
    from eascope.configs.platform_file import load_platform
    from eascope.power.em import em_rows, records, text
    from eascope.power.given import given_model

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
