# SPDX-License-Identifier: GPL-2.0-or-later
"""The fast engine's plugin, ``engines/qemu/plugin/*.c``: compiled into the cache when changed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from host.cache import artefact, digest_of, sha256_file
from host.proc import need, run

SOURCES = Path(__file__).resolve().parent / "plugin"
FLAGS = (
    *("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"),
    *("-fPIC", "-shared", "-fvisibility=hidden"),
    # Every function of QEMU that the plugin wants must exist when it is loaded.
    "-Wl,-z,now",
)


@cache
def source_digest() -> str:
    """SHA-256 over the plugin's sources: what it does, whatever compiler the host has."""
    files = sorted([*SOURCES.glob("*.c"), *SOURCES.glob("*.h")])
    return digest_of({path.name: sha256_file(path) for path in files})


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
    command = [need("gcc", "gcc libc6-dev"), *FLAGS, "-o", target, *map(str, sources)]
    run(command, label="fast engine's plugin")
