# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign on a real Slurm, by Snakemake's profile and by a plain array script.

It has one node, on loopback: Debian's munged, slurmctld and slurmd, with folders and ports of
their own. They are ended by their process ids.
"""

import getpass
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from eascope.host.sealed import Done
from tests.support.command import EASCOPE
from tests.support.waiting import until

#: What Debian calls the packages that have the daemons.
PACKAGES = {
    "munged": "munge",
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "sbatch": "slurm-client",
}
#: Seconds that the daemons get to end.
END_S = 20.0

CONF = """\
ClusterName=eascope
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmdPort={slurmd_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
MinJobAge=600
SlurmdTimeout=60
NodeName=localhost NodeAddr=127.0.0.1 CPUs={cpus} Boards=1 SocketsPerBoard=1 CoresPerSocket={cpus} \
ThreadsPerCore=1 RealMemory=6000 State=UNKNOWN
PartitionName=main Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""


def lacking() -> str:
    """The Debian packages that a Slurm here needs and lacks; empty: none."""
    path = os.environ.get("PATH", "") + os.pathsep + "/usr/sbin"
    return " ".join(sorted(p for name, p in PACKAGES.items() if not shutil.which(name, path=path)))


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
    return port


@contextmanager
def slurm(folder: Path, cpus: int = 2) -> Iterator[dict[str, str]]:
    """A Slurm with one node of ``cpus`` CPUs; gives what its commands need of the environment."""
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    folder.chmod(0o755)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    conf = folder / "slurm.conf"
    conf.write_text(
        CONF.format(
            folder=folder,
            user=getpass.getuser(),
            cpus=cpus,
            ctld_port=_free_port(),
            slurmd_port=_free_port(),
        )
    )
    sbin = f"{os.environ.get('PATH', '')}{os.pathsep}/usr/sbin"
    env = {"SLURM_CONF": str(conf), "PATH": sbin}
    commands = [
        ["munged", "--foreground", "--force", *_munge_files(folder)],
        ["slurmctld", "-D", "-i", "-f", str(conf)],
        ["slurmd", "-D", "-N", "localhost", "-f", str(conf)],
    ]
    running: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            with (folder / f"{command[0]}.out").open("wb") as out:
                running.append(
                    subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, **env})
                )
            if command[0] == "munged":
                _wait_for((folder / "munge.socket").exists, folder, "munged's socket")
        _wait_for(lambda: _node_state(env) == "idle", folder, "an idle node")
        yield env
    finally:
        for process in reversed(running):
            _end(process)


def _munge_files(folder: Path) -> list[str]:
    files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log"}
    return [f"--{option}={folder}/munge.{name}" for option, name in files.items()] + [
        f"--seed-file={folder}/munge.seed"
    ]


def _node_state(env: dict[str, str]) -> str:
    done = subprocess.run(
        ["sinfo", "--noheader", "--format=%T"],
        env={**os.environ, **env},
        capture_output=True,
        check=False,
        text=True,
    )
    return done.stdout.strip()


def _wait_for(present: Callable[[], bool], folder: Path, what: str) -> None:
    """Wait until ``there()`` is true, or say what the daemons have logged."""
    try:
        until(present, what)
    except AssertionError as error:
        logs = [path for path in sorted(folder.glob("*.log")) + sorted(folder.glob("*.out"))]
        tails = [f"{path.name}: {path.read_text(errors='replace')[-600:]}" for path in logs]
        raise AssertionError("\n".join([str(error), *tails])) from error


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


pytestmark = [
    pytest.mark.long,
    pytest.mark.guest,
    pytest.mark.skipif(bool(lacking()), reason=f"no {lacking()} (Debian packages)"),
]

SWEEP = ["--platform", "juno-r2", "--scenario", "smoke", "--variant", "mainline,cas"]
SWEEP += ["--set", "little.cpus=2,4", "--seeds", "4"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with slurm(tmp_path_factory.mktemp("slurm")) as env:
        yield env


def call(cluster: dict[str, str], runs: Path, *arguments: str) -> str:
    env = {**os.environ, **cluster, "EASCOPE_RUNS": str(runs)}
    done = subprocess.run(
        [*EASCOPE, *arguments], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files(runs: Path) -> dict[str, Done]:
    """The digests of every run, by its name."""
    return {path.parent.name: Done.read(path) for path in runs.glob("*/done")}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The campaign's runs, made on this host alone."""
    runs = tmp_path_factory.mktemp("here") / "runs"
    assert "16 done" in call({}, runs, "sweep", *SWEEP, "-j", "2")
    return runs


def test_by_snakemakes_profile(cluster: dict[str, str], here: Path, tmp_path: Path) -> None:
    pytest.importorskip("snakemake_executor_plugin_slurm")
    runs = tmp_path / "runs"
    out = call(cluster, runs, "sweep", *SWEEP, "-j", "2", "--profile", "slurm")
    assert "16 done, 0 failed, 0 missing" in out
    assert files(runs) == files(here)


def test_by_an_array_script(cluster: dict[str, str], here: Path, tmp_path: Path) -> None:
    runs, script = tmp_path / "runs", tmp_path / "array.sh"
    call(cluster, runs, "sweep", *SWEEP, "-j", "2", "--script", str(script))
    env = {**os.environ, **cluster}
    subprocess.run(["sbatch", "--wait", str(script)], env=env, check=True, capture_output=True)
    assert "16 done, 0 failed, 0 missing" in call(cluster, runs, "status", *SWEEP)
    assert files(runs) == files(here)
