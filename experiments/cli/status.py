# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope status``: every run there is and its state."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.cli.output import print_columns, print_json, run_object, shown
from host.cache import runs_root

SUMMARY = "list every run and its state"
EXAMPLE = "eascope status"

COLUMNS = ("run", "state", "platform", "variant", "scenario", "engine", "seed")
#: Columns that are shown where runs differ in them, or one has something unusual.
DISTINGUISHING = ("mode", "duration", "elide", "controls", "kernel", "energy_model")


def add_options(parser: argparse.ArgumentParser) -> None:
    """None of its own."""


def run(options: argparse.Namespace) -> int:
    """Print every run."""
    from experiments.runs import all_runs

    objects = [run_object(entry) for entry in all_runs()]
    if options.json:
        print_json(objects)
        return 0
    for entry in objects:
        entry["run"] = Path(entry["run"]).name[:12]
        entry["time"] = f"{entry['host_s']:.1f} s" if "host_s" in entry else entry.get("cause", "")
    columns = [*COLUMNS, *distinguishing(objects), "time"]
    print_columns([[entry.get(column, "-") for column in columns] for entry in objects], columns)
    print(f"{len(objects)} runs in {shown(runs_root())}")
    return 0


def distinguishing(objects: Sequence[Mapping[str, Any]]) -> list[str]:
    """Those of `DISTINGUISHING` in which the runs differ, as far as they are readable."""
    known = [entry for entry in objects if "platform" in entry]
    return [
        column
        for column in DISTINGUISHING
        if len({str(entry.get(column, "-")) for entry in known}) > 1
    ]
