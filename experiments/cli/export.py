# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope export``: a finished run in the format of another tool."""

from __future__ import annotations

import argparse
from pathlib import Path

from eascope.experiments.cli.options import add_power
from eascope.experiments.cli.output import print_json, shown
from eascope.experiments.cli.request import billing_of
from eascope.host.errors import RequestError

SUMMARY = "write a run as a trace of Perfetto"
EXAMPLE = "eascope export 3f9a --perfetto"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The run, the format, the file and the power model."""
    parser.add_argument(
        "run", metavar="RUN", help="folder of the run, or the beginning of its name"
    )
    parser.add_argument(
        "--perfetto", action="store_true", help="the format: a trace for ui.perfetto.dev (required)"
    )
    parser.add_argument(
        "--out", metavar="FILE", help="write this file (default: RUN.perfetto-trace)"
    )
    add_power(parser)


def run(options: argparse.Namespace) -> int:
    """Write the trace.

    :raises EascopeError: no run has that name, it is not finished or damaged, or the file is there.
    """
    from eascope.analysis.perfetto import perfetto
    from eascope.experiments.finished import derived_by, platform_of
    from eascope.experiments.runs import find_run

    billing = billing_of(options)
    if not options.perfetto:
        raise RequestError("export: --perfetto is missing: allowed: --perfetto")
    chosen = find_run(options.run)
    if chosen.state != "done":
        raise RequestError(f"{shown(chosen.path)}: {chosen.state}: allowed: a finished run")
    path = Path(options.out or f"{chosen.path.name[:12]}.perfetto-trace")
    if path.exists():
        raise RequestError(f"--out {path}: is there: allowed: the name of a new file")
    path.write_bytes(perfetto(derived_by(chosen, billing), platform_of(chosen)))
    print_json({"file": str(path)}) if options.json else print(shown(path))
    return 0
