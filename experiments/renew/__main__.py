# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m eascope.experiments.renew``: executes runs, writes what the product reads.

The commands can be interrupted: complete runs stay.
"""

from __future__ import annotations

import argparse
import sys

from eascope.analysis.known.assumptions import FILE as RANGES
from eascope.analysis.known.assumptions import Assumptions
from eascope.analysis.known.noise import FILE, Noise
from eascope.analysis.known.origin import DATA, KnownRecord
from eascope.analysis.records.verdict import ENOUGH_FOR_VERDICT
from eascope.analysis.statistics import ENOUGH
from eascope.experiments.arguments import count
from eascope.experiments.renew import agreement, assumptions, noise
from eascope.experiments.renew.origins import write_record
from eascope.host.errors import EascopeError, RequestError
from eascope.host.proc import Ending
from eascope.host.strict import shown_path


def main(arguments: list[str] | None = None) -> int:
    """Measure noise floors, model ranges, or the agreement of the engines."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(
        prog="python -m eascope.experiments.renew",
        description=main.__doc__,
        epilog="example: python -m eascope.experiments.renew noise smoke --platform juno-r2",
    )
    commands = parser.add_subparsers(dest="what", required=True)
    floors = commands.add_parser("noise", help="mainline compared with an equal kernel")
    floors.add_argument("scenario", nargs="*", help="(default: all that the record has)")
    floors.add_argument("--platform", default="juno-r2", help="of these (default %(default)s)")
    floors.add_argument(
        "--seeds", type=int, default=ENOUGH, help="of each kernel (default %(default)s)"
    )
    engines = commands.add_parser("agreement", help="the fast engine compared with gem5")
    for option, usual, where in (
        ("--seeds", agreement.SEEDS, "in mode elided"),
        ("--fast-seeds", agreement.FAST_SEEDS, "on the fast engine"),
        ("--detailed-seeds", agreement.DETAILED_SEEDS, "in mode elided-detailed"),
    ):
        engines.add_argument(
            option, type=count, metavar="N", default=usual,
            help=f"seeds 0..N-1 {where} (default {usual})",
        )  # fmt: skip
    engines.add_argument(
        "--present", action="store_true", help="run nothing; write what the runs that are there say"
    )
    engines.add_argument(
        "--speeds", choices=agreement.NAMES, default="board",
        help="speeds of core types, on all engines (default %(default)s)",
    )  # fmt: skip
    ranges = commands.add_parser("assumptions", help="model ranges of a comparison")
    ranges.add_argument(
        "variant", nargs="*", help="the baseline first (default: all that the record has)"
    )
    ranges.add_argument("--scenario", metavar="S")
    ranges.add_argument("--platform", default="juno-r2", help="of these (default %(default)s)")
    ranges.add_argument("--source-conditions", action="store_true")
    ranges.add_argument(
        "--seeds", type=count, default=ENOUGH_FOR_VERDICT, help="(default %(default)s)"
    )
    options = parser.parse_args(given)
    command = " ".join([parser.prog, *given])
    with Ending() as ending:
        if options.what == "noise":
            _write(_noise(options, command), FILE.stem)
        elif options.what == "assumptions":
            _assumptions(options, command)
        else:
            _write(_agreement(options, command), agreement.NAMES[options.speeds])
    return ending.code


def _noise(options: argparse.Namespace, command: str) -> Noise:
    if options.seeds < ENOUGH:
        raise RequestError(f"--seeds {options.seeds}: allowed: at least {ENOUGH}")
    record = Noise.read(FILE) if FILE.is_file() else None
    named = [(options.platform, scenario) for scenario in options.scenario]
    pairs = named or (noise.pairs_of(record) if record else [])
    if not pairs:
        raise RequestError(f"{shown_path(FILE)}: it has nothing yet: name scenarios")
    return noise.merged(record, noise.record_of(noise.measure(pairs, options.seeds), command))


def _assumptions(options: argparse.Namespace, command: str) -> None:
    """Measure one comparison or all of the record; what was measured is written at once."""
    record = Assumptions.read(RANGES) if RANGES.is_file() else None
    if bool(options.variant) != bool(options.scenario) or len(options.variant) == 1:
        raise RequestError("give --scenario and two variants or more, or neither")
    if options.seeds < ENOUGH_FOR_VERDICT:
        raise RequestError(f"--seeds {options.seeds}: allowed: at least {ENOUGH_FOR_VERDICT}")
    named = assumptions.Compared(
        *(options.platform, options.scenario, tuple(options.variant), options.source_conditions)
    )
    wanted = (
        [named]
        if options.variant
        else [*map(assumptions.compared_of, record.cells if record else ())]
    )
    if not wanted:
        raise RequestError(f"{shown_path(RANGES)}: it has nothing yet: name what is compared")
    for of in wanted:
        measured = assumptions.measure(of, options.seeds)
        record = assumptions.merged(record, assumptions.record_of(measured, of, command))
        _write(record, RANGES.stem)


def _agreement(options: argparse.Namespace, command: str) -> KnownRecord:
    seeds = {
        "elided": options.seeds,
        agreement.FAST: options.fast_seeds,
        agreement.DETAILED: options.detailed_seeds,
    }
    ran = agreement.run(agreement.SCENARIOS, seeds, speeds=options.speeds, present=options.present)
    cells = agreement.comparable(ran)
    if not cells:
        raise EascopeError("no cell was run on both engines yet")
    return agreement.record_of(cells, command)


def _write(record: KnownRecord, name: str) -> None:
    """Write a file of ``data/``."""
    path, pages = DATA / f"{name}.json", "draw the pages again: make generate"
    write_record(path, record.to_bytes(), record.origin.versions, path.name, pages)


if __name__ == "__main__":
    sys.exit(main())
