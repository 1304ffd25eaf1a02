# SPDX-License-Identifier: GPL-2.0-or-later
"""``make results``: execute missing runs, write records and draw their pages; resumable."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from analysis.records.verdict import ENOUGH_FOR_VERDICT
from experiments.scenario_file import load_scenario
from host.errors import check_names
from host.proc import Ending, say
from studies.command import command_of
from studies.draw import save
from studies.pages.plan import only, pages, sourced
from studies.pages.record import record_of
from studies.pages.run import compare
from studies.wakeup_cost.plan import NAME as WAKEUP_COST
from studies.wakeup_cost.record import record_of as wakeup_record

SEEDS = ENOUGH_FOR_VERDICT


def main(arguments: list[str] | None = None) -> int:
    """Execute missing runs, write the records of the named pages (default: all), and draw them."""
    known = {page.name: page for page in pages()}
    parser = argparse.ArgumentParser(
        prog="python -m studies.pages",
        description=main.__doc__,
        epilog="example: python -m studies.pages uclamp --seeds 3",
    )
    parser.add_argument("page", nargs="*", help=", ".join([*known, WAKEUP_COST]))
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"(default {SEEDS})")
    parser.add_argument("--full", action="store_true", help="take the scenarios' full durations")
    parser.add_argument(
        "--variants", help="only these variants of a page, with commas (default: all)"
    )
    parser.add_argument(
        "--sourced",
        action="store_true",
        help="where a scenario has source conditions, leave out the comparison at the defaults",
    )
    parser.add_argument("--folder", type=Path, help="write there instead")
    options = parser.parse_args(arguments)
    with Ending() as ending:
        wanted = options.page or [*known, WAKEUP_COST]
        check_names("page", wanted, [*known, WAKEUP_COST])
        chosen = [known[name] for name in wanted if name != WAKEUP_COST]
        if options.variants:
            chosen = [only(page, options.variants.split(",")) for page in chosen]
            chosen = [page for page in chosen if page.groups]
        if options.sourced:
            chosen = [sourced(page) for page in chosen]
        comparisons = compare(chosen, options.seeds, options.full) if chosen else {}
        command = command_of("pages", arguments)
        for page in chosen:
            rows = [
                (group, load_scenario(group.scenario, compared.platform), compared)
                for group in page.groups
                for compared in (comparisons[page.name, group],)
            ]
            say(f"  {save(page.name, record_of(rows, command), options.folder)}")
        if WAKEUP_COST in wanted:
            of = options.variants.split(",") if options.variants else None
            record = wakeup_record(command, of)
            say(f"  {save(WAKEUP_COST, record, options.folder)}")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
