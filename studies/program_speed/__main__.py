# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs on the fast engine and on gem5's detailed cores: what they print.

``python -m studies.program_speed`` executes missing runs, writes ``results/program-speed.json`` and
draws its page. gem5 needs some fifteen minutes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.cell import prepare
from experiments.pool import run_all
from experiments.request import resolve
from host.proc import Ending, say
from studies.command import command_of
from studies.costed import derive_costed
from studies.draw import save
from studies.program_speed.plan import FAST, NAME, REFERENCE, request
from studies.program_speed.record import record_of


def main(arguments: list[str] | None = None) -> int:
    """Run the scenario on both engines, write the record and draw its page."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.program_speed",
        description="Run a scenario's programs on both engines; write record and page.",
        epilog="example: python -m studies.program_speed",
    )
    parser.add_argument("--folder", type=Path, help="write there instead")
    options = parser.parse_args(arguments)
    with Ending() as ending:
        cells = [prepare(resolve(request(*engine))) for engine in (FAST, REFERENCE)]
        fast, gem5 = run_all(cells, derive_costed)
        record = record_of(cells[0].names, fast, gem5, command_of("program_speed", arguments))
        say(f"  {save(NAME, record, options.folder)}: {len(record.programs)} programs")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
