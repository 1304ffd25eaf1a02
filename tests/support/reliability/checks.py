# SPDX-License-Identifier: GPL-2.0-or-later
"""Each check does harm to a small campaign, and asks for the bytes that it has without harm."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.reliability.campaign import (
    SWEEP,
    finish,
    half_written,
    in_own_mounts,
    leftovers,
    processes_of,
    start,
    tables,
    verified,
)
from tests.support.reliability.inside import read
from tests.support.repo import REPO
from tests.support.waiting import HANG_S, until

#: Seconds after the start of a command in which a process is killed.
LATEST_KILL_S = 20.0


@dataclass
class Kills:
    """What was killed, by role, and what was left of it."""

    by_role: Counter[str] = field(default_factory=Counter)
    campaigns: int = 0
    left: int = 0


def kills(folder: Path, wanted: dict[str, str], count: int, seed: int) -> Kills:
    """Kill a process of a campaign at a random time and give the same command, ``count`` times.

    A campaign that ends is compared with ``wanted``; then another begins.

    :raises AssertionError: a command fails without being killed, or bytes differ.
    """
    draws, done = random.Random(seed), Kills()
    while done.by_role.total() < count:
        runs = folder / f"kills-{done.campaigns}"
        while done.by_role.total() < count and (role := _one_kill(runs, draws)):
            done.by_role[role] += 1
        finish(runs)
        assert half_written(runs) == []
        done.campaigns += 1
        done.left += leftovers(runs)
        verified(runs)
        assert tables(runs) == wanted
        shutil.rmtree(runs)
    return done


def _one_kill(runs: Path, draws: random.Random) -> str:
    """Start the command, kill one of its processes; its role, empty when it ended before."""
    runs.mkdir(exist_ok=True)
    process = start(runs)
    when = draws.uniform(0.0, LATEST_KILL_S)
    role = draws.choice(["runner", "Snakemake", "sweep", "engine"])
    with suppress(subprocess.TimeoutExpired):
        process.wait(when)
    while process.poll() is None:
        victims = [each for each in processes_of(process.pid) if each.role == role]
        with suppress(ProcessLookupError):
            if victims:
                os.kill(draws.choice(victims).pid, signal.SIGKILL)
                # What survives goes on by itself; the next command meets it.
                if role != "sweep":
                    process.communicate(timeout=HANG_S)
                return role
        time.sleep(0.05)
    return ""


def one_of_two_workers(folder: Path, wanted: dict[str, str]) -> None:
    """Two sweeps of one campaign; one loses its whole process group, the other one goes on.

    The job processes of Snakemake are in groups of their own, so all of them are killed.
    """
    runs = folder / "workers"
    runs.mkdir()
    first, second = start(runs), start(runs)
    until(
        lambda: any(each.role == "engine" for each in processes_of(first.pid)),
        "an engine of the first worker",
    )
    # Stop first, so that none of them sees another one end.
    victims = list(processes_of(first.pid))
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for victim in victims:
            with suppress(ProcessLookupError):
                os.kill(victim.pid, number)
    text, _ = second.communicate(timeout=HANG_S)
    assert second.returncode == 0, text
    first.communicate()
    verified(runs)
    assert half_written(runs) == []
    assert tables(runs) == wanted


#: Runs the campaign on a disk of $2 KiB, says its exit code, and then with room.
FULL = """
mount -t tmpfs -o size="$2"k none "$1"
export EASCOPE_RUNS="$1/runs" TMPDIR="$1/tmp"
mkdir "$1/tmp"
code=0
"$PYTHON" -m experiments.cli.main $3 > "$4/said" 2>&1 || code=$?
echo "exit $code"
"$PYTHON" -m tests.support.reliability.inside "$1/runs" > "$4/between.json"
mount -o remount,size=512m "$1"
"$PYTHON" -m experiments.cli.main $3 > "$4/again" 2>&1 || { cat "$4/again"; exit 1; }
"$PYTHON" -m tests.support.reliability.inside "$1/runs" > "$4/tables.json"
"""

#: Runs the campaign while the cache cannot be written.
READ_ONLY = """
mount --bind "$EASCOPE_CACHE" "$EASCOPE_CACHE"
mount -o remount,bind,ro "$EASCOPE_CACHE"
if touch "$EASCOPE_CACHE/x" 2> /dev/null; then echo "the cache can be written"; exit 1; fi
export EASCOPE_RUNS="$1"
"$PYTHON" -m experiments.cli.main $2
"""


def full_disk(folder: Path, wanted: dict[str, str], kib: int) -> int:
    """Run the campaign on a disk of ``kib``, then give it room; the exit code of the full one.

    :raises AssertionError: half-written runs, a traceback, or other bytes.
    """
    place, notes = folder / f"full-{kib}", folder / f"full-{kib}-notes"
    place.mkdir()
    notes.mkdir()
    with in_own_mounts(FULL, str(place), str(kib), " ".join(SWEEP), str(notes)) as process:
        text, _ = process.communicate(timeout=HANG_S)
    assert process.returncode == 0, text
    said = (notes / "said").read_text()
    assert "Traceback" not in said, said
    between = read(notes / "between.json")
    assert between.half == []
    assert between.wrong == []
    assert read(notes / "tables.json").tables == wanted
    return int(text.split()[1])


def read_only_cache(folder: Path, wanted: dict[str, str]) -> None:
    """Run the campaign while the cache cannot be written.

    :raises AssertionError: when it fails, or other bytes.
    """
    runs = folder / "read-only"
    with in_own_mounts(READ_ONLY, str(runs), " ".join(SWEEP)) as process:
        text, _ = process.communicate(timeout=HANG_S)
    assert process.returncode == 0, text
    assert tables(runs) == wanted


def clock_jumps(folder: Path, wanted: dict[str, str], count: int, seed: int) -> list[int]:
    """Run the campaign while its wall clock jumps ``count`` times; the jumps in seconds.

    :raises AssertionError: when it fails, or other bytes.
    """
    library, offset = folder / "clock.so", folder / "offset"
    source = REPO / "tests" / "support" / "reliability" / "clock.c"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True)
    offset.write_text("0")
    draws, runs = random.Random(seed), folder / "clock"
    jumps: list[int] = []
    process = start(runs, LD_PRELOAD=str(library), CLOCK_OFFSET_FILE=str(offset))
    while process.poll() is None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(draws.uniform(0.2, 2.0))
        if len(jumps) < count and process.poll() is None:
            jumps.append(round(draws.uniform(-400.0, 400.0) * 86_400.0))
            offset.write_text(str(jumps[-1]))
    text, _ = process.communicate()
    assert process.returncode == 0, text
    assert jumps, "the campaign ended before the first jump"
    verified(runs)
    assert tables(runs) == wanted
    return jumps


def copied(folder: Path, of: Path, wanted: dict[str, str]) -> int:
    """A folder of runs copied elsewhere: it verifies, and nothing is run again; how many runs."""
    runs = folder / "copied"
    runs.mkdir()
    names = sorted({name.partition("/")[0] for name in wanted})
    for name in names:
        shutil.copytree(of / name, runs / name)
        # As from a machine with another clock; and nothing of the ledger comes along.
        os.utime(runs / name, (0, 0))
    before = {name: (runs / name / "host.json").read_bytes() for name in names}
    verified(runs)
    finish(runs)
    assert tables(runs) == wanted
    assert {name: (runs / name / "host.json").read_bytes() for name in names} == before
    return len(names)
