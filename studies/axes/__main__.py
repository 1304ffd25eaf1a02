# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m studies.axes``: which verdicts survive the model axes, record and page; resumable."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from analysis.records.verdict import ENOUGH_FOR_VERDICT
from analysis.results.axes import ModelAxes
from analysis.results.origin import RESULTS
from configs.axes import AXES
from experiments.axes import wanted_axes
from host.proc import Ending, say
from studies.axes.plan import NAME, only, plan
from studies.axes.record import added, record_of
from studies.axes.run import vary
from studies.command import command_of
from studies.draw import save


def main(arguments: list[str] | None = None) -> int:
    """Execute missing runs, write the record of the scenarios (default: all), and draw its page."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.axes",
        description=main.__doc__,
        epilog="example: python -m studies.axes uclamp/frequency-spike --axes power,idle_exit",
    )
    parser.add_argument("scenario", nargs="*", help="only these (default: all)")
    parser.add_argument(
        "--defaults", action="store_true", help="leave out the conditions of the sources"
    )
    parser.add_argument(
        "--sourced",
        action="store_true",
        help="where a scenario has source conditions, leave out the comparison at the defaults",
    )
    parser.add_argument("--platform", help="only this one (default: all)")
    parser.add_argument(
        "--axes", default="", help=f"some of {', '.join(AXES)}, with commas (default: all)"
    )
    parser.add_argument(
        "--seeds", type=int, default=ENOUGH_FOR_VERDICT, help=f"(default {ENOUGH_FOR_VERDICT})"
    )
    parser.add_argument("--add", action="store_true", help="keep the record's other scenarios")
    parser.add_argument("--folder", type=Path, help="write there instead")
    options = parser.parse_args(arguments)
    with Ending() as ending:
        axes = wanted_axes(options.axes)
        named = options.scenario, options.platform
        varied = only(plan(), *named, defaults=options.defaults, from_sources=options.sourced)
        every = []
        for each in varied:
            words = f" ({each.conditions})" if each.conditions else ""
            say(f"{each.scenario} on {each.platform}{words}: {', '.join(each.variants)}")
            every.append(vary(each, axes, options.seeds))
        record = record_of(every, command_of("axes", arguments), axes)
        if options.add:
            record = added(ModelAxes.read((options.folder or RESULTS) / f"{NAME}.json"), record)
        say(f"  {save(NAME, record, options.folder)}")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
