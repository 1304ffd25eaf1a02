# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m research.activity_error``: the fast engine's activity and gem5's counted events.

The fast engine counts instructions and no events. Every instruction is billed as an instruction of
rt-app's busy loop, with the events that gem5's detailed core counted in the loop. A cell on gem5's
detailed cores counts the events of all code but the loop, which is elided. The record has both
figures for each event. It also has the energy of the same rows billed both ways, so that only
activity differs. It is in ``power-models/activity``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from eascope.analysis.energy import FJ_PER_J
from eascope.analysis.engine import cpu_models
from eascope.configs.activity import Activity
from eascope.configs.platform import Cluster, Platform
from eascope.engines.records import COUNTERS
from eascope.experiments.runs.finished import derived_for
from eascope.experiments.runs.measure import measured
from eascope.experiments.runs.request import Request, resolve
from eascope.host.cache import write_atomic
from eascope.host.proc import Ending, say
from eascope.power.derived import KERNEL, DerivedPower, busy_events
from eascope.power.events import EventPower, load_events
from eascope.power.mcpat import POWER_MODELS
from eascope.power.model import SHARED_PART, interval_of
from eascope.power.records import (
    ActivityCell,
    ActivityComparison,
    ActivityRecord,
    EventActivity,
    ordered_json,
)

RECORDS = POWER_MODELS / "activity"
REQUEST = Request(
    platform="juno-r2", variant="mainline", scenario="smoke", engine="gem5", mode="elided-detailed"
)


def digits(value: float) -> float:
    """``value`` with six digits."""
    return float(f"{value:.6g}")


def events(
    power: EventPower, volts: float, stated: Mapping[str, float], counters: pl.DataFrame
) -> dict[str, EventActivity]:
    """By event that costs something: counts per instruction, stated and counted, and energy in pJ.

    :param stated: events of one instruction as the fast engine bills it.
    :param counters: rows of one cluster, its shared part's included.
    """
    cpus = counters.filter(pl.col("cpu") != SHARED_PART)
    instructions = float(cpus["instructions"].sum())
    if not instructions:
        return {}
    compared = {}
    for event in power.energy_pj:
        picojoules = power.pj(event, volts)
        counted = float(counters[event].sum()) if event in counters.columns else 0.0
        if picojoules and (counted or stated.get(event)):
            compared[event] = EventActivity(
                stated=digits(stated.get(event, 0.0)),
                counted=digits(counted / instructions),
                pj=digits(picojoules),
            )
    return compared


def billed(model: DerivedPower, cluster: Cluster, intervals: pl.DataFrame) -> tuple[float, float]:
    """Energy in J of the cluster's rows: with the events that were counted, and without them."""
    counted = stated = 0
    for row in intervals.iter_rows(named=True):
        interval = interval_of(row)
        counted += sum(model.interval_fj(cluster, interval).values())
        stated += sum(model.interval_fj(cluster, replace(interval, events={})).values())
    return counted / FJ_PER_J, stated / FJ_PER_J


def compare(
    platform: Platform,
    activity: Activity,
    models: Mapping[str, str],
    counters: pl.DataFrame,
    intervals: pl.DataFrame,
) -> list[ActivityComparison]:
    """Both ways of billing for every cluster that executed anything."""
    model = DerivedPower(platform, activity)
    errors = []
    for cluster in platform.clusters:
        power = load_events(cluster.core.name)
        own = counters.filter((pl.col("cluster") == cluster.index) & (pl.col("cpu") >= SHARED_PART))
        rows = intervals.filter(pl.col("cluster") == cluster.index)
        ipc, volts = activity.ipc(cluster), cluster.opps[-1].uv / 1e6
        per_cycle, source = busy_events(power, cluster, activity)
        stated = {event: count / ipc for event, count in per_cycle.items()}
        counted_j, stated_j = billed(model, cluster, rows)
        cpus = rows.filter(pl.col("cpu") != SHARED_PART)
        errors.append(
            ActivityComparison(
                cluster=cluster.name,
                core=cluster.core.name,
                model=models[cluster.name],
                stated=source,
                instructions_counted=int(own["instructions"].sum()),
                active_s=digits(float(cpus["active_ns"].sum()) * 1e-9),
                counted_s=digits(float(cpus["on_ns"].sum()) * 1e-9),
                volts=volts,
                events=events(power, volts, stated, own),
                energy_counted_j=digits(counted_j),
                energy_stated_j=digits(stated_j),
            )
        )
    return errors


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cell, unless its run is there, and write the record."""
    parser = argparse.ArgumentParser(prog="python -m research.activity_error", description=__doc__)
    parser.parse_args(arguments)
    with Ending() as ending:
        names = resolve(REQUEST)
        (derived,) = measured([names], lambda cell, run: derived_for(cell, run, "derived"))
        platform, activity = names.platform, names.activity
        compared = compare(
            *(platform, activity, cpu_models(derived.cell)),
            pl.read_parquet(derived.run / COUNTERS),
            derived.table("intervals"),
        )
        run = ActivityCell(
            REQUEST.scenario, REQUEST.variant, derived.cell.mode, REQUEST.seed, derived.cell.simkey
        )
        record = ActivityRecord(
            schema=1,
            platform=platform.name,
            command=parser.prog,
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
