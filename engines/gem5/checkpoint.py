# SPDX-License-Identifier: GPL-2.0-or-later
"""Checkpoints: a machine that has booted to the agent's barrier, once for all its runs.

Checkpoints are in the cache: content-addressed, written under a temporary name, verified on every
use. The key has all inputs of the saved state, and no choice that a run makes later.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from eascope.engines.gem5.inside.request import MachineSettings
from eascope.engines.gem5.provider import Gem5Identity
from eascope.host.cache import (
    MANIFEST,
    artefact,
    cache_root,
    check_artefact,
    digest_of,
    sha256_bytes,
    sha256_file,
)
from eascope.host.errors import EascopeError
from eascope.host.proc import say
from eascope.host.record import Record

KIND = "gem5-checkpoint"
#: Measured: some 100 million instructions on atomic CPUs.
ESTIMATE_S = 110.0
FACTS = "boot.json"
#: Raised whenever engines/gem5/inside/machine.py builds another machine from the same settings,
#: or names its parts otherwise. (gem5 refuses a checkpoint whose parts it does not find.)
LAYOUT = 1
STATE = "state"


@dataclass(frozen=True)
class BootFacts(Record):
    """Costs of a boot, for people: host seconds, simulated ns, instructions."""

    host_s: float
    sim_ns: int
    instructions: int


def checkpoint_key(
    identity: Gem5Identity,
    settings: MachineSettings,
    *,
    vmlinux: Path,
    dtb: Path,
    initrd: Path,
    cmdline: str,
) -> dict[str, object]:
    """All inputs of a saved machine.

    :param identity: of the engine; of its scripts only `LAYOUT` counts here.
    :param settings: `engines.gem5.settings.machine_settings` in mode ``boot``.
    """
    return {
        "schema": 1,
        "engine": {
            "version": identity.version,
            "binary_sha256": identity.binary_sha256,
            "boot_loader": identity.boot_loader.encode(),
        },
        "layout": LAYOUT,
        "settings": settings,
        "vmlinux": sha256_file(vmlinux),
        "dtb": sha256_file(dtb),
        "initrd": sha256_file(initrd),
        "cmdline": sha256_bytes(cmdline.encode()),
    }


def checkpoint(key: Mapping[str, object], boot: Callable[[Path], BootFacts], label: str) -> Path:
    """The saved machine's folder; the machine is booted if the store has none.

    A damaged one is thrown away and made again.

    :param boot: boots, saves the state into the folder that it is given, returns facts.
    """

    def build(folder: Path) -> None:
        facts = boot(folder / STATE)
        if not (folder / STATE / "m5.cpt").is_file():
            raise EascopeError("gem5 ended at the agent's barrier, but saved nothing")
        facts.write(folder / FACTS)

    folder = cache_root() / KIND / digest_of(key)[:32]
    if (folder / MANIFEST).is_file():
        try:
            check_artefact(folder)
        except EascopeError as error:
            say(f"warning: {error}; rebuilding")
            shutil.rmtree(folder)
    folder = artefact(KIND, key, build, label=label, estimate_s=ESTIMATE_S)
    return folder / STATE
