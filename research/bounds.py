# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m research.bounds``: the bounds of loads, and how far variants are from them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from eascope.experiments.renew.origins import origin_of
from eascope.experiments.runs.finished import BilledBy
from eascope.experiments.runs.placements import bounds
from eascope.experiments.runs.request import resolve
from eascope.host.proc import say
from research.plan import STUDIES, asked, files_of, plan_of
from research.run import study_command, table

STUDY = STUDIES / "bounds"
#: Placements that are run of a load, at most.
BUDGET = 12
VARIANTS = ("platform", "scenario", "variant", "energy_mj")
LOADS = (
    *("platform", "scenario", "floor_mj", "placement_mj", "complete", "placements", "run"),
    *("not_searched", "states"),
)


def record_of(command: str) -> dict[str, Any]:
    """The record: ``loads`` with their bounds, ``variants`` with their energies."""
    plan = plan_of(STUDY)
    loads, variants, cells = [], [], []
    for group in asked(plan):
        names = [resolve(request) for request in group.requests]
        say(f"{group.head[0]}, {group.head[1]}")
        of = bounds(names, BilledBy(), plan.seeds, BUDGET, lambda words: say(f"  {words}"))
        found, where = of.found, group.head[:2]
        states = [
            f"{state.cluster} {state.khz / 1000:g} MHz {100 * state.on_s / run.window_s:.0f} %"
            for run in [of.variants[names[0].variant.name][0].result]
            for floor in of.floors[:1]
            for state in floor.states
        ]
        searched = (found.complete, found.folded, found.ran) if found else (False, None, 0)
        loads += [[*where, of.floor_mj, of.placement_mj, *searched, of.why, states]]
        variants += [[*where, name, energy] for name, energy in of.variant_mj.items()]
        cells += [run.cell for runs in of.variants.values() for run in runs]
    return {
        "origins": [{**origin_of(command, cells).encode(), "files": files_of(plan)}],
        "seeds": plan.seeds,
        "loads": table(LOADS, loads),
        "variants": table(VARIANTS, variants),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute the missing runs and write the record."""
    return study_command("bounds", record_of, arguments)


if __name__ == "__main__":
    sys.exit(main())
