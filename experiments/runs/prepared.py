# SPDX-License-Identifier: GPL-2.0-or-later
"""Prepared files of servers: made by a first boot of the same image, and kept.

The guest takes seconds to set up a database, and no run should spend them. The first boot sets it
up. Its files leave the guest as a tar archive, and every run unpacks them before its server starts.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from eascope.configs.activity import load_activity
from eascope.configs.devicetree import device_tree
from eascope.configs.platform_file import load_platform
from eascope.engines.base import Machine
from eascope.engines.registry import DEFAULT_ENGINE, get_engine
from eascope.experiments.scenario.members import ARCHIVES, BUSYBOX, member
from eascope.experiments.scenario.program_kinds import DATA, KINDS, READY, READY_MS, SERVER_USER
from eascope.host.cache import artefact, digest_of, sha256_bytes, sha256_file
from eascope.kernels.build import kernel
from eascope.kernels.naming import kernel_named
from eascope.rootfs.content import load_content
from eascope.rootfs.cpio import Archive
from eascope.rootfs.image import ImageArtefact
from eascope.rootfs.images import with_archive

#: Where the first boot happens; a database's files depend on nothing of it.
PLATFORM, KERNEL = "juno-r2", "base"
#: Simulated seconds that it may take.
LIMIT_S = 120.0
#: How the database is set up: one that a run leaves loses nothing that matters, so nothing waits
#: for a disk that is not there. Clients come through a socket in /tmp.
INITDB = (
    "-A trust -U postgres --locale=C -E UTF8 --no-sync --wal-segsize=1 --no-instructions "
    "-c listen_addresses= -c unix_socket_directories=/tmp -c shared_buffers=32MB "
    "-c max_connections=100 -c jit=off -c fsync=off"
)
#: Accounts by 100 000.
SCALE = 1


def with_prepared(image: ImageArtefact, name: str, cmdline: str) -> ImageArtefact:
    """``image`` with a server's prepared files.

    :param name: `Kind.prepared` of the server.
    :param cmdline: the kernel's, as every cell's.
    :raises EascopeError: when the first boot fails.
    """
    data = (_prepared(image.path, name, cmdline) / f"{name}.tar").read_bytes()
    archive = Archive()
    archive.file(f"{ARCHIVES[1:]}/{name}.tar", data)
    return with_archive(image, archive.data(), f"data of {name}")


@cache
def _prepared(image: Path, name: str, cmdline: str) -> Path:
    """Cached folder with the archive that the first boot leaves."""
    engine = get_engine(DEFAULT_ENGINE)
    built = kernel(replace(kernel_named(KERNEL), more=KINDS[name].kernel))
    script = _script(name)
    platform = load_platform(PLATFORM)
    blob = device_tree(platform, engine.layout)
    fields = {
        "image": sha256_file(image),
        "kernel": sha256_file(built.image),
        "script": sha256_bytes(script),
        "cmdline": cmdline,
        "device tree": sha256_bytes(blob),
        "engine": digest_of(engine.identity().encode()),
    }

    def build(folder: Path) -> None:
        with tempfile.TemporaryDirectory(dir=folder.parent) as place:
            work = Path(place)
            (work / "machine.dtb").write_bytes(blob)
            machine = Machine(
                platform=platform,
                activity=load_activity(platform),
                image=built.image,
                dtb=work / "machine.dtb",
                initramfs=image,
                script=script,
                cmdline=cmdline,
                vmlinux=built.vmlinux,
            )
            out = work / "out"
            out.mkdir()
            engine.run(machine, out, limit_s=LIMIT_S)
            (folder / f"{name}.tar").write_bytes((out / f"{name}.tar").read_bytes())

    return artefact("guest-data", fields, build, label=f"data of {name} (a boot)", estimate_s=15)


def _script(name: str) -> bytes:
    """The agent's script of the first boot: PostgreSQL with pgbench's tables."""
    content, kind = load_content().programs, KINDS[name]
    run = f"{member()} run"
    server = (kind.arguments or "").replace("{arguments}", "").strip()
    initdb = f"{content['initdb'].path} -D {DATA}/data {INITDB}"
    tables = f"{content['pgbench'].path} -i -s {SCALE} -q {kind.ready.removesuffix(' -q')} postgres"
    owned = f"{BUSYBOX} install -d -o {SERVER_USER} -g {SERVER_USER} -m 700 {DATA}"
    steps = {
        "setup": f"{member()} setup",
        "folder": owned,
        "initdb": f"{run} initdb uid={SERVER_USER} env=HOME=/tmp env=TZ=UTC -- {initdb}",
    }
    lines = ["eascope-script 1"]
    for step, command in steps.items():
        lines += [f"spawn {step} {command}", f"wait {step}"]
    lines += [
        f"spawn server {run} server uid={SERVER_USER} endless=1 -- {kind.path} {server}",
        f"spawn ready {member()} ready server {READY_MS} {READY} {kind.ready}",
        "wait ready",
        f"spawn tables {run} tables env=HOME=/tmp -- {tables}",
        "wait tables",
        f"spawn stop {member()} stop server",
        "wait stop",
        "wait server",
        f"spawn tar {BUSYBOX} tar -cf /dev/shm/{name}.tar -C {DATA} data",
        "wait tar",
        f"collect /dev/shm/{name}.tar {name}.tar",
        "exit",
    ]
    return ("\n".join(lines) + "\n").encode()
