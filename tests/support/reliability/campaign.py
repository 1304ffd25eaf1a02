# SPDX-License-Identifier: GPL-2.0-or-later
"""A small campaign, the bytes that it must leave, and the processes that run it."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from eascope.analysis.derived_folder import DERIVED
from eascope.experiments.runs.store import OUTSIDE, SIMKEY
from eascope.host.cache import cache_root
from eascope.host.scratch import MARK
from eascope.host.sealed import files_of
from tests.support.command import EASCOPE
from tests.support.processes import process_fields
from tests.support.waiting import HANG_S

#: Four cells of two machines: mainline and EAS off boot the same kernel with other switches.
CELLS = 4
AXES = ["--platform", "juno-r2", "--scenario", "smoke", "--variant", "mainline,cas"]
SWEEP = ["sweep", *AXES, "--seeds", str(CELLS // 2), "-j", "2"]


def environment(runs: Path, **more: str) -> dict[str, str]:
    """The environment of a command whose runs go to ``runs``."""
    return {**os.environ, "EASCOPE_RUNS": str(runs), **more}


def start(runs: Path, command: list[str] = SWEEP, **more: str) -> subprocess.Popen[str]:
    """Begin ``eascope`` in a process group of its own."""
    return subprocess.Popen(
        [*EASCOPE, *command],
        env=environment(runs, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def finish(runs: Path, command: list[str] = SWEEP, **more: str) -> str:
    """Run ``eascope`` to its end; what it printed.

    :raises AssertionError: when it fails.
    """
    process = start(runs, command, **more)
    text, _ = process.communicate(timeout=HANG_S)
    assert process.returncode == 0, text
    return text


def tables(runs: Path) -> dict[str, str]:
    """SHA-256 of every file of the finished runs and of what was derived, by name.

    Host time is no part of them. ``result.json`` and the Parquet tables are.
    """
    digests = {}
    for folder in sorted(path for path in runs.iterdir() if SIMKEY.fullmatch(path.name)):
        places = [folder, *(folder / DERIVED).glob("[!.]*")]
        for place in places:
            for name, path in files_of(place, OUTSIDE).items():
                where = f"{folder.name}/{place.relative_to(folder)}/{name}"
                digests[where] = hashlib.sha256(path.read_bytes()).hexdigest()
    return digests


def half_written(runs: Path) -> list[str]:
    """Folders of runs that are neither whole nor known as under way: there must be none."""
    return [
        path.name
        for path in runs.iterdir()
        if SIMKEY.fullmatch(path.name) and not (path / "done").is_file()
    ]


def leftovers(runs: Path) -> int:
    """Folders that killed processes have left; `eascope gc` removes them."""
    return len(list(runs.glob(f".*{MARK}*")))


def verified(runs: Path) -> None:
    """Every run is as it was written.

    :raises AssertionError: with what ``eascope verify`` says.
    """
    names = [path.name for path in runs.iterdir() if SIMKEY.fullmatch(path.name)]
    if names:
        finish(runs, ["verify", *names])


@dataclass(frozen=True)
class Process:
    """A process of a sweep, and its part in it."""

    pid: int
    role: str


#: Parts of a sweep's processes in their commands: the first that fits.
ROLES = {
    "experiments.cli.main part": "runner",
    "-m snakemake": "Snakemake",
    "experiments.cli.main sweep": "sweep",
    "qemu-system-aarch64": "engine",
}


def processes_of(root: int) -> Iterator[Process]:
    """``root`` and what it has started, by way of others too, as far as they have a role."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        fields = process_fields(folder.name)
        if fields is not None and fields[1] != "Z":
            children.setdefault(int(fields[2]), []).append(int(folder.name))
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        waiting += children.get(pid, [])
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        role = next((role for text, role in ROLES.items() if text in command), None)
        if role is not None:
            yield Process(pid, role)


@contextmanager
def in_own_mounts(script: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A shell script that may mount file systems that nobody else sees.

    :param arguments: of the script, as ``$1`` and so on; ``$PYTHON`` runs Python.
    """
    process = subprocess.Popen(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", script, "sh", *arguments],
        env={**os.environ, "PYTHON": sys.executable, "EASCOPE_CACHE": str(cache_root())},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
