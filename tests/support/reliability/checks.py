# SPDX-License-Identifier: GPL-2.0-or-later
"""Each check does harm to a small campaign, and asks for the bytes that it has without harm."""

import itertools
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.reliability.campaign import (
    ROLES,
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

#: Seconds between two looks at the processes of a campaign.
LOOK_S = 0.05
#: Kills that one campaign meets at most; then its command may end.
MOST_KILLS = 6


@dataclass(frozen=True)
class Kill:
    """A process that was killed.

    :param share: of the time that its role has in an undisturbed campaign: when it was killed.
    """

    role: str
    share: float


@dataclass
class Kills:
    """What was killed, and what was left of it.

    :param per_campaign: the kills of each campaign.
    :param spans: see `role_spans`.
    """

    spans: dict[str, float]
    per_campaign: list[list[Kill]] = field(default_factory=list)
    left: int = 0

    @property
    def every(self) -> list[Kill]:
        """All kills."""
        return [kill for kills in self.per_campaign for kill in kills]

    def quarters(self) -> list[int]:
        """Kills by the quarter of their role's time; what comes later is in the last one."""
        counted = Counter(min(3, int(4 * kill.share)) for kill in self.every)
        return [counted[quarter] for quarter in range(4)]


def role_spans(runs: Path) -> dict[str, float]:
    """Seconds from the first look that meets a role to the last, in an undisturbed campaign."""
    runs.mkdir()
    first: dict[str, float] = {}
    last: dict[str, float] = {}
    process = start(runs)
    while process.poll() is None:
        now = time.monotonic()
        for item in processes_of(process.pid):
            first.setdefault(item.role, now)
            last[item.role] = now
        time.sleep(LOOK_S)
    text, _ = process.communicate()
    assert process.returncode == 0, text
    assert set(first) == set(ROLES.values()), first
    return {role: last[role] - first[role] for role in sorted(first)}


def kills(folder: Path, wanted: dict[str, str], count: int, seed: int, at_once: int = 1) -> Kills:
    """Kill processes of campaigns at random times and give the same command until it ends.

    There are ``count`` kills, or a few more. A campaign that ends is compared with ``wanted``.

    :param at_once: campaigns that run at the same time; each has draws of its own.
    :raises AssertionError: a command fails without being killed, or bytes differ.
    """
    done = Kills(role_spans(folder / "undisturbed"))
    lock, numbers = threading.Lock(), itertools.count()

    def campaigns() -> None:
        while len(done.every) < count:
            number = next(numbers)
            runs = folder / f"kills-{number}"
            killed, left = _killed_campaign(
                runs, wanted, random.Random(f"{seed} {number}"), done.spans
            )
            with lock:
                done.per_campaign.append(killed)
                done.left += left

    with ThreadPoolExecutor(at_once) as executor:
        for item in [executor.submit(campaigns) for _ in range(at_once)]:
            item.result()
    return done


def _killed_campaign(
    runs: Path, wanted: dict[str, str], draws: random.Random, spans: dict[str, float]
) -> tuple[list[Kill], int]:
    """One campaign: what was killed, and how many temporary folders are left."""
    runs.mkdir()
    killed: list[Kill] = []
    while len(killed) < MOST_KILLS and (kill := _one_kill(runs, draws, spans)):
        killed.append(kill)
    finish(runs)
    assert half_written(runs) == []
    left = leftovers(runs)
    verified(runs)
    assert tables(runs) == wanted
    shutil.rmtree(runs)
    return killed, left


def _one_kill(runs: Path, draws: random.Random, spans: dict[str, float]) -> Kill | None:
    """Start the command and kill one of its processes; None when there was nothing to kill.

    The time is drawn from the whole time that a role has in an undisturbed campaign, from its first
    process on. After earlier kills there is less to run, so the role may have ended by then.
    """
    role = draws.choice(sorted(spans))
    after, process, first = draws.uniform(0.0, spans[role]), start(runs), None
    while process.poll() is None:
        victims = [item for item in processes_of(process.pid) if item.role == role]
        now = time.monotonic()
        if first is None and victims:
            first = now
        if first is not None and now >= first + after:
            with suppress(ProcessLookupError):
                if victims:
                    os.kill(draws.choice(victims).pid, signal.SIGKILL)
                    # What survives goes on by itself; the next command meets it.
                    if role != "sweep":
                        process.communicate(timeout=HANG_S)
                    return Kill(role, (now - first) / spans[role])
            break
        time.sleep(LOOK_S)
    process.communicate(timeout=HANG_S)
    return None


def one_of_two_workers(folder: Path, wanted: dict[str, str]) -> None:
    """Two sweeps of one campaign; one loses its whole process group, the other one goes on.

    The job processes of Snakemake are in groups of their own, so all of them are killed.
    """
    runs = folder / "workers"
    runs.mkdir()
    first, second = start(runs), start(runs)
    until(
        lambda: any(process.role == "engine" for process in processes_of(first.pid)),
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
"$PYTHON" -m eascope.experiments.cli.main $3 > "$4/said" 2>&1 || code=$?
echo "exit $code"
"$PYTHON" -m tests.support.reliability.inside "$1/runs" > "$4/between.json"
mount -o remount,size=512m "$1"
"$PYTHON" -m eascope.experiments.cli.main $3 > "$4/again" 2>&1 || { cat "$4/again"; exit 1; }
"$PYTHON" -m tests.support.reliability.inside "$1/runs" > "$4/tables.json"
"""

#: Runs the campaign while the cache cannot be written.
READ_ONLY = """
mount --bind "$EASCOPE_CACHE" "$EASCOPE_CACHE"
mount -o remount,bind,ro "$EASCOPE_CACHE"
if touch "$EASCOPE_CACHE/x" 2> /dev/null; then echo "the cache can be written"; exit 1; fi
export EASCOPE_RUNS="$1"
"$PYTHON" -m eascope.experiments.cli.main $2
"""


@dataclass(frozen=True)
class Full:
    """What a campaign did on a disk: its exit code, and how many runs were finished."""

    code: int
    runs: int


def full_disk(folder: Path, wanted: dict[str, str], kib: int) -> Full:
    """Run the campaign on a disk of ``kib``, then give it room; what it did before.

    :raises AssertionError: half-written runs, a traceback, or other bytes.
    """
    place, notes = folder / f"full-{kib}", folder / f"full-{kib}-notes"
    place.mkdir()
    notes.mkdir()
    with in_own_mounts(FULL, str(place), str(kib), " ".join(SWEEP), str(notes)) as process:
        text, _ = process.communicate(timeout=HANG_S)
    assert process.returncode == 0, text
    output = (notes / "said").read_text()
    assert "Traceback" not in output, output
    between = read(notes / "between.json")
    assert between.half == []
    assert between.wrong == []
    assert read(notes / "tables.json").tables == wanted
    return Full(int(text.split()[1]), between.done)


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
