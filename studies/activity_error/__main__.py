# SPDX-License-Identifier: GPL-2.0-or-later
"""The fast engine's activity compared with gem5's counted events: ``make activity-error``.

The fast engine counts instructions and no events. Every instruction is billed as an instruction of
rt-app's busy loop, with the events that gem5's detailed core counted in the loop. A cell on gem5's
detailed cores counts the events of all code but the loop, which is elided. The record has both
figures for each event. It also has the energy of the same rows billed both ways, so that only
activity differs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import polars as pl

from analysis.derive import Derived
from analysis.engine import cpu_models
from engines.records import COUNTERS
from experiments.cell import Cell, prepare
from experiments.finished import derived_for
from experiments.pool import run_all
from experiments.request import Request, resolve
from experiments.runs import Run
from host.cache import write_atomic
from host.proc import Ending, say
from power.derived import POWER_MODELS
from power.model import KERNEL
from power.records import (
    ActivityCell,
    ActivityRecord,
    ordered_json,
)
from studies.activity_error.record import compare

RECORDS = POWER_MODELS / "activity"
REQUEST = Request(
    platform="juno-r2", variant="mainline", scenario="smoke", engine="gem5", mode="elided-detailed"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cell, unless its run is there, and write the record."""
    parser = argparse.ArgumentParser(prog="python -m studies.activity_error", description=__doc__)
    parser.parse_args(arguments)
    with Ending() as ending:
        cell = prepare(resolve(REQUEST))

        def after(cell: Cell, run: Run) -> Derived:
            return derived_for(cell, run, "derived")

        (derived,) = run_all([cell], after)
        platform, activity = cell.names.platform, cell.names.activity
        compared = compare(
            *(platform, activity, cpu_models(derived.cell)),
            pl.read_parquet(derived.run / COUNTERS),
            derived.table("intervals"),
        )
        run = ActivityCell(
            REQUEST.scenario, REQUEST.variant, derived.cell.mode, REQUEST.seed, cell.simkey
        )
        record = ActivityRecord(
            schema=1,
            platform=platform.name,
            command="make activity-error",
            cell=run,
            kernel=KERNEL,
            clusters=tuple(compared),
        )
        path = RECORDS / f"{platform.name}.json"
        RECORDS.mkdir(exist_ok=True)
        write_atomic(path, ordered_json(record))
        say(f"  {path}: written")
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
