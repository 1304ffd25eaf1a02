# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m studies.first_figure``: video playback with and without EAS, record and page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from analysis.records.verdict import ENOUGH_FOR_VERDICT
from host.proc import Ending, say
from studies.draw import save
from studies.first_figure.plan import GROUP, NAME, PAGE
from studies.first_figure.record import record_of
from studies.pages.run import compare


def main(arguments: list[str] | None = None) -> int:
    """Execute missing runs, write the record and draw its page."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.first_figure",
        description=main.__doc__,
        epilog="example: python -m studies.first_figure --folder /tmp/page",
    )
    parser.add_argument("--folder", type=Path, help="write there instead")
    options = parser.parse_args(arguments)
    with Ending() as ending:
        compared = compare([PAGE], ENOUGH_FOR_VERDICT, full=False)[NAME, GROUP]
        record = record_of(compared, "python -m studies.first_figure")
        say(f"  {save(NAME, record, options.folder)}")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
