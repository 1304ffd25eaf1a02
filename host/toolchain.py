# SPDX-License-Identifier: GPL-2.0-or-later
"""The tools that make code for arm64: a cross compiler, or an arm64 host's own compiler."""

from __future__ import annotations

import platform
from pathlib import Path

from host.proc import need, run

TRIPLET = "aarch64-linux-gnu"


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
