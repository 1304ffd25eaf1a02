# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m studies.demo``: the demo's record, and the README's headline."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from analysis.records.verdict import ENOUGH_FOR_VERDICT
from analysis.results.origin import RESULTS
from host.cache import write_atomic
from host.proc import Ending, say
from studies import front
from studies.demo.plan import GROUP, NAME, PAGE
from studies.demo.record import record_of
from studies.pages.run import compare


def main(arguments: list[str] | None = None) -> int:
    """Execute missing runs, write the record and draw the README."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.demo",
        description=main.__doc__,
        epilog="example: python -m studies.demo --folder /tmp/record",
    )
    parser.add_argument("--folder", type=Path, help="write only the record, there")
    options = parser.parse_args(arguments)
    with Ending() as ending:
        compared = compare([PAGE], ENOUGH_FOR_VERDICT, full=False)[NAME, GROUP]
        record = record_of(compared, "python -m studies.demo")
        path = (options.folder or RESULTS) / f"{NAME}.json"
        record.write(path)
        say(f"  {path}")
        if options.folder is None:
            text = front.README.read_text(encoding="utf-8")
            write_atomic(front.README, front.drawn(text).encode())
            say(f"  {front.README}")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
