# SPDX-License-Identifier: GPL-2.0-or-later
"""Calibrate the power models (calibrate), or draw the page of their errors (validation)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from host.proc import Ending
from power import calibrate
from power.counted import counted_cores
from studies.power_validation import page


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m studies.power_validation", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(
        "calibrate", help="fit every core that has counted events, and write its calibration"
    )
    commands.add_parser(
        "validation", help="write docs/results/power-validation.md and its drawings"
    )
    options = parser.parse_args(arguments)
    with Ending() as ending:
        if options.command == "calibrate":
            for core in counted_cores():
                print(calibrate.write(calibrate.calibrate(core)))
        else:
            print(page.write())
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
