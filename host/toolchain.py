# SPDX-License-Identifier: GPL-2.0-or-later
"""The tools that make code for arm64: a cross compiler, or an arm64 host's own compiler.

The key of what they make has their versions. A machine without them can use what another machine
has made: the cache has the versions, too (`said_of`), and ``eascope cache`` copies them.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from eascope.host.cache import cache_root, canonical_json, digest_of, write_atomic
from eascope.host.dry import work_folder
from eascope.host.errors import EascopeError
from eascope.host.proc import need, run
from eascope.host.record import load_json

TRIPLET = "aarch64-linux-gnu"
#: Files of the cache with versions of tools, below it.
VERSIONS = "toolchain"


def cross_prefix() -> str:
    """How the tools' names begin (``CROSS_COMPILE``): empty on an arm64 host."""
    return "" if platform.machine() == "aarch64" else f"{TRIPLET}-"


def arm64_tool(name: str, *, libc: bool = False) -> str:
    """Path of the tool ``name`` (gcc, ld, objcopy, objdump, nm) for arm64.

    :param libc: whether what is made needs the C library as well.
    :raises EascopeError: when it is not installed: one line that names the packages.
    """
    prefix = cross_prefix()
    packages = [f"gcc-{TRIPLET}" if prefix else "gcc"]
    if libc:
        packages.append(_libc_package())
    return need(f"{prefix}{name}", " ".join(packages))


def static_libc() -> Path:
    """The arm64 C library that static programs are linked with.

    :raises EascopeError: when the compiler or the library is not installed.
    """
    compiler = arm64_tool("gcc", libc=True)
    path = Path(run([compiler, "-print-file-name=libc.a"]).decode().strip())
    if not path.is_file():
        need("the arm64 C library", _libc_package())
    return path


def _libc_package() -> str:
    return "libc6-dev-arm64-cross" if cross_prefix() else "libc6-dev"


def said_of(tool: str, ask: Callable[[], Sequence[str]]) -> tuple[str, ...]:
    """The versions of ``tool`` that are a part of keys: what ``ask`` finds out on this machine.

    Where the tool is not installed, those that the cache has: of the machine that built what is in
    it. With several, the last that was seen.

    :raises EascopeError: of ``ask``, when the cache has none, either.
    """
    folder = cache_root() / VERSIONS
    try:
        answers = tuple(ask())
    except EascopeError:
        known = [entry for path in folder.glob(f"{tool}-*.json") if (entry := _seen(path))]
        if not known:
            raise
        return max(known)[1]
    path = folder / f"{tool}-{digest_of({'said': answers})[:16]}.json"
    if not path.is_file() and work_folder() is None:
        with suppress(OSError):  # a cache that can only be read
            write_atomic(path, canonical_json({"said": answers, "seen": time.time()}) + b"\n")
    return answers


def _seen(path: Path) -> tuple[float, tuple[str, ...]] | None:
    """When the versions in a file were seen, and the versions; None where it is damaged."""
    with suppress(EascopeError, KeyError, TypeError, ValueError):
        fields = load_json(path)
        return float(fields["seen"]), tuple(map(str, fields["said"]))
    return None
