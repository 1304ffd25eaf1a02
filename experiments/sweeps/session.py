# SPDX-License-Identifier: GPL-2.0-or-later
"""One sweep of a campaign: the missing cells as parts in files, which Snakemake runs.

A session is a folder that only this sweep uses: parts, logs, Snakemake's own files. No later
command needs it, and it is removed when the sweep has ended without a failure.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from eascope.experiments.runs.pool import QUIET_S, show_line, time_left
from eascope.experiments.sweeps.campaign import Campaign
from eascope.experiments.sweeps.ledger import DONE, SUFFIX, folder_of, ledger_folder, read_lines
from eascope.experiments.sweeps.part import (
    LEAST_CELLS,
    MOST_CELLS,
    SCHEMA,
    SweepPart,
    split,
)
from eascope.experiments.sweeps.point import Point
from eascope.host.cache import cache_root, runs_root, write_atomic
from eascope.host.errors import EascopeError, RequestError, names_allowed
from eascope.host.imports import PACKAGES
from eascope.host.proc import duration
from eascope.host.writing import writing_into

HERE = Path(__file__).resolve().parent
SNAKEFILE = HERE / "Snakefile"
PROFILES = HERE / "profiles"
#: Tasks of an array, at most: what Slurm takes where a cluster sets no other MaxArraySize.
MOST_TASKS = 1000
#: Hours that a part may take.
PART_HOURS = 4

_ARRAY = HERE / "array.sh.in"
#: Seconds between two looks at the ledger.
LOOK_S = 0.5
#: The executor of a profile: a key with or without quotes, with a value that may have them.
_EXECUTOR = re.compile(r"""^\s*["']?executor["']?\s*:\s*["']?([\w-]+)""", re.MULTILINE)
#: What a person installs for sweeps.
INSTALL = ".venv/bin/pip install -e '.[sweep]'"


@dataclass(frozen=True)
class SweepSession:
    """The folder of one sweep, with its parts."""

    campaign: Campaign
    folder: Path
    parts: tuple[SweepPart, ...]

    @property
    def cells(self) -> int:
        """The number of its cells."""
        return sum(part.cells for part in self.parts)

    @property
    def ledgers(self) -> list[Path]:
        """The files to which its parts write."""
        root = ledger_folder(self.campaign.name)
        return [root / f"{part.job}{SUFFIX}" for part in self.parts]


def part_size(cells: int, jobs: int) -> int:
    """The number of cells in a part, chosen so that ``jobs`` end at about the same time."""
    return max(LEAST_CELLS, min(MOST_CELLS, -(-cells // (2 * jobs))))


def begin(
    campaign: Campaign,
    groups: Sequence[tuple[str, Point, Sequence[int]]],
    jobs: int,
    *,
    retry: bool,
) -> SweepSession:
    """Write the parts of the missing cells.

    :param groups: machine, point and seeds (`experiments.sweeps.survey.Survey.to_run`).
    """
    cells = sum(len(seeds) for _, _, seeds in groups)
    # By time and process: another machine that shares the folder has another name.
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.uname().nodename}-{os.getpid()}"
    folder = folder_of(campaign.name) / "sessions" / name
    of = campaign.name, campaign.file
    parts = tuple(
        SweepPart(SCHEMA, *of, f"{name}-{number}", part, power=campaign.power, retry=retry)
        for number, part in enumerate(split(groups, part_size(cells, jobs)))
    )
    with writing_into(folder_of(campaign.name)):
        (folder / "parts").mkdir(parents=True)
        (folder / "log").mkdir()
        for number, part in enumerate(parts):
            part.write(folder / "parts" / f"{number}.json")
    return SweepSession(campaign, folder, parts)


def check_snakemake(profile: str | None) -> None:
    """Check that Snakemake is there, and what the executor that ``profile`` names needs.

    :raises RequestError: one line with how to install it.
    """
    if importlib.util.find_spec("snakemake") is None:
        raise RequestError(f"snakemake is not installed; run {INSTALL}, or use --script FILE")
    if profile is None:
        return
    executor = executor_of(profile)
    if not executor:
        return
    module = f"snakemake_executor_plugin_{executor.replace('-', '_')}"
    if importlib.util.find_spec(module) is None:
        plugin = module.replace("_", "-")
        raise RequestError(
            f"--profile {profile}: {plugin} is not installed; run .venv/bin/pip install {plugin}, "
            "or use another profile"
        )
    if executor == SLURM and shutil.which("sbatch") is None:
        raise RequestError(
            f"--profile {profile}: no sbatch on this host; use a host of a Slurm cluster, or "
            "another profile"
        )


def executor_of(profile: str) -> str:
    """The executor plugin that a profile names; empty: Snakemake's own, on this host.

    :raises RequestError: a profile that cannot be read.
    """
    path = profile_folder(profile) / "config.yaml"
    try:
        match = _EXECUTOR.search(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise RequestError(
            f"--profile {profile}: {path}: byte {error.start} is not UTF-8"
        ) from error
    except OSError as error:
        raise RequestError(f"--profile {profile}: {path}: {error.strerror}") from error
    return match[1] if match and match[1] not in ("local", "dryrun", "touch") else ""


def profile_folder(profile: str) -> Path:
    """The folder of a shipped profile, or a person's own.

    :raises RequestError: when there is none.
    """
    own, shipped = Path(profile), PROFILES / profile
    for folder in (shipped, own):
        if (folder / "config.yaml").is_file():
            return folder.absolute()
    known = sorted(path.name for path in PROFILES.iterdir() if path.is_dir())
    raise RequestError(
        f"--profile {profile}: no such profile{names_allowed(profile, known)}, or a folder with "
        "config.yaml"
    )


def snakemake_command(session: SweepSession, jobs: int, profile: str | None) -> list[str]:
    """The command that runs the parts of ``session``."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(SNAKEFILE)]
    command += ["--directory", str(session.folder), "--config", f"parts={len(session.parts)}"]
    command += [f"python={sys.executable}", "--keep-going", "--nolock", "--quiet", "all"]
    command += ["--rerun-triggers", "mtime", "--scheduler", "greedy", "--nocolor"]
    if profile is None:
        return [*command, "--cores", str(jobs)]
    command += ["--profile", str(profile_folder(profile)), "--jobs", str(jobs)]
    return command + (slurm_options() if executor_of(profile) == SLURM else [])


def environment(session: SweepSession, profile: str | None) -> dict[str, str]:
    """The environment of a sweep's jobs, which run in other folders."""
    slurm = profile is not None and executor_of(profile) == SLURM
    return {
        **os.environ,
        **(slurm_environment(session.folder) if slurm else {}),
        # Jobs run the code of the command, whichever checkout an environment has installed.
        "PYTHONPATH": os.pathsep.join(
            [str(PACKAGES), *filter(None, [os.environ.get("PYTHONPATH")])]
        ),
        "EASCOPE_RUNS": str(runs_root()),
        "EASCOPE_CACHE": str(cache_root()),
        # Temporary files of Snakemake's own cache.
        "XDG_CACHE_HOME": str(runs_root() / "campaigns" / ".cache"),
    }


def run_session(session: SweepSession, jobs: int, profile: str | None, expected_s: float) -> int:
    """Run all parts; how many of their cells have failed.

    :param expected_s: estimated host seconds of the sweep.
    :raises EascopeError: when Snakemake itself has failed.
    :raises KeyboardInterrupt: after all jobs have ended.
    """
    log = session.folder / "snakemake.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            snakemake_command(session, jobs, profile),
            stdout=stream,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=environment(session, profile),
            start_new_session=True,
        )
        try:
            done, failed = _watch(session, process, expected_s)
        except BaseException:
            _end(process)
            raise
    if done + failed < session.cells:
        _check_options(session, log, profile)
        _explain(session, log, process.returncode)
    if not failed:
        shutil.rmtree(session.folder, ignore_errors=True)
    return failed


def _end(process: subprocess.Popen[bytes]) -> None:
    """End Snakemake and its jobs: an interrupted run leaves nothing."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=20)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def _watch(
    session: SweepSession, process: subprocess.Popen[bytes], expected_s: float
) -> tuple[int, int]:
    """Print progress until Snakemake ends; returns the numbers of done and failed cells."""
    started = shown = time.monotonic()
    terminal, seen = sys.stderr.isatty(), _Seen(session.ledgers)

    def show(end: str) -> tuple[int, int]:
        done, failed = seen.counts()
        spent_s = time.monotonic() - started
        words = progress_words(session.cells, done, failed, spent_s, expected_s)
        show_line(f"  {words}", terminal=terminal, end=end)
        return done, failed

    while process.poll() is None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=LOOK_S)
        if terminal or time.monotonic() - shown >= QUIET_S:
            shown = time.monotonic()
            show("")
    return show("\n")


class _Seen:
    """Counts lines of growing files; each file is read again only when it has grown."""

    def __init__(self, paths: Sequence[Path]) -> None:
        #: Size, done and failed cells.
        self._files = dict.fromkeys(paths, (0, 0, 0))

    def counts(self) -> tuple[int, int]:
        """Cells that are done, and that have failed."""
        for path, (before, *_) in self._files.items():
            with suppress(OSError):
                if (size := path.stat().st_size) != before:
                    states = [line.state == DONE for line in read_lines([path])]
                    self._files[path] = size, sum(states), len(states) - sum(states)
        _, done, failed = map(sum, zip(*self._files.values(), strict=True))
        return done, failed


def progress_words(total: int, done: int, failed: int, spent_s: float, expected_s: float) -> str:
    """How much of a sweep is done, and when it may end, in one line."""
    through = (done + failed) / total if total else 1.0
    parts = [f"[{done + failed}/{total}]", *([f"{failed} failed,"] if failed else [])]
    left = time_left(through, spent_s, expected_s) if through < 1 else f"in {duration(spent_s)}"
    return " ".join([*parts, left])


def _check_options(session: SweepSession, log: Path, profile: str | None) -> None:
    """Say in one line what of a profile Snakemake itself refused; the session is of no use then.

    :raises RequestError: it did.
    """
    refusal = re.search(r"^\S+: error: (.+)$", log.read_text(errors="replace"), re.MULTILINE)
    if profile is not None and refusal:
        shutil.rmtree(session.folder, ignore_errors=True)
        raise RequestError(f"--profile {profile}: Snakemake refuses it: {refusal[1]}")


def _explain(session: SweepSession, log: Path, code: int) -> None:
    """Raise for cells that no part has reported."""
    # What a part says itself comes first; then what a cluster says of its job.
    places = [*session.folder.glob("log/*.txt"), *session.folder.glob(JOB_LOGS)]
    texts = [path for path in places if path.stat().st_size]
    shown = texts[0] if texts else log
    lines = shown.read_text(errors="replace").strip().splitlines()
    raise EascopeError(
        f"Snakemake ended with exit code {code} and cells that never began: {log}\n"
        + "\n".join(f"  {line}" for line in lines[-8:])
    )


#: The executor's name in a profile.
SLURM = "slurm"
#: Where the plugin has what a job said before its part began, below a session's folder.
JOB_LOGS = ".snakemake/slurm_logs/**/*.log"
#: Snakemake's plugin asks sacct by default, which a Slurm without accounting does not have.
_SQUEUE = ["--slurm-status-command", "squeue"]
#: The plugin starts a part by srun, and drops all that begins with SLURM_ from its environment.
#: Where the cluster is named by one of these, its srun would not find it.
_NAMES_CLUSTER = ("SLURM_CONF", "SLURM_CONF_SERVER")


def slurm_options() -> list[str]:
    """Options for Snakemake that the Slurm here needs."""
    return _SQUEUE if _no_accounting() else []


def slurm_environment(folder: Path) -> dict[str, str]:
    """Additions to Snakemake's environment.

    :param folder: of the session; gets a ``srun`` that knows the cluster.
    """
    named = {key: value for key, value in os.environ.items() if key in _NAMES_CLUSTER}
    srun = shutil.which("srun")
    if not named or srun is None:
        return {}
    given = " ".join(f"{key}={shlex.quote(value)}" for key, value in named.items())
    own = folder / "bin" / "srun"
    own.parent.mkdir(exist_ok=True)
    own.write_text(f'#!/bin/sh\n{given} exec {shlex.quote(srun)} "$@"\n')
    own.chmod(0o755)
    return {"PATH": f"{own.parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def _no_accounting() -> bool:
    """True if the Slurm here reports that it keeps no accounts."""
    try:
        done = subprocess.run(
            ["scontrol", "show", "config"], capture_output=True, check=False, text=True
        )
    except FileNotFoundError:  # Snakemake says it in its own words
        return False
    return bool(re.search(r"^AccountingStorageType\s*=.*none$", done.stdout, re.MULTILINE))


def write_array(session: SweepSession, script: Path, jobs: int) -> None:
    """Write ``script``, which runs the parts as a Slurm array, without Snakemake.

    :raises EascopeError: when it cannot be written.
    """
    parts = len(session.parts)
    tasks = min(parts, MOST_TASKS)
    text = _ARRAY.read_text().format(
        cells=session.cells,
        name=session.campaign.name,
        parts=parts,
        tasks=tasks,
        script=script.name,
        last=tasks - 1,
        jobs=jobs,
        hours=PART_HOURS * -(-parts // tasks),
        folder=shlex.quote(str(session.folder)),
        runs=shlex.quote(str(runs_root())),
        cache=shlex.quote(str(cache_root())),
        python=shlex.quote(sys.executable),
    )
    with writing_into(script.parent):
        write_atomic(script, text.encode())
    script.chmod(0o755)
