# SPDX-License-Identifier: GPL-2.0-or-later
"""``make campaigns``: run what is missing of shipped campaigns, write records, draw their pages."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.arguments import count
from experiments.sweeps.campaign_file import load_campaign
from host.errors import check_names
from host.proc import Ending, say
from studies.campaigns.plan import record_name
from studies.campaigns.record import record_of
from studies.campaigns.run import complete, cut, swept
from studies.campaigns.shipped import PAGES
from studies.command import command_of
from studies.draw import save


def main(arguments: list[str] | None = None) -> int:
    """Run what is missing of a campaign (default: of all), write its record and draw its page."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.campaigns",
        description=main.__doc__,
        epilog="example: python -m studies.campaigns opp-sweep --seeds 10 -j 2",
    )
    parser.add_argument("campaign", nargs="*", help=", ".join(PAGES))
    parser.add_argument(
        "--seeds", type=count, metavar="N", help="seeds 0 to N-1 (default: the campaign's)"
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="AXIS=VALUES",
        help="only these values of an axis, with commas; may be repeated",
    )
    parser.add_argument(
        "--complete",
        action="store_true",
        help="run nothing: only the seeds of which every cell is done",
    )
    parser.add_argument("-j", "--jobs", type=count, metavar="N", help="(default: all cores)")
    parser.add_argument("--folder", type=Path, help="write there instead")
    options = parser.parse_args(arguments)
    with Ending() as ending:
        check_names("campaign", options.campaign, PAGES)
        for name in options.campaign or PAGES:
            whole, page = load_campaign(name), PAGES[name]
            chosen = cut(whole, page, options.seeds, options.only)
            survey = complete(chosen) if options.complete else swept(chosen, options.jobs)
            record = record_of(survey, whole, page, command_of("campaigns", arguments))
            say(f"  {save(record_name(name), record, options.folder)}")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
