# SPDX-License-Identifier: GPL-2.0-or-later
"""Bare-metal guests: programs of ``tests/guest`` compiled and run on the fast engine.

They need QEMU, the plugin and a cross compiler, but neither a kernel nor the guest image, and end
within a second.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from eascope.configs.activity import Activity
from eascope.configs.devicetree import device_tree
from eascope.configs.platform import Platform
from eascope.engines.base import EngineRun, Machine
from eascope.engines.qemu import settings as qemu
from eascope.engines.qemu.engine import QemuEngine
from eascope.engines.qemu.layout import LAYOUT
from eascope.experiments.runs.guest_image import guest_image
from eascope.host.proc import run
from eascope.host.toolchain import arm64_tool
from eascope.kernels.build import kernel
from eascope.rootfs.elide import FUNCTION_ADDRESS, FUNCTION_OFFSET, LDEXP_RANGE
from eascope.rootfs.headers import INCLUDE
from tests.support.linux import with_rt_app
from tests.support.repo import REPO

GUEST = REPO / "tests" / "guest"
FLAGS = (
    *("-O2", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-fno-pie", "-no-pie"),
    *("-nostdlib", "-static", "-mgeneral-regs-only", "-mstrict-align"),
    *("-Wl,--build-id=none", "-Wl,--no-warn-rwx-segments"),
)


#: The interrupt controller of so few CPUs as the guests have.
GIC = LAYOUT.gics[0]
ADDRESSES = {"GICD": GIC.parts[0][0], "GICC": GIC.parts[1][0], "ENERGYCTRL": LAYOUT.energy_ctrl}


@dataclass(frozen=True)
class GuestRun:
    """What a guest left: its numbers, the engine's counters and marks, and the folder."""

    result: dict[str, int]
    counters: pl.DataFrame
    marks: list[dict[str, int]]
    engine: EngineRun
    out: Path


def compile_guest(name: str, folder: Path, **defines: int) -> Path:
    """``tests/guest/<name>.c`` as a kernel image."""
    elf, image = folder / f"{name}.elf", folder / f"{name}.img"
    options = [f"-I{INCLUDE}", *(f"-D{key}={value:#x}ul" for key, value in ADDRESSES.items())]
    options += [f"-D{key}={value}" for key, value in defines.items()]
    sources = [GUEST / "runtime.c", GUEST / f"{name}.c"]
    run([arm64_tool("gcc"), *FLAGS, *options, f"-Wl,-T,{GUEST / 'guest.lds'}", "-o", elf, *sources])
    keep = "--set-section-flags=.bss=alloc,load,contents"
    run([arm64_tool("objcopy"), "-O", "binary", keep, elf, image])
    return image


def run_machine(machine: Machine, out: Path, **limits: Any) -> GuestRun:
    """Run a program of ``tests/guest``."""
    ended = QemuEngine().run(machine, out, **limits)
    text = (out / "result.txt").read_text() if (out / "result.txt").exists() else ""
    result = {line.split()[0]: int(line.split()[1]) for line in text.splitlines()}
    counters = pl.read_parquet(out / "counters.parquet")
    marks = json.loads((out / "marks.json").read_text())
    return GuestRun(result, counters, marks, ended, out)


@pytest.fixture
def bare_machine(tmp_path: Path, juno: Platform, juno_activity: Activity) -> Callable[..., Machine]:
    """Make a machine that boots a program of ``tests/guest``."""
    # They are nobody's busy loop and nobody's kernel: all instructions take the same.
    clusters = tuple(replace(rates, system_ipc=None) for rates in juno_activity.clusters)
    one_rate = replace(juno_activity, clusters=clusters)

    def make(name: str, **defines: int) -> Machine:
        dtb, empty = tmp_path / "machine.dtb", tmp_path / "empty"
        dtb.write_bytes(device_tree(juno, LAYOUT))
        empty.write_bytes(b"")
        image = compile_guest(name, tmp_path, **defines)
        return Machine(juno, one_rate, image, dtb, empty, b"", "")

    return make


@pytest.fixture
def rt_app_machine(
    bare_machine: Callable[..., Machine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Machine]:
    """Make a machine that calls rt-app's busy function where Linux would have the program."""

    def make(program: bytes, **defines: int) -> Machine:
        path = tmp_path / "rt-app"
        path.write_bytes(program)
        machine = bare_machine("rtapp", RTAPP=path, FUNCTION=FUNCTION_OFFSET, **defines)
        symbols = run([arm64_tool("nm"), tmp_path / "rtapp.elf"]).decode()
        line = re.search(r"^([0-9a-f]+) \S program$", symbols, re.MULTILINE)
        assert line
        moved = int(line[1], 16) - (FUNCTION_ADDRESS - FUNCTION_OFFSET)
        monkeypatch.setattr(qemu, "FUNCTION_ADDRESS", FUNCTION_ADDRESS + moved)
        monkeypatch.setattr(qemu, "LDEXP_RANGE", tuple(address + moved for address in LDEXP_RANGE))
        return machine

    return make


@pytest.fixture
def linux_machine(
    tmp_path: Path, juno: Platform, juno_activity: Activity
) -> Callable[..., Machine]:
    """Make a machine that boots the base kernel and the guest image with a script."""

    def make(
        script: bytes, *, quiet: bool = True, elided: bool = True, platform: Platform = juno
    ) -> Machine:
        dtb = tmp_path / "machine.dtb"
        dtb.write_bytes(device_tree(platform, LAYOUT))
        image = with_rt_app(guest_image().path, tmp_path / "image.cpio", elided=elided)
        cmdline = "console=ttyAMA0 rdinit=/init" + (" quiet" if quiet else "")
        return Machine(
            platform, juno_activity, kernel("base").image, dtb, image, script, cmdline, elided
        )

    return make


@pytest.fixture
def run_guest(tmp_path: Path, bare_machine: Callable[..., Machine]) -> Callable[..., GuestRun]:
    """Compile and run a program of ``tests/guest``; other keywords are ``-D`` of the compiler."""

    def start(name: str, *, limits: dict[str, float] | None = None, **defines: Any) -> GuestRun:
        return run_machine(bare_machine(name, **defines), tmp_path / "out", **(limits or {}))

    return start
