# SPDX-License-Identifier: GPL-2.0-or-later
"""Tools from LISA's wheel: static ``rt-app`` and ``trace-cmd`` for arm64 and x86-64.

The wheel is downloaded from the Python package registry and checked against one digest. Only the
binaries and their licence notes are unpacked. Its Python dependencies are never installed.
"""

from __future__ import annotations

import platform
import shutil
import sys
import zipfile
from pathlib import Path

from eascope.host.cache import artefact, sha256_file
from eascope.host.errors import EascopeError
from eascope.host.proc import run

VERSION = "3.1.0"
WHEEL = f"lisa_linux-{VERSION}-py3-none-any.whl"
WHEEL_SHA256 = "1a2daedb4188eba003f6ea2514aec1a2c8e310d656f48ba1cee0da2925f81a79"
#: LISA's names of the instruction sets and what the kernel calls the machine.
MACHINES = {"aarch64": "arm64", "x86_64": "x86_64"}
_FOLDER = "lisa/_assets/binaries/"
_TOOLS = ("rt-app", "trace-cmd")


def lisa_binaries() -> Path:
    """Cached folder ``{arm64,x86_64}/{rt-app,trace-cmd,README.rt-app,README.trace-cmd}``.

    :raises EascopeError: when the wheel cannot be downloaded or has another digest.
    """
    fields = {"wheel": WHEEL, "sha256": WHEEL_SHA256, "tools": list(_TOOLS), "layout": 1}
    return artefact("lisa", fields, _unpack, label="rt-app and trace-cmd (LISA)", estimate_s=5)


def host_trace_cmd() -> Path:
    """The ``trace-cmd`` that runs on this machine.

    :raises EascopeError: when the wheel has none for this machine and none is installed.
    """
    name = MACHINES.get(platform.machine())
    if name is not None:
        return lisa_binaries() / name / "trace-cmd"
    program = shutil.which("trace-cmd")
    if program is None:
        raise EascopeError("trace-cmd is not installed: run: apt-get install trace-cmd")
    return Path(program)


def _unpack(folder: Path) -> None:
    download = folder / "download"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    run([*command, "--dest", download, f"lisa-linux=={VERSION}"], label="download of lisa-linux")
    wheel = download / WHEEL
    if not wheel.is_file() or sha256_file(wheel) != WHEEL_SHA256:
        raise EascopeError(f"download of {WHEEL}: its SHA-256 is not {WHEEL_SHA256}")
    with zipfile.ZipFile(wheel) as archive:
        for machine in sorted(MACHINES.values()):
            (folder / machine).mkdir()
            for tool in _TOOLS:
                for name, mode in ((tool, 0o755), (f"README.{tool}", 0o644)):
                    target = folder / machine / name
                    target.write_bytes(archive.read(f"{_FOLDER}{machine}/{name}"))
                    target.chmod(mode)
    shutil.rmtree(download)
