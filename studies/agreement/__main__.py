# SPDX-License-Identifier: GPL-2.0-or-later
"""How far the engines agree: a fixed set of cells on gem5 and on the fast engine, as one page.

``python -m studies.agreement`` (``make engine-agreement``) runs what is missing and writes
``docs/results/engine-agreement.md``. It can be interrupted; runs that are complete stay.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.derive import derive
from experiments.arguments import count
from experiments.cell import Cell, Request, find, prepare
from experiments.controls import Controls
from experiments.pool import run_all
from experiments.runs import Run, existing
from host.cache import write_atomic
from host.errors import EascopeError
from host.proc import Ending, duration, say
from studies.agreement.page import PLATFORM, Found, Ran, machine_load, page

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
#: Starts, seeds 0..N-1, of a cell: in mode elided; on the fast engine; in mode elided-detailed.
STARTS, FAST_STARTS, DETAILED_STARTS = 5, 20, 1
RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
#: The page, by the speeds at which all engines run. Beside each lie notes: what a person found in
#: the traces about differences, which goes into the page as it is.
PAGES = {
    "board": RESULTS / "engine-agreement.md",
    "measured": RESULTS / "engine-agreement-measured.md",
}

#: Scenario, variant, column, seed.
Key = tuple[str, str, str, int]


def requests(
    scenarios: Sequence[str], starts: Mapping[str, int], speeds: str = "board"
) -> Iterator[tuple[Key, Request]]:
    """What is asked for, in the order in which it is run.

    Cheap engines are first, then seeds: an interrupted set has whole seeds of all cells.

    :param starts: how many of each column; columns that are not in it are left out.
    """
    controls = Controls(speeds=speeds)
    for column, engine, mode in ENGINES:
        for seed in range(starts.get(column, 0)):
            for scenario in scenarios:
                for variant in VARIANTS:
                    request = Request(
                        PLATFORM, variant, scenario, engine,
                        seed=seed, mode=mode, controls=controls,
                    )  # fmt: skip
                    yield (scenario, variant, column, seed), request


def run(
    scenarios: Sequence[str],
    starts: Mapping[str, int],
    *,
    speeds: str = "board",
    present: bool = False,
) -> Found:
    """Run what is missing of the set.

    :param present: run nothing, and leave out what is not there.

    :raises EascopeError: the first failure; runs that were complete by then stay.
    """
    identities: dict[str, dict[str, Any]] = {}
    cells: dict[Key, Cell] = {}
    for key, request in requests(scenarios, starts, speeds):
        cell = prepare(find(request), identities.get(key[2]))
        identities[key[2]] = cell.record["engine_identity"]
        if not present or existing(cell.simkey):
            cells[key] = cell

    def after(cell: Cell, one: Run) -> Ran:
        made = derive(one.path, cell.names.platform, cell.names.activity)
        # What is expected may have been written down after the run: the scenario's word counts.
        return Ran(made.result, {**made.cell, "expect": cell.record["expect"]}, one.host)

    done = run_all(list(cells.values()), after)
    found: dict[tuple[str, str], dict[str, dict[int, Ran]]] = {
        (scenario, variant): {} for scenario in scenarios for variant in VARIANTS
    }
    for (scenario, variant, column, seed), ran in zip(cells, done, strict=True):
        found[scenario, variant].setdefault(column, {})[seed] = ran
    return found


def comparable(found: Found) -> Found:
    """Cells that were run on the fast engine and on gem5."""
    return {cell: side for cell, side in found.items() if FAST in side and len(side) > 1}


def main(arguments: list[str] | None = None) -> int:
    """Run the set and write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.agreement",
        description="Run a fixed set on gem5 and on the fast engine; write the page.",
        epilog="example: python -m studies.agreement --scenario smoke --engine fast elided",
    )
    parser.add_argument("--scenario", nargs="+", choices=SCENARIOS, default=SCENARIOS)
    names = [column for column, _, _ in ENGINES]
    parser.add_argument("--engine", nargs="+", choices=names, default=names)
    for option, usual, where in (
        ("--seeds", STARTS, "in mode elided"),
        ("--fast-seeds", FAST_STARTS, "on the fast engine"),
        ("--detailed-seeds", DETAILED_STARTS, "in mode elided-detailed"),
    ):
        parser.add_argument(
            option, type=count, metavar="N", default=usual,
            help=f"starts (seeds 0..N-1) {where} (default {usual})",
        )  # fmt: skip
    parser.add_argument(
        "--present", action="store_true", help="run nothing: the page of the runs that are there"
    )
    parser.add_argument(
        "--speeds", choices=PAGES, default="board",
        help="of core types, on all engines (default %(default)s); each has a page of its own",
    )  # fmt: skip
    parser.add_argument("--page", type=Path, help="where to write instead")
    options = parser.parse_args(arguments)
    wanted = {"elided": options.seeds, FAST: options.fast_seeds, DETAILED: options.detailed_seeds}
    starts = {column: wanted[column] for column in options.engine}
    with Ending() as ending:
        found = comparable(
            run(options.scenario, starts, speeds=options.speeds, present=options.present)
        )
        if not found:
            raise EascopeError("no cell was run on both engines yet")
        load = "made from runs that were there" if options.present else machine_load()
        written = options.page or PAGES[options.speeds]
        notes = PAGES[options.speeds].with_suffix(".notes.md")
        text = page(found, load, notes.read_text() if notes.exists() else "")
        write_atomic(written, text.encode())
        runs = [ran for side in found.values() for some in side.values() for ran in some.values()]
        spent = sum(ran.host["host_s"] for ran in runs)
        say(
            f"  {written}: {len(found)} cells, {len(runs)} runs, "
            f"{duration(spent)} of host time in all of them"
        )
    return ending.code


if __name__ == "__main__":
    sys.exit(main())
