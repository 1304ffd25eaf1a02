# SPDX-License-Identifier: GPL-2.0-or-later
"""A Slurm of one node on loopback: Debian's munged, slurmctld and slurmd.

They have folders and ports of their own, and are ended by their process ids.
"""

import getpass
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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
