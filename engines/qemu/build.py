# SPDX-License-Identifier: GPL-2.0-or-later
"""The fast engine's plugin, ``engines/qemu/plugin/*.c``: compiled into the cache when changed.

Numbers and names that Python knows, too, have one place: what the guest says is in a header of
`rootfs.headers`, all else is given to the compiler (`DEFINES`).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from configs.platform_file import MAX_CLUSTERS, MAX_IDLE_STATES, MAX_OPPS
from engines.qemu.board import BOARD
from engines.qemu.process import LOG
from engines.qemu.settings import RAW_COUNTERS
from engines.records import CONSOLE, COUNTERS, MARKS, SHARED_PART
from host.cache import artefact, digest_of, sha256_file
from host.proc import need, run
from rootfs.headers import INCLUDE, MESSAGES

SOURCES = Path(__file__).resolve().parent / "plugin"
FLAGS = (
    *("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"),
    *("-fPIC", "-shared", "-fvisibility=hidden"),
    # Every function of QEMU that the plugin wants must exist when it is loaded.
    "-Wl,-z,now",
)
#: Files of a run that the engine itself writes: the guest may send none of these names.
ENGINE_FILES = (RAW_COUNTERS, COUNTERS, MARKS, CONSOLE, LOG)
DEFINES = {
    "MAX_CPUS": f"{BOARD.max_cpus}",
    "MAX_CLUSTERS": f"{MAX_CLUSTERS}",
    "MAX_OPPS": f"{MAX_OPPS}",
    "MAX_IDLE_STATES": f"{MAX_IDLE_STATES}",
    "SHARED_PART": f"({SHARED_PART})",
    "ENGINE_FILES": ", ".join(f'"{name}"' for name in ENGINE_FILES),
}


def options() -> list[str]:
    """What the compiler is given besides `FLAGS` and the sources."""
    return [f"-I{INCLUDE}", *(f"-D{name}={value}" for name, value in DEFINES.items())]


@cache
def source_digest() -> str:
    """SHA-256 over the plugin's sources: what it does, whatever compiler the host has."""
    files = sorted([*SOURCES.glob("*.c"), *SOURCES.glob("*.h"), MESSAGES])
    return digest_of({**DEFINES, **{path.name: sha256_file(path) for path in files}})


def plugin() -> Path:
    """The compiled plugin.

    :raises EascopeError: when there is no C compiler, or it does not accept the sources.
    """
    compiler = need("gcc", "gcc libc6-dev")
    version = run([compiler, "-dumpfullversion", "-dumpmachine"]).decode().split()
    key = {"sources": source_digest(), "flags": list(FLAGS), "compiler": version}
    return artefact("qemu-plugin", key, _compile, label="fast engine's plugin") / "eascope.so"


def _compile(folder: Path) -> None:
    sources = sorted(SOURCES.glob("*.c"))
    target = str(folder / "eascope.so")
    command = [need("gcc", "gcc libc6-dev"), *FLAGS, *options(), "-o", target, *map(str, sources)]
    run(command, label="fast engine's plugin")
