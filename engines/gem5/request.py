# SPDX-License-Identifier: GPL-2.0-or-later
"""What gem5 is asked for: a function of the settings and the files alone.

`Gem5Settings` is all that shapes a run besides its files; every run's key digests it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from eascope.engines.base import LIMIT_S, Machine
from eascope.engines.gem5.inside.request import SCHEMA, Gem5Request, MachineSettings
from eascope.engines.gem5.settings import machine_settings
from eascope.host.record import Record

#: Simulated time without an instruction, of all CPUs or of one that is on, after which a guest
#: counts as dead. An idle kernel still has a timer every few s.
STALL_NS = 20 * 10**9


@dataclass(frozen=True)
class Gem5Settings(Record):
    """All that gem5 is given besides files. No field has a default, so the key has them all.

    :param machine: as `engines.gem5.inside.request` has it.
    :param limit_ns: simulated time after which the run fails.
    :param stall_ns: simulated time without an instruction after which the guest counts as dead.
    """

    mode: str
    machine: MachineSettings
    cmdline: str
    limit_ns: int
    stall_ns: int


@dataclass(frozen=True)
class RequestFiles:
    """The files of a run, which its key has by their digests.

    :param vmlinux: what is booted; ``dtb`` and ``initrd`` are None for a program without a system.
    :param script: what the agent reads.
    :param checkpoint_in: the saved machine from which the run goes on.
    :param checkpoint_out: where the machine is saved.
    """

    vmlinux: Path
    boot_loader: Path
    dtb: Path | None = None
    initrd: Path | None = None
    script: Path | None = None
    checkpoint_in: Path | None = None
    checkpoint_out: Path | None = None


def settings_of(machine: Machine, mode: str, limit_s: float = LIMIT_S) -> Gem5Settings:
    """The settings of ``machine`` in ``mode``.

    :param limit_s: simulated seconds after which the run fails.
    """
    return Gem5Settings(
        mode=mode,
        machine=machine_settings(machine.platform, mode),
        cmdline=machine.cmdline,
        limit_ns=round(limit_s * 1e9),
        stall_ns=STALL_NS,
    )


def request_of(settings: Gem5Settings, files: RequestFiles) -> Gem5Request:
    """What ``engines/gem5/inside/run.py`` reads."""

    def name(path: Path | None) -> str | None:
        return None if path is None else str(path.absolute())

    return {
        "schema": SCHEMA,
        "machine": settings.machine,
        "mode": settings.mode,
        "vmlinux": str(files.vmlinux),
        "boot_loader": str(files.boot_loader),
        "dtb": name(files.dtb),
        "initrd": name(files.initrd),
        "cmdline": settings.cmdline,
        "script": name(files.script),
        "checkpoint_in": name(files.checkpoint_in),
        "checkpoint_out": name(files.checkpoint_out),
        "limit_ns": settings.limit_ns,
        "stall_ns": settings.stall_ns,
    }
