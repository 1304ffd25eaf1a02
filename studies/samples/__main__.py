# SPDX-License-Identifier: GPL-2.0-or-later
"""``make campaign-samples``: cells of shipped campaigns on gem5 and on the fast engine."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.arguments import count
from host.errors import EascopeError, check_names
from host.proc import Ending, duration, say
from studies.campaigns.shipped import PAGES
from studies.command import command_of
from studies.draw import save
from studies.samples.plan import FAST_SEEDS, NAME
from studies.samples.record import record_of
from studies.samples.run import run


def main(arguments: list[str] | None = None) -> int:
    """Run what is missing of the samples on both engines, write the record and draw its page."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.samples",
        description=main.__doc__,
        epilog="example: python -m studies.samples opp-sweep em-error-sweep",
    )
    parser.add_argument(
        "campaign", nargs="*", help=f"{', '.join(PAGES)} (default: all, for a whole record)"
    )
    parser.add_argument(
        "--fast-seeds",
        type=count,
        metavar="N",
        default=FAST_SEEDS,
        help="seeds 0 to N-1 on the fast engine (default %(default)s); gem5 runs seed 0",
    )
    parser.add_argument(
        "--present",
        action="store_true",
        help="run nothing; leave out cells that lack a run on either engine",
    )
    parser.add_argument("--folder", type=Path, help="write there instead")
    options = parser.parse_args(arguments)
    with Ending() as ending:
        check_names("campaign", options.campaign, PAGES)
        samples = run(options.campaign or list(PAGES), options.fast_seeds, present=options.present)
        if not any(samples.values()):
            raise EascopeError("no cell was run on both engines yet")
        record = record_of(samples, command_of("samples", arguments))
        written = save(NAME, record, options.folder)
        say(
            f"  {written}: {record.gem5_runs} runs on gem5, {duration(record.gem5_cpu_s)} of "
            "processor time"
        )
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
