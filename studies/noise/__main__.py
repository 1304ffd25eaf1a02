# SPDX-License-Identifier: GPL-2.0-or-later
"""``make noise``: the noise floor of every scenario and platform, record and page; resumable."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from analysis.results.noise import FILE, Noise
from analysis.statistics import ENOUGH
from host.errors import RequestError, check_names
from host.proc import Ending, say
from studies.command import command_of
from studies.draw import save
from studies.noise.plan import NAME, SEEDS, plan
from studies.noise.record import lacking, merged, record_of
from studies.noise.run import complete, measure


def main(arguments: list[str] | None = None) -> int:
    """Execute missing runs, write the record and draw its page."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.noise",
        description=main.__doc__,
        epilog="example: python -m studies.noise eas/video-playback --folder /tmp/noise",
    )
    parser.add_argument(
        "scenario", nargs="*", help="only these (default: all of the results pages)"
    )
    parser.add_argument(
        "--seeds", type=int, default=SEEDS, help=f"seeds of each kernel (default {SEEDS})"
    )
    parser.add_argument(
        "--complete",
        action="store_true",
        help="execute nothing: only scenarios whose runs are all there",
    )
    parser.add_argument(
        "--missing",
        action="store_true",
        help="keep the record's scenarios: only those that it lacks or has of older patches",
    )
    parser.add_argument("--folder", type=Path, help="write there instead")
    options = parser.parse_args(arguments)
    with Ending() as ending:
        if options.seeds < ENOUGH:
            raise RequestError(f"--seeds {options.seeds}: allowed: at least {ENOUGH}")
        every = plan()
        check_names("scenario", options.scenario, {scenario for _, scenario in every})
        chosen = [each for each in every if not options.scenario or each[1] in options.scenario]
        known = Noise.read(FILE) if options.missing else None
        if known:
            chosen = lacking(known, chosen)
            if not chosen:
                raise RequestError("--missing: the record has every scenario, of today's patches")
        if options.complete:
            chosen = complete(chosen, options.seeds)
            if not chosen:
                raise RequestError("--complete: no scenario's runs are all there")
        command = command_of("noise", arguments)
        record = record_of(measure(chosen, options.seeds), command)
        if known:
            record = merged(known, record, every)
        say(f"  {save(NAME, record, options.folder)}")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
