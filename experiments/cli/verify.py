# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope verify``: check runs, ledgers of campaigns and the cache against their digests."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from eascope.experiments.cli.output import print_json, run_object
from eascope.host.cache import check_artefact, entries
from eascope.host.errors import EascopeError

SUMMARY = "verify the digests of runs, of campaign ledgers and of the cache"
EXAMPLE = "eascope verify"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The runs."""
    parser.add_argument(
        "runs",
        nargs="*",
        metavar="RUN",
        help="only these runs (default: all, with ledgers and cache)",
    )


def run(options: argparse.Namespace) -> int:
    """Print every file that has changed since it was written; exit 1 when there is one.

    :raises RequestError: when no run has a given name, or there is no folder of runs.
    """
    from eascope.experiments.runs.store import all_runs, check, find_run
    from eascope.experiments.runs.writable import check_runs_folder
    from eascope.experiments.sweeps.ledger import ledgers

    check_runs_folder()
    runs = [find_run(name) for name in options.runs] if options.runs else all_runs()
    objects = [run_object(entry) | {"problems": check(entry)} for entry in runs]
    if not options.runs:
        objects += [_ledger_object(name) for name in ledgers()]
        objects += [_cache_object(folder) for folder in entries()]
    bad = [entry for entry in objects if entry["problems"]]
    if options.json:
        print_json(objects)
    else:
        for entry in bad:
            print("\n".join(entry["problems"]))
        print(f"{len(objects) - len(bad)} of {len(objects)} as they were written")
    return 1 if bad else 0


def _ledger_object(campaign: str) -> dict[str, Any]:
    from eascope.experiments.sweeps.ledger import ledger_folder, problems_of

    problems = problems_of(campaign)
    state = "broken" if problems else "done"
    return {"ledger": str(ledger_folder(campaign)), "state": state, "problems": problems}


def _cache_object(folder: Path) -> dict[str, Any]:
    entry: dict[str, Any] = {"cache": str(folder), "state": "done", "problems": []}
    try:
        check_artefact(folder)
    except EascopeError as error:
        entry |= {"state": "broken", "problems": [str(error)]}
    return entry
