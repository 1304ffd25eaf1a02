"""``python -m analysis.power calibrate|predict|em|validation``: what the Makefile calls."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis.power import calibrate, em, predict, validation
from configs.host.errors import EascopeError
from configs.platform import load_platform
from configs.power.counted import counted_cores


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m analysis.power", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("calibrate", help="fit every core that has counted events, and commit it")
    one = commands.add_parser("predict", help="rows of the data's form with a power_w column")
    one.add_argument("--core", required=True)
    one.add_argument("--csv", required=True, type=Path)
    board = commands.add_parser("em", help="the kernel's energy model beside the derived one, mW")
    board.add_argument("platform")
    board.add_argument("--json", action="store_true")
    commands.add_parser("validation", help="make docs/results/power-validation.md and its figures")
    options = parser.parse_args(arguments)
    try:
        if options.command == "calibrate":
            for core in counted_cores():
                print(calibrate.write(calibrate.calibrate(core)))
        elif options.command == "predict":
            predict.predict(options.core, options.csv, sys.stdout)
        elif options.command == "em":
            rows = em.em_rows(load_platform(options.platform))
            print(json.dumps(em.records(rows), indent=1) if options.json else em.text(rows))
        else:
            print(validation.write())
    except EascopeError as error:
        print(f"analysis.power: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
