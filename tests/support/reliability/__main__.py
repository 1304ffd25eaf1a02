# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m tests.support.reliability``: harm a small campaign, print what it has survived.

Counts are options. Every check fails loudly, so figures are printed only of what held.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from experiments.sweeps.ledger import ledgers
from tests.support.reliability import checks, corrupt
from tests.support.reliability.campaign import finish, tables

#: KiB of a disk on which not even the first run fits, and on which all do.
LEAST_KIB, MOST_KIB = 64, 4096


def main(arguments: list[str] | None = None) -> int:
    """Run the checks that are named, by default all."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.reliability", description=__doc__
    )
    parser.add_argument("check", nargs="*", help=f"of: {', '.join(CHECKS)} (default: all)")
    parser.add_argument("--kills", type=int, default=30, metavar="N")
    parser.add_argument("--disks", type=int, default=20, metavar="N")
    parser.add_argument("--jumps", type=int, default=10, metavar="N")
    parser.add_argument("--flips", type=int, default=3, metavar="N", help="of each file")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    options = parser.parse_args(arguments)
    if wrong := set(options.check) - set(CHECKS):
        parser.error(f"no check {sorted(wrong)[0]!r}: allowed: {', '.join(CHECKS)}")
    with tempfile.TemporaryDirectory(prefix="eascope-reliability-") as place:
        folder = Path(place)
        (reference := folder / "reference").mkdir()
        finish(reference)
        wanted = tables(reference)
        print(f"reference: {len(wanted)} files", flush=True)
        for check in options.check or CHECKS:
            print(f"{check}: {CHECKS[check](folder, wanted, options)}", flush=True)
    return 0


def _kills(folder: Path, wanted: dict[str, str], options: argparse.Namespace) -> str:
    done = checks.kills(folder, wanted, options.kills, options.seed)
    roles = ", ".join(f"{role} {count}" for role, count in sorted(done.by_role.items()))
    return (
        f"{done.by_role.total()} kill -9 ({roles}) in {done.campaigns} campaigns, all bytes equal; "
        f"{done.left} temporary folders left"
    )


def _disks(folder: Path, wanted: dict[str, str], options: argparse.Namespace) -> str:
    draws = random.Random(options.seed)
    sizes = [draws.randint(LEAST_KIB, MOST_KIB) for _ in range(options.disks)]
    codes = [checks.full_disk(folder, wanted, kib) for kib in sizes]
    return (
        f"{len(sizes)} sizes from {min(sizes)} to {max(sizes)} KiB, {sum(c != 0 for c in codes)} "
        "too small; nothing half-written, and all bytes equal once there was room"
    )


def _cache(folder: Path, wanted: dict[str, str], options: argparse.Namespace) -> str:
    checks.read_only_cache(folder, wanted)
    return "all bytes equal"


def _workers(folder: Path, wanted: dict[str, str], options: argparse.Namespace) -> str:
    checks.one_of_two_workers(folder, wanted)
    return "the other one finished; all bytes equal"


def _jumps(folder: Path, wanted: dict[str, str], options: argparse.Namespace) -> str:
    jumps = checks.clock_jumps(folder, wanted, options.jumps, options.seed)
    days = [jump / 86_400 for jump in jumps]
    return f"{len(jumps)} jumps, {min(days):+.0f} to {max(days):+.0f} days; all bytes equal"


def _copied(folder: Path, wanted: dict[str, str], options: argparse.Namespace) -> str:
    return f"{checks.copied(folder, folder / 'reference', wanted)} runs verify, none is run again"


def _corrupt(folder: Path, wanted: dict[str, str], options: argparse.Namespace) -> str:
    run = folder / "reference" / sorted(wanted)[0].partition("/")[0]
    (place := folder / "corrupt").mkdir()
    done = corrupt.a_run(place, run, options.flips, options.seed)
    assert not done.unnoticed, done.unnoticed
    files = sum(done.tried.values())
    cached = corrupt.the_cache(place, options.flips, options.seed)
    assert not cached.unnoticed, cached.unnoticed
    runs = folder / "ledger"
    shutil.copytree(folder / "reference" / "campaigns", runs / "campaigns")
    with patch.dict(os.environ, EASCOPE_RUNS=str(runs)):
        (name,) = ledgers()
        lines = corrupt.the_ledger(name)
    assert not lines.unnoticed, lines.unnoticed
    return (
        f"{files} flipped bits in {len(done.tried)} files of a run, {sum(cached.tried.values())} "
        f"in {len(cached.tried)} kinds of artefacts, {lines.tried.total()} in a ledger (each of "
        "its bits): all found, none used"
    )


CHECKS: dict[str, Callable[[Path, dict[str, str], argparse.Namespace], str]] = {
    "kills": _kills,
    "disks": _disks,
    "cache": _cache,
    "workers": _workers,
    "jumps": _jumps,
    "copied": _copied,
    "corrupt": _corrupt,
}

if __name__ == "__main__":
    sys.exit(main())
