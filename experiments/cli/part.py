# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope part``: the cells of one part of a sweep; jobs of Snakemake and Slurm call it."""

from __future__ import annotations

import argparse
from pathlib import Path

SUMMARY = "run one part of a sweep (called by the jobs of eascope sweep)"
EXAMPLE = "eascope part runs/campaigns/opp-sweep/sessions/NAME/parts/0.json"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The part's file."""
    parser.add_argument("file", metavar="FILE", help="a part that eascope sweep wrote")


def run(options: argparse.Namespace) -> int:
    """Run the missing cells of the part; 1 when a cell has failed.

    :raises RequestError: a file that is no part.
    :raises EascopeError: when the part cannot be begun.
    """
    from eascope.experiments.cli.output import print_json
    from eascope.experiments.sweeps.part import read_part, run_part

    part = read_part(Path(options.file))
    failed = run_part(part)
    if options.json:
        print_json({"cells": part.cells, "failed": failed})
    return 1 if failed else 0
