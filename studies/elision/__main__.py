# SPDX-License-Identifier: GPL-2.0-or-later
"""The effect of eliding busy loops on gem5: the same cells executed and elided.

``python -m studies.elision`` executes missing runs, writes ``results/elision.json`` and draws its
page. gem5 decides the time of an executed iteration of the loop: on atomic CPUs a cycle per
instruction on every core type, on Minor and O3 as ``eascope characterise`` measured it. Here an
elided iteration takes the same time, so these cells differ from those of other pages, and have
their own runs. Windows are short enough to be executed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from host.proc import Ending, say
from studies.command import command_of
from studies.draw import save
from studies.elision.plan import CASES, NAME, prepared
from studies.elision.record import record_of
from studies.elision.run import run


def main(arguments: list[str] | None = None) -> int:
    """Run the set, write the record and draw its page."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.elision",
        description="Run a fixed set of cells on gem5, executed and elided; write record and page.",
        epilog="example: python -m studies.elision --scenario smoke",
    )
    names = {case.name: case for case in CASES}
    parser.add_argument("--scenario", nargs="+", choices=names, default=names)
    parser.add_argument("--folder", type=Path, help="write there instead")
    options = parser.parse_args(arguments)
    with Ending() as ending:
        pairs = run(prepared([names[name] for name in options.scenario]))
        record = record_of(pairs, command_of("elision", arguments))
        say(f"  {save(NAME, record, options.folder)}: {len(pairs)} cases")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
