# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs on the fast engine and on gem5's detailed cores: what they print.

``python -m studies.program_speed`` executes missing runs, writes ``results/program-speed.json`` and
draws its page. gem5 needs some half an hour.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from experiments.cell import prepare
from experiments.pool import run_all
from experiments.request import resolve
from host.proc import Ending, say
from studies.command import command_of
from studies.costed import derive_costed
from studies.draw import save
from studies.program_speed.plan import (
    FAST,
    NAME,
    REFERENCE,
    SCENARIO,
    WHOLE,
    WHOLE_REFERENCE,
    request,
)
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
        asked = [
            *(request(SCENARIO, *engine) for engine in (FAST, REFERENCE)),
            *(request(WHOLE, *engine) for engine in (FAST, WHOLE_REFERENCE)),
        ]
        cells = [prepare(resolve(each)) for each in asked]
        names = cells[0].names
        cells.append(prepare(replace(names, figures=())))
        fast, gem5, *whole, without = run_all(cells, derive_costed)
        command = command_of("program_speed", arguments)
        record = record_of(names, (fast, gem5), without, (whole[0], whole[1]), command)
        say(f"  {save(NAME, record, options.folder)}: {len(record.programs)} programs")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
