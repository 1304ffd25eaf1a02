# SPDX-License-Identifier: GPL-2.0-or-later
"""Agreement of the engines: a fixed set of cells on gem5 and on the fast engine.

``python -m studies.agreement`` (``make engine-agreement``) executes missing runs, writes
``results/engine-agreement.json`` and draws its page. It can be interrupted: complete runs stay.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from analysis.results.elision import executed_costs
from experiments.arguments import count
from host.errors import EascopeError
from host.proc import Ending, duration, say
from studies.agreement.plan import (
    DETAILED,
    DETAILED_SEEDS,
    ENGINES,
    FAST,
    FAST_SEEDS,
    NAMES,
    SCENARIOS,
    SEEDS,
)
from studies.agreement.record import record_of
from studies.agreement.run import comparable, run
from studies.command import command_of
from studies.draw import save


def main(arguments: list[str] | None = None) -> int:
    """Run the set, write the record and draw its page."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.agreement",
        description="Run a fixed set of cells on gem5 and the fast engine; write record and page.",
        epilog="example: python -m studies.agreement --scenario smoke --engine fast elided",
    )
    parser.add_argument("--scenario", nargs="+", choices=SCENARIOS, default=SCENARIOS)
    names = [column for column, _, _ in ENGINES]
    parser.add_argument("--engine", nargs="+", choices=names, default=names)
    for option, usual, where in (
        ("--seeds", SEEDS, "in mode elided"),
        ("--fast-seeds", FAST_SEEDS, "on the fast engine"),
        ("--detailed-seeds", DETAILED_SEEDS, "in mode elided-detailed"),
    ):
        parser.add_argument(
            option, type=count, metavar="N", default=usual,
            help=f"seeds 0..N-1 {where} (default {usual})",
        )  # fmt: skip
    parser.add_argument(
        "--present",
        action="store_true",
        help="run nothing; write record and page from the runs that are there",
    )
    parser.add_argument(
        "--speeds", choices=NAMES, default="board",
        help="speeds of core types, on all engines (default %(default)s); each has its own page",
    )  # fmt: skip
    parser.add_argument("--folder", type=Path, help="write there instead")
    options = parser.parse_args(arguments)
    wanted = {"elided": options.seeds, FAST: options.fast_seeds, DETAILED: options.detailed_seeds}
    seeds = {column: wanted[column] for column in options.engine}
    with Ending() as ending:
        cells = comparable(
            run(options.scenario, seeds, speeds=options.speeds, present=options.present)
        )
        if not cells:
            raise EascopeError("no cell was run on both engines yet")
        command = command_of("agreement", arguments)
        record = record_of(cells, command, executed_costs())
        written = save(NAMES[options.speeds], record, options.folder)
        runs = [
            ran for columns in cells.values() for some in columns.values() for ran in some.values()
        ]
        spent = sum(ran.host.host_s for ran in runs)
        say(
            f"  {written}: {len(cells)} cells, {len(runs)} runs, "
            f"{duration(spent)} of host time in all of them"
        )
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
