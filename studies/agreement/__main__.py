# SPDX-License-Identifier: GPL-2.0-or-later
"""How far the engines agree: a fixed set of cells on gem5 and on the fast engine.

``python -m studies.agreement`` (``make engine-agreement``) runs what is missing, writes
``results/engine-agreement.json`` and draws its page. It can be interrupted; runs that are complete
stay.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from engines.base import Identity
from experiments.arguments import count
from experiments.cell import Cell, identity_of, prepare
from experiments.controls import Controls
from experiments.finished import derived_for
from experiments.pool import run_all
from experiments.request import Request, resolve
from experiments.runs import Run, existing
from host.errors import EascopeError
from host.proc import Ending, duration, say
from power.choice import DEFAULT_POWER
from studies.agreement.record import record_of
from studies.agreement.runs import PLATFORM, Cells, CostedRun
from studies.draw import save
from studies.elision import executed_costs

SCENARIOS = (
    "smoke",
    "eas/video-playback",
    "uclamp/frequency-spike",
    "uclamp/capped-tasks-spread",
)
VARIANTS = ("mainline", "cas")
#: The cheap engine first: the others are compared with it. Name of the column, engine, mode.
ENGINES = (
    ("fast", "qemu", None),
    ("elided", "gem5", "elided"),
    ("elided-detailed", "gem5", "elided-detailed"),
)
FAST, DETAILED = ENGINES[0][0], ENGINES[-1][0]
#: Seeds 0..N-1 of a cell: in mode elided; on the fast engine; in mode elided-detailed.
SEEDS, FAST_SEEDS, DETAILED_SEEDS = 5, 20, 1
#: The record and page, by the speeds at which all engines run.
NAMES = {"board": "engine-agreement", "measured": "engine-agreement-measured"}

#: Scenario, variant, column, seed.
Key = tuple[str, str, str, int]


def requests(
    scenarios: Sequence[str], seeds: Mapping[str, int], speeds: str = "board"
) -> Iterator[tuple[Key, Request]]:
    """What is asked for, in the order in which it is run.

    Cheap engines are first, then seeds: an interrupted set has whole seeds of all cells.

    :param seeds: how many of each column; columns that are not in it are left out.
    """
    controls = Controls(speeds=speeds)
    for column, engine, mode in ENGINES:
        for seed in range(seeds.get(column, 0)):
            for scenario in scenarios:
                for variant in VARIANTS:
                    request = Request(
                        PLATFORM, variant, scenario, engine,
                        seed=seed, mode=mode, controls=controls,
                    )  # fmt: skip
                    yield (scenario, variant, column, seed), request


def run(
    scenarios: Sequence[str],
    seeds: Mapping[str, int],
    *,
    speeds: str = "board",
    present: bool = False,
) -> Cells:
    """Run what is missing of the set.

    :param present: run nothing, and leave out what is not there.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    identities: dict[str, Identity] = {}
    cells: dict[Key, Cell] = {}
    for key, request in requests(scenarios, seeds, speeds):
        names = resolve(request)
        if key[2] not in identities:
            identities[key[2]] = identity_of(names.engine)
        cell = prepare(names, identities[key[2]])
        if not present or existing(cell.simkey):
            cells[key] = cell

    def after(cell: Cell, run: Run) -> CostedRun:
        made = derived_for(cell, run, DEFAULT_POWER)
        return CostedRun(made.result, made.cell, run.host)

    done = run_all(list(cells.values()), after)
    costed: dict[tuple[str, str], dict[str, dict[int, CostedRun]]] = {
        (scenario, variant): {} for scenario in scenarios for variant in VARIANTS
    }
    for (scenario, variant, column, seed), ran in zip(cells, done, strict=True):
        costed[scenario, variant].setdefault(column, {})[seed] = ran
    return costed


def comparable(cells: Cells) -> Cells:
    """Cells that were run on the fast engine and on gem5."""
    return {
        cell: columns for cell, columns in cells.items() if FAST in columns and len(columns) > 1
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the set, write the record and draw its page."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.agreement",
        description="Run a fixed set on gem5 and on the fast engine; write record and page.",
        epilog="example: python -m studies.agreement --scenario smoke --engine fast elided",
    )
    parser.add_argument("--scenario", nargs="+", choices=SCENARIOS, default=SCENARIOS)
    names = [column for column, _, _ in ENGINES]
    parser.add_argument("--engine", nargs="+", choices=names, default=names)
    for option, usual, where in (
        ("--seeds", SEEDS, "in mode elided"),
        ("--fast-seeds", FAST_SEEDS, "on the fast engine"),
        ("--detailed-seeds", DETAILED_SEEDS, "in mode elided-detailed"),
    ):
        parser.add_argument(
            option, type=count, metavar="N", default=usual,
            help=f"seeds 0..N-1 {where} (default {usual})",
        )  # fmt: skip
    parser.add_argument(
        "--present",
        action="store_true",
        help="run nothing: record and page of the runs that are there",
    )
    parser.add_argument(
        "--speeds", choices=NAMES, default="board",
        help="of core types, on all engines (default %(default)s); each has its own page",
    )  # fmt: skip
    parser.add_argument("--folder", type=Path, help="where to write instead")
    options = parser.parse_args(arguments)
    wanted = {"elided": options.seeds, FAST: options.fast_seeds, DETAILED: options.detailed_seeds}
    seeds = {column: wanted[column] for column in options.engine}
    with Ending() as ending:
        cells = comparable(
            run(options.scenario, seeds, speeds=options.speeds, present=options.present)
        )
        if not cells:
            raise EascopeError("no cell was run on both engines yet")
        given = sys.argv[1:] if arguments is None else arguments
        command = " ".join(["python -m studies.agreement", *given])
        record = record_of(cells, command, executed_costs())
        written = save(NAMES[options.speeds], record, options.folder)
        runs = [
            ran for columns in cells.values() for some in columns.values() for ran in some.values()
        ]
        spent = sum(ran.host.host_s for ran in runs)
        say(
            f"  {written}: {len(cells)} cells, {len(runs)} runs, "
            f"{duration(spent)} of host time in all of them"
        )
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
