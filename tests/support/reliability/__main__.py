# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m tests.support.reliability``: harm a small campaign, print what it has survived.

Counts are options. Every check fails loudly, so figures are printed only of what held.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias
from unittest.mock import patch

from eascope.experiments.runs.store import SIMKEY
from eascope.experiments.sweeps.ledger import ledgers
from eascope.host.sealed import files_of
from tests.support.reliability import checks, corrupt
from tests.support.reliability.campaign import CELLS, finish, tables

#: KiB of the smallest disk: the first run does not fit on it.
LEAST_KIB = 64
#: Bytes of a page: a file on a disk in memory takes whole pages.
PAGE = os.sysconf("SC_PAGE_SIZE")

#: Figures of a check, by name.
Figures: TypeAlias = Mapping[str, float]


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
    parser.add_argument(
        "--at-once",
        type=int,
        default=1,
        metavar="N",
        help="campaigns at a time, of kills and disks",
    )
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
            figures = CHECKS[check](folder, wanted, options)
            words = ", ".join(f"{name} {value:g}" for name, value in figures.items())
            print(f"{check}: all held: {words}", flush=True)
    return 0


def _kills(folder: Path, wanted: dict[str, str], options: argparse.Namespace) -> Figures:
    done = checks.kills(folder, wanted, options.kills, options.seed, options.at_once)
    by_role = Counter(kill.role for kill in done.every)
    several = Counter(len(kills) for kills in done.per_campaign)
    return {
        "kills": len(done.every),
        **{f"kills of {role}": by_role[role] for role in sorted(done.spans)},
        **{f"quarter {n}": count for n, count in enumerate(done.quarters(), 1)},
        "campaigns": len(done.per_campaign),
        "without a kill": several[0],
        "with two or more": sum(count for kills, count in several.items() if kills > 1),
        "most kills": max(several),
        "folders left": done.left,
    }


def needed_kib(runs: Path) -> int:
    """KiB that the finished runs below ``runs`` take on a disk in memory, without their folders."""
    folders = (path for path in runs.iterdir() if SIMKEY.fullmatch(path.name))
    sizes = (path.stat().st_size for folder in folders for path in files_of(folder).values())
    return sum(-(-size // PAGE) * PAGE for size in sizes) // 1024


def _disks(folder: Path, wanted: dict[str, str], options: argparse.Namespace) -> Figures:
    """Sizes are drawn below what the finished runs need, so every disk must be too small."""
    draws, need = random.Random(options.seed), needed_kib(folder / "reference")
    sizes = draws.sample(range(LEAST_KIB, need), options.disks)
    with ThreadPoolExecutor(options.at_once) as executor:
        done = list(executor.map(lambda kib: checks.full_disk(folder, wanted, kib), sizes))
    large = [kib for kib, full in zip(sizes, done, strict=True) if full.code == 0]
    assert not large, f"{large} KiB were enough; {need} KiB are needed"
    return {
        "disks": len(sizes),
        "least_kib": min(sizes),
        "most_kib": max(sizes),
        "need_kib": need,
        **{
            f"with {runs} runs": sum(full.runs == runs for full in done)
            for runs in range(CELLS + 1)
        },
    }


def _cache(folder: Path, wanted: dict[str, str], options: argparse.Namespace) -> Figures:
    checks.read_only_cache(folder, wanted)
    return {"campaigns": 1}


def _workers(folder: Path, wanted: dict[str, str], options: argparse.Namespace) -> Figures:
    checks.one_of_two_workers(folder, wanted)
    return {"campaigns": 1}


def _jumps(folder: Path, wanted: dict[str, str], options: argparse.Namespace) -> Figures:
    jumps = checks.clock_jumps(folder, wanted, options.jumps, options.seed)
    days = [round(jump / 86_400) for jump in jumps]
    return {"jumps": len(jumps), "least_days": min(days), "most_days": max(days)}


def _copied(folder: Path, wanted: dict[str, str], options: argparse.Namespace) -> Figures:
    return {"runs": checks.copied(folder, folder / "reference", wanted)}


def _corrupt(folder: Path, wanted: dict[str, str], options: argparse.Namespace) -> Figures:
    run = folder / "reference" / sorted(wanted)[0].partition("/")[0]
    (place := folder / "corrupt").mkdir()
    done = corrupt.a_run(place, run, options.flips, options.seed)
    assert not done.unnoticed, done.unnoticed
    cached = corrupt.the_cache(place, options.flips, options.seed)
    assert not cached.unnoticed, cached.unnoticed
    runs = folder / "ledger"
    shutil.copytree(folder / "reference" / "campaigns", runs / "campaigns")
    with patch.dict(os.environ, EASCOPE_RUNS=str(runs)):
        (name,) = ledgers()
        lines = corrupt.the_ledger(name)
    assert not lines.unnoticed, lines.unnoticed
    return {
        "bits of a run": sum(done.tried.values()),
        "files": len(done.tried),
        "bits of artefacts": sum(cached.tried.values()),
        "kinds": len(cached.tried),
        "bits of a ledger": lines.tried.total(),
    }


CHECKS: dict[str, Callable[[Path, dict[str, str], argparse.Namespace], Figures]] = {
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
