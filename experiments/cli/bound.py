# SPDX-License-Identifier: GPL-2.0-or-later
"""``eascope bound``: how far variants are from the least energy, from above and from below."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from eascope.experiments.arguments import count
from eascope.experiments.cli.options import add_cell, add_format, add_power, form_of
from eascope.experiments.cli.output import print_json
from eascope.experiments.cli.request import billing_of, request_of, warn
from eascope.host.errors import RequestError
from eascope.host.proc import say
from eascope.host.table import Table

if TYPE_CHECKING:
    from eascope.experiments.runs.placements import Bounds
    from eascope.experiments.runs.request import Resolved

SUMMARY = "bound a load's least energy: below by a linear program, above by its best placement"
EXAMPLE = "eascope bound uclamp/frequency-spike --platform juno-r2 --variant mainline"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The load, the variants, the budget of the search."""
    parser.add_argument(
        "scenario", metavar="SCENARIO", help="workload, see: eascope list scenarios"
    )
    parser.add_argument(
        "--variant",
        dest="variants",
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
    add_format(parser)


def run(options: argparse.Namespace) -> int:
    """Print the floor, the best placement and the variants.

    :raises EascopeError: the request is wrong, or a run failed.
    """
    from eascope.experiments.rtapp.export import exported
    from eascope.experiments.runs.placements import bounds, placed
    from eascope.experiments.runs.writable import check_runs_place
    from eascope.host.cache import write_atomic

    form = form_of(options)
    check_runs_place()
    billed, asked = billing_of(options), _names(options)
    first = asked[0]
    billed.check(first)
    warn(first, options.power, asked[1:])
    of = bounds(asked, billed, options.seeds, options.budget, lambda words: say(f"  {words}"))
    if options.out and of.found and of.found.best:
        load = placed(first, of.found.best[0]).scenario
        document, _ = exported(load, first.platform, first.activity)
        write_atomic(Path(options.out), (json.dumps(document, indent=4) + "\n").encode())
    elif options.out:
        say(f"warning: {options.out} was not written: there is no placement")
    if form == "json":
        print_json(of.record)
    elif form == "text":
        _show(first, of)
    else:
        said = answer(of, first.variant.name)
        print(table(of, first.variant.name, options.seeds).formatted(form, said), end="")
    return 0


def _names(options: argparse.Namespace) -> list[Resolved]:
    from eascope.experiments.runs.request import resolve
    from eascope.power.given import given_model

    variants = options.variants or ["mainline"]
    if len({*variants}) < len(variants):
        raise RequestError(f"--variant {' '.join(variants)}: each variant once")
    model = given_model(options.em, options.em_error)
    asked = [resolve(request_of(options, each, 0, model)) for each in variants]
    asked[0].request.own.check_used(variants)
    return asked


def answer(of: Bounds, reference: str) -> str:
    """One sentence: how far a variant is from both bounds, and how they were found."""
    whole, placement, floor = of.variant_mj[reference], of.placement_mj, of.floor_mj
    parts = []
    if placement:
        parts = [
            f"takes {whole / placement:.3g} times the energy of the best static placement found"
        ]
    elif of.found:
        parts = ["is matched by no static placement in work and lateness"]
    if floor:
        parts += [f"{'and ' if parts else 'takes '}{whole / floor:.3g} times the floor"]
    how = f"no placement was searched: {of.why}"
    if of.found:
        there = "more than can be listed" if of.found.folded is None else of.found.folded
        kind = "complete" if of.found.complete else "incomplete"
        how = f"{kind} search: {there} placements, {of.found.ran} run"
    return f"{reference} {', '.join(parts)} ({how})."


def table(of: Bounds, reference: str, seeds: int) -> Table:
    """The bounds and the variants."""
    rows = [
        ("floor", of.floor_mj, "no run of this load takes less, by this power model"),
        ("best placement", of.placement_mj, "a run: each thread on one CPU"),
        *((name, energy, "") for name, energy in of.variant_mj.items()),
    ]
    whole = of.variant_mj[reference]
    cells = [
        [name, f"{mj:.1f}", f"{100 * mj / whole:.1f}", what, str(seeds)]
        for name, mj, what in rows
        if mj
    ]
    return Table.of(("", "mJ", f"% of {reference}", "what it is", "n"), cells)


def _show(first: Resolved, of: Bounds) -> None:
    """Print a sentence, the bounds, the floor's states and the placement."""
    reference = first.variant.name
    print(f"{answer(of, reference)}\n")
    print(table(of, reference, len(of.variants[reference])).text())
    if of.floors:
        run = of.variants[reference][0].result
        print(f"\nStates of the floor (power: {run.power_model.name}; seed 0):")
        for state in of.floors[0].states:
            print(
                f"  {state.cluster} at {state.khz / 1000:g} MHz, "
                f"{100 * state.on_s / run.window_s:.0f} % of the time, "
                f"{state.busy_s / state.on_s:.2g} CPUs busy"
            )
    if of.threads:
        print("\nBest placement:")
        for thread, cpu in of.threads:
            print(f"  {thread} on CPU {cpu}")
