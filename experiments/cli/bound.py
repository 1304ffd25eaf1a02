# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope bound``: how far variants are from the least energy, from above and from below."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from eascope.experiments.arguments import count
from eascope.experiments.cli.options import add_cell, add_power
from eascope.experiments.cli.output import print_columns, print_json
from eascope.experiments.cli.request import billing_of, request_of, warn
from eascope.host.errors import RequestError
from eascope.host.proc import say

if TYPE_CHECKING:
    from eascope.analysis.bound import Floor
    from eascope.analysis.derive import Derived
    from eascope.experiments.runs.placements import Found, Placement
    from eascope.experiments.runs.request import Names

SUMMARY = "bound a load's least energy: below by a linear program, above by its best placement"
EXAMPLE = "eascope bound uclamp/frequency-spike --platform juno-r2 --variant mainline"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The load, the variants, the budget of the search."""
    parser.add_argument(
        "scenario", metavar="SCENARIO", help="workload, see: eascope list scenarios"
    )
    parser.add_argument(
        "--variant",
        action="append",
        metavar="V",
        help="variant, may be repeated; placements run under the first (default: mainline)",
    )
    parser.add_argument(
        "--seeds", type=count, default=3, metavar="N", help="seeds 0 to N-1 (default 3)"
    )
    parser.add_argument(
        "--budget",
        type=count,
        default=24,
        metavar="N",
        help="placements that are run, at most (default 24)",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="write the load with the best placement as rt-app's JSON, to repeat it on a board",
    )
    add_cell(parser, scenario=False)
    add_power(parser)


def run(options: argparse.Namespace) -> int:
    """Print the floor, the best placement and the variants.

    :raises EascopeError: the request is wrong, or a run failed.
    """
    from eascope.analysis.bound import Machine
    from eascope.experiments.rtapp.export import exported
    from eascope.experiments.runs.finished import derived_for
    from eascope.experiments.runs.measure import measured, seeded
    from eascope.experiments.runs.placements import (
        Search,
        check_loads,
        fixed,
        floor_of,
        loads_of,
        placed,
    )
    from eascope.experiments.runs.writable import check_runs_place

    check_runs_place()
    billed, asked = billing_of(options), _names(options)
    first = asked[0]
    check_loads(first)
    billed.check(first)
    warn(first, options.power, asked[1:])
    runs = measured(
        seeded(asked, options.seeds), lambda cell, done: derived_for(cell, done, billed)
    )
    by_variant = {
        each.variant.name: runs[number * options.seeds : (number + 1) * options.seeds]
        for number, each in enumerate(asked)
    }
    machine = Machine(first.platform, first.activity, billed.model(first.platform, first.activity))
    floors = [
        floor_of(machine, loads_of(each, first), each) for each in by_variant[first.variant.name]
    ]
    found, why = None, next(filter(None, map(fixed, first.scenario.tasks)), "")
    if not why:
        search = Search(first, runs[0], machine, billed)
        found = search.found(options.budget, options.seeds, lambda words: say(f"  {words}"))
    if options.out and found and found.best:
        document, _ = exported(
            placed(first, found.best[0]).scenario, first.platform, first.activity
        )
        Path(options.out).write_text(json.dumps(document, indent=4) + "\n")
    answer = _Answer(first, by_variant, [floor for floor in floors if floor], found, why)
    if options.json:
        print_json(answer.record)
    else:
        answer.show()
    return 0


def _names(options: argparse.Namespace) -> list[Names]:
    from eascope.experiments.runs.request import resolve
    from eascope.power.given import given_model

    variants = options.variant or ["mainline"]
    if len({*variants}) < len(variants):
        raise RequestError(f"--variant {' '.join(variants)}: each variant once")
    model = given_model(options.em, options.em_error)
    asked = [resolve(request_of(options, each, 0, model)) for each in variants]
    asked[0].request.own.check_used(variants)
    return asked


class _Answer:
    """The bounds of one load, for a person and as a record; energies are means over seeds."""

    def __init__(
        self,
        names: Names,
        variants: dict[str, list[Derived]],
        floors: list[Floor],
        found: Found | None,
        why: str,
    ) -> None:
        self.names, self.floors, self.found, self.why = names, floors, found, why
        self.variants = {name: _mj(runs) for name, runs in variants.items()}
        self.reference = names.variant.name
        self.power = next(iter(variants.values()))[0].result.power_model.name

    @property
    def floor_mj(self) -> float | None:
        """The mean of the seeds' floors."""
        return 1e3 * mean(floor.energy_j for floor in self.floors) if self.floors else None

    @property
    def best(self) -> tuple[Placement, list[Derived]] | None:
        """The best placement and its runs."""
        return self.found.best if self.found else None

    @property
    def searched(self) -> str:
        """How the placement was searched."""
        if self.found is None:
            return f"no placement was searched: {self.why}"
        there = "more than can be listed" if self.found.folded is None else self.found.folded
        how = "complete" if self.found.complete else "incomplete"
        return f"{how} search: {there} placements, {self.found.ran} run"

    def threads(self) -> list[tuple[str, int]]:
        """The CPU of each thread under the best placement."""
        if self.best is None:
            return []
        placement, runs = self.best
        names = [task.threads for task in runs[0].cell.tasks]
        return [
            pair
            for threads, cpus in zip(names, placement, strict=True)
            for pair in zip(threads, cpus, strict=True)
        ]

    @property
    def record(self) -> dict[str, Any]:
        """As JSON."""
        best = self.best
        return {
            **{f"{name}_mj": energy for name, energy in self.variants.items()},
            "floor_mj": self.floor_mj,
            "placement_mj": _mj(best[1]) if best else None,
            "placement": dict(self.threads()),
            "search": {
                "complete": bool(self.found and self.found.complete),
                "placements": self.found.folded if self.found else None,
                "run": self.found.ran if self.found else 0,
                "why_not": self.why,
            },
            "power_model": self.power,
            "states": [vars(state) for state in self.floors[0].states] if self.floors else [],
        }

    def show(self) -> None:
        """Print a sentence, the bounds, the floor's states and the placement."""
        whole, reference = self.variants[self.reference], self.reference
        parts = []
        if self.best:
            ratio = whole / _mj(self.best[1])
            parts.append(f"takes {ratio:.3g} times the energy of the best static placement found")
        elif self.found:
            parts.append("was not matched by a static placement in work and lateness")
        if self.floor_mj:
            parts.append(
                f"{'and ' if parts else 'takes '}{whole / self.floor_mj:.3g} times the floor"
            )
        print(f"{reference} {', '.join(parts)} ({self.searched}).\n")
        rows = [("floor", self.floor_mj, "no run of this load takes less, by this power model")]
        if self.best:
            rows.append(("best placement", _mj(self.best[1]), "a run: each thread on one CPU"))
        rows += [(name, energy, "") for name, energy in self.variants.items()]
        print_columns(
            [
                (name, f"{mj:.1f}", f"{100 * mj / whole:.1f} %", what)
                for name, mj, what in rows
                if mj is not None
            ],
            ("", "mJ", f"of {reference}", "what it is"),
        )
        if self.floors:
            print(f"\nStates of the floor (power: {self.power}; seed 0):")
            window = self.names.scenario.window.length_ms(self.names.request.full)
            for state in self.floors[0].states:
                part = f", {100e3 * state.on_s / window:.0f} % of the window" if window else ""
                busy = state.busy_s / state.on_s if state.on_s else 0.0
                print(f"  {state.cluster} at {state.khz / 1000:g} MHz{part}, {busy:.2g} CPUs busy")
        if self.best:
            print("\nBest placement:")
            for thread, cpu in self.threads():
                print(f"  {thread} on CPU {cpu}")


def _mj(runs: list[Derived]) -> float:
    return 1e3 * mean(run.result.energy_j.total for run in runs)
