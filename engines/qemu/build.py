# SPDX-License-Identifier: GPL-2.0-or-later
"""The fast engine's plugin, ``engines/qemu/plugin/*.c``: compiled into the cache when changed.

Numbers and names that C and Python share are in one place: those of the guest's messages in a
header of `rootfs.headers`, all others in `DEFINES`, which the compiler gets.
"""

from __future__ import annotations

import re
from functools import cache, partial
from pathlib import Path

from eascope.configs.cpunames import MAX_CPUS
from eascope.configs.platform_file import MAX_CLUSTERS, MAX_IDLE_STATES, MAX_OPPS
from eascope.engines.qemu.layout import LAYOUT
from eascope.engines.qemu.process import LOG
from eascope.engines.qemu.settings import RAW_COUNTERS
from eascope.engines.records import CONSOLE, COUNTERS, MARKS
from eascope.host.cache import artefact, digest_of, sha256_bytes
from eascope.host.proc import need, run
from eascope.host.toolchain import said_of
from eascope.power.model import SHARED_PART
from eascope.rootfs.headers import INCLUDE, MESSAGES

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
    "MAX_CLUSTERS": f"{MAX_CLUSTERS}",
    "MAX_OPPS": f"{MAX_OPPS}",
    "MAX_IDLE_STATES": f"{MAX_IDLE_STATES}",
    "SHARED_PART": f"({SHARED_PART})",
    "ENGINE_FILES": ", ".join(f'"{name}"' for name in ENGINE_FILES),
}


def room(cpus: int) -> int:
    """The number of CPUs for which the plugin of a machine with ``cpus`` has room.

    It is the limit of the machine's GIC, and at most `MAX_CPUS`, the kernels' limit.
    """
    return min(LAYOUT.gic(cpus).max_cpus, MAX_CPUS)


def defines(cpus: int) -> dict[str, str]:
    """The macros of the compiler for a machine of ``cpus``."""
    return {"MAX_CPUS": f"{room(cpus)}", **DEFINES}


def options(cpus: int = 1) -> list[str]:
    """Further options for the compiler, after `FLAGS`."""
    return [f"-I{INCLUDE}", *(f"-D{name}={value}" for name, value in defines(cpus).items())]


@cache
def source_digest() -> str:
    """SHA-256 over the plugin's code: no comment, and nothing of the host's compiler, changes it.

    The room for CPUs follows from a machine's settings, which are in every key.
    """
    files = sorted([*SOURCES.glob("*.c"), *SOURCES.glob("*.h"), MESSAGES])
    return digest_of(
        {**defines(1), **{path.name: sha256_bytes(_code(path).encode()) for path in files}}
    )


#: Comments of C, and literals, in which there are none.
_COMMENT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')""", re.DOTALL
)


def _code(path: Path) -> str:
    """A source of C without comments, indentation and empty lines."""
    text = _COMMENT.sub(lambda match: match[1] or " ", path.read_text())
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def plugin(cpus: int = 1) -> Path:
    """The compiled plugin, with room for a machine of ``cpus``.

    :raises EascopeError: when there is no C compiler, or it does not accept the sources.
    """
    version = said_of("host", _compiler)
    key: dict[str, object] = {
        "sources": source_digest(),
        "flags": list(FLAGS),
        "compiler": list(version),
    }
    if room(cpus) != room(1):
        key["room"] = room(cpus)
    build = partial(_compile, cpus)
    return artefact("qemu-plugin", key, build, label="fast engine's plugin") / "eascope.so"


def _compiler() -> list[str]:
    compiler = need("gcc", "gcc libc6-dev")
    return run([compiler, "-dumpfullversion", "-dumpmachine"]).decode().split()


def _compile(cpus: int, folder: Path) -> None:
    sources = sorted(SOURCES.glob("*.c"))
    target = str(folder / "eascope.so")
    command = [
        need("gcc", "gcc libc6-dev"),
        *FLAGS,
        *options(cpus),
        "-o",
        target,
        *map(str, sources),
    ]
    run(command, label="fast engine's plugin")
