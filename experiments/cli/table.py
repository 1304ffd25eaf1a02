# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope table``: every measure of every finished cell of a campaign, as CSV."""

from __future__ import annotations

import argparse
from pathlib import Path

from eascope.experiments.cli.campaign_options import add_campaign, campaign_of, out_file
from eascope.experiments.cli.output import print_json, shown

SUMMARY = "write a campaign's results as one long CSV table, one row per simulation and measure"
EXAMPLE = "eascope table opp-sweep --out opp-sweep.csv"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The campaign, the measures, the output."""
    add_campaign(parser)
    parser.add_argument(
        "--measure",
        action="append",
        default=[],
        metavar="M",
        help="only this measure, as result.json names it, such as energy_j.total; may be repeated",
    )
    parser.add_argument(
        "--against",
        metavar="AXIS",
        help="write differences instead: each value of this axis less the axis's first value, with "
        "all other axes equal, over common seeds; from ten seeds on, with 95%% intervals",
    )
    parser.add_argument(
        "--figure",
        metavar="NAME",
        help="with --against and one --measure: draw all differences as NAME.svg and NAME.pdf, "
        "unless the same table is drawn there already",
    )
    parser.add_argument("--out", metavar="FILE", help="file to write (default: stdout)")


def run(options: argparse.Namespace) -> int:
    """Write the table; 1 when cells of the campaign are not done.

    :raises RequestError: a fault of the campaign, or a measure that no cell has.
    """
    import sys
    import tempfile

    from eascope.experiments.runs.writable import check_runs_folder
    from eascope.experiments.sweeps.campaign_table import against, draw_once, place_of, plain
    from eascope.experiments.sweeps.survey import survey_of
    from eascope.host.cache import write_atomic
    from eascope.host.dry import nothing_built
    from eascope.host.errors import RequestError
    from eascope.host.proc import say
    from eascope.host.writing import writing_into

    check_runs_folder()
    campaign = campaign_of(options)
    out = out_file("--out", options.out) if options.out is not None else None
    drawing = out_file("--figure", options.figure) if options.figure is not None else None
    if options.against is not None:
        place_of(campaign, options.against)
    if drawing is not None and (options.against is None or len(options.measure) != 1):
        raise RequestError(f"--figure {options.figure} works only with --against and one --measure")
    # Files of derived platforms are read again for the record of their cells.
    with tempfile.TemporaryDirectory(prefix="eascope-") as folder:
        with nothing_built():
            survey = survey_of(campaign, Path(folder))
        counts = survey.counts
        if not counts["done"]:
            raise RequestError(f"{campaign.file}: no cell is done: run eascope sweep first")
        if options.against is None:
            table = plain(survey, options.measure)
        else:
            table, rows = against(survey, options.against, options.measure)
    if drawing is not None:
        drawn = draw_once(drawing, table, rows, options.measure[0])
        say(f"{options.figure}.svg: {'drawn' if drawn else 'unchanged, not redrawn'}")
    if out is not None:
        with writing_into(out.parent):
            write_atomic(out, "".join(table.lines).encode())
    if options.json and out is None:
        print_json({"table": table.objects, **counts})
    elif options.json:
        print_json({"file": str(out), "lines": len(table.rows), **counts})
    elif out is None:
        sys.stdout.writelines(table.lines)
    else:
        print(f"{shown(out)}: {len(table.rows)} lines of {counts['done']} of {survey.cells} cells")
    return 1 if counts["done"] < survey.cells else 0
