# SPDX-License-Identifier: GPL-2.0-or-later
"""Parallel efficiency: 16 equal cells with ``-j 2`` against ``-j 1``, derivation by 2 against 1.

Wall time is what is measured, so the host must be quiet. What other processes took of it is
measured as well, and the benchmark is skipped where that is too much to say anything.
"""

import os
import resource
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from eascope.analysis.derived_folder import DERIVED as DERIVED_FOLDER
from eascope.analysis.derivers import derivers
from eascope.analysis.records.cell import CELL, CellRecord
from eascope.experiments.runs.finished import BilledBy
from eascope.experiments.runs.inputs import simulated_with
from tests.support.command import eascope, json_of
from tests.support.measuring import Keep

pytestmark = [pytest.mark.guest, pytest.mark.long]

CELLS = 16
#: Seeds of one variant: cells that take the same time.
SWEEP = ["sweep", "--platform", "juno-r2", "--scenario", "eas/video-playback"]
SWEEP += ["--variant", "mainline", "--seeds", str(CELLS)]
LEAST = 0.95
#: Share of two cores that others may take.
MOST_BY_OTHERS = 0.02


@dataclass(frozen=True)
class Timed:
    """Wall seconds of a sweep, and processor seconds of all other processes meanwhile."""

    wall_s: float
    others_s: float


def busy_s() -> float:
    """Processor seconds that all processes have taken since the boot."""
    user, nice, system, _, _, irq, softirq, *_ = Path("/proc/stat").read_text().split()[1:9]
    return sum(map(int, (user, nice, system, irq, softirq))) / os.sysconf("SC_CLK_TCK")


def own_s() -> float:
    """Processor seconds of this process and of all its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def timed(runs: Path, jobs: int) -> Timed:
    """Run the campaign from nothing with ``jobs`` at a time."""
    begin, busy, own = time.monotonic(), busy_s(), own_s()
    done = eascope(*SWEEP, "-j", str(jobs), EASCOPE_RUNS=str(runs))
    wall, others = time.monotonic() - begin, busy_s() - busy - (own_s() - own)
    assert done.returncode == 0, done.stdout + done.stderr
    return Timed(wall, max(0.0, others))


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two cores are needed")
def test_two_jobs_use_two_cores(tmp_path: Path, keep: Keep) -> None:
    single, double = timed(tmp_path / "one", 1), timed(tmp_path / "two", 2)
    efficiency = single.wall_s / (2 * double.wall_s)
    print(
        f"{CELLS} cells: -j 1 in {single.wall_s:.1f} s, -j 2 in {double.wall_s:.1f} s, efficiency "
        f"{100 * efficiency:.1f} %; others took {single.others_s:.1f} and {double.others_s:.1f} s"
    )
    share = max(item.others_s / (2 * item.wall_s) for item in (single, double))
    if share > MOST_BY_OTHERS:
        pytest.skip(f"the host is not quiet: others took {100 * share:.0f} % of two cores")
    keep("two_jobs", {"cells": CELLS, "efficiency_percent": 100 * efficiency})
    assert efficiency >= LEAST


#: Runs of a phone to derive; where each process's start is a small share.
DERIVED = 12
FASTER = 1.5


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two cores are needed")
def test_two_processes_derive(tmp_path: Path, keep: Keep) -> None:
    """Copies of a phone's run, which two processes derive in so much less time than one."""
    words = ["--platform", "pixel6", "--scenario", "ui/scroller", "--variant", "mainline"]
    ran = Path(json_of("run", *words, EASCOPE_RUNS=str(tmp_path))["run"])
    platform, activity = simulated_with(ran)
    rest = (platform, activity, [BilledBy().model(platform, activity)], CellRecord.read(ran / CELL))
    seconds = []
    for count in (1, 2):
        copies = [tmp_path / f"{count}-{number}" for number in range(DERIVED)]
        for copy in copies:
            shutil.copytree(ran, copy, ignore=shutil.ignore_patterns(DERIVED_FOLDER))
        begin = time.monotonic()
        with derivers(count) as derive, ThreadPoolExecutor(count) as threads:
            list(threads.map(lambda copy, derive=derive: derive(copy, *rest), copies))
        seconds.append(time.monotonic() - begin)
    ratio = seconds[0] / seconds[1]
    print(f"{DERIVED} runs of {words[3]}: {seconds[0]:.1f} s by one process, {ratio:.2f} x by two")
    keep("derivation", {"runs": DERIVED, "ratio": ratio})
    assert ratio >= FASTER
