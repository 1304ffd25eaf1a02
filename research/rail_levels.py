# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m research.rail_levels``: levels of juno-r2 with its rails moved to rt-app's busy loop.

The runs are those of the page of boards, with the loop's own speed. Only what a busy CPU is billed
differs (`power.moved`): both energies are of the same intervals.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import polars as pl

from eascope.configs.activity import Activity
from eascope.configs.billing import MEASURED
from eascope.configs.platform import Platform
from eascope.configs.program_events import ClusterEvents, load_events_of
from eascope.experiments.renew.origins import origin_of
from eascope.experiments.runs.finished import derived_for
from eascope.experiments.runs.measure import measured, seeded
from eascope.experiments.runs.request import Request, resolve
from eascope.host.errors import RequestError
from eascope.power.events import load_events
from eascope.power.model import interval_of
from eascope.power.moved import dynamic_of, loop_dynamic, moved_to_loop
from eascope.power.stated import StatedPower
from research.draw import read
from research.levels import STUDY
from research.plan import ROOT, plan_of
from research.run import study_command, table

PLATFORM = "juno-r2"
#: What ran when its rails were metered (the platform's source of them).
METERED = "sysbench-cpu"
POWERS = (
    *("cluster", "khz", "metered_uw", "moved_uw", "derived_ratio"),
    *("metered_clock_mw", "metered_events_mw", "loop_clock_mw", "loop_events_mw"),
)
LEVELS = (
    *("scenario", "variant", "milliwatt", "plus_minus", "ours", "moved"),
    *("percent", "moved_percent"),
)


def powers(
    platform: Platform, after: Platform, activity: Activity, metered: Mapping[str, ClusterEvents]
) -> Iterator[list[Any]]:
    """Rows of `POWERS`; derived powers are those at 1 V."""
    for cluster, other in zip(platform.clusters, after.clusters, strict=True):
        power, program = load_events(cluster.core.name), metered[cluster.name]
        for opp in cluster.opps:
            of = dynamic_of(power, program, opp.khz)
            to = loop_dynamic(power, cluster, activity, opp.khz)
            before, now = (
                StatedPower(where, MEASURED).busy_microwatt(each, opp.khz)
                for where, each in ((platform, cluster), (after, other))
            )
            derived = (1e3 * each for each in (of.clock_w, of.events_w, to.clock_w, to.events_w))
            yield [cluster.name, opp.khz, before, now, to.all_w / of.all_w, *derived]


def added_j(before: Platform, after: Platform, intervals: pl.DataFrame) -> float:
    """Energy in J by which the powers of ``after`` exceed those of ``before``."""
    one, other = StatedPower(before, MEASURED), StatedPower(after, MEASURED)
    total = 0
    for row in intervals.iter_rows(named=True):
        cluster, interval = before.clusters[row["cluster"]], interval_of(row)
        total += sum(other.interval_fj(cluster, interval).values())
        total -= sum(one.interval_fj(cluster, interval).values())
    return total / 1e15


def record_of(command: str) -> dict[str, Any]:
    """The record of all levels; executes missing runs."""
    plan = plan_of(STUDY)
    meters = [
        each for each in read(ROOT / plan.records["meter"])["level"] if each["platform"] == PLATFORM
    ]
    asked = [resolve(_request(each)) for each in meters]
    platform, activity = asked[0].platform, asked[0].activity
    metered = load_events_of(platform, METERED)
    if not metered:
        raise RequestError(
            f"{METERED}: no events: run python -m research.rail_activity --measure {PLATFORM} "
            "(needs gem5)"
        )
    after = moved_to_loop(platform, activity, metered)
    runs = measured(seeded(asked, plan.seeds), lambda cell, run: derived_for(cell, run, MEASURED))
    rows = []
    for place, meter in enumerate(meters):
        own = runs[place * plan.seeds : (place + 1) * plan.seeds]
        seconds = own[0].result.window_s
        ours = 1e3 * fmean(run.result.energy_j.total for run in own) / seconds
        more = 1e3 * fmean(added_j(platform, after, run.table("intervals")) for run in own)
        values = (ours, ours + more / seconds)
        errors = (100 * (value / meter["milliwatt"] - 1) for value in values)
        known = (meter[name] for name in LEVELS[:4])
        rows.append([*known, *values, *errors])
    return {
        "origins": [origin_of(command, [run.cell for run in runs]).encode()],
        "metered": METERED,
        "powers": table(POWERS, list(powers(platform, after, activity, metered))),
        "levels": table(LEVELS, rows),
    }


def _request(meter: Mapping[str, Any]) -> Request:
    return Request(PLATFORM, meter["variant"], meter["scenario"], source_conditions=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute the missing runs and write the record."""
    return study_command("rail_levels", record_of, arguments, STUDY / "rail-levels.json")


if __name__ == "__main__":
    sys.exit(main())
