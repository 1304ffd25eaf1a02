# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5's boot loader, executed: on QEMU's machine with EL3, whose rules are the architecture's."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from eascope.engines.gem5.boot import COUNTER_HZ, SOURCE
from eascope.engines.qemu.layout import LAYOUT
from eascope.engines.qemu.provider import qemu
from eascope.host.proc import run
from eascope.host.toolchain import arm64_tool
from eascope.rootfs.headers import INCLUDE
from tests.support.bare_metal import ADDRESSES
from tests.support.waiting import until

GUEST = Path(__file__).resolve().parents[2] / "guest" / "bootloader.S"
#: GICv2 and counter of QEMU's virt machine; a place in its memory.
DEFINES = (
    *(f"-D{name}={ADDRESSES[name]:#x}" for name in ("GICD", "GICC")),
    f"-DCOUNTER_HZ={COUNTER_HZ}",
)
ADDRESS = 0x6000_1000


#: The same with a GICv3.
GIC_3 = LAYOUT.gic(24)
DEFINES_3 = (
    *(f"-D{name}={part[0]:#x}" for name, part in zip(("GICD", "GICR"), GIC_3.parts, strict=True)),
    f"-DCOUNTER_HZ={COUNTER_HZ}",
)


def _build(folder: Path, defines: Sequence[str] = DEFINES) -> Path:
    elf = folder / "boot.elf"
    link = ("-nostdlib", "-static", "-no-pie", "-Wl,--omagic", "-Wl,--no-warn-rwx-segments")
    place = (f"-Wl,-Ttext={ADDRESS:#x}", "-Wl,-e,reset", "-Wl,-z,noexecstack")
    run([arm64_tool("gcc"), *link, *place, *defines, f"-I{INCLUDE}", "-o", elf, GUEST, SOURCE])
    return elf


def _serial(elf: Path, machine: str, letters: int) -> str:
    """What the guest prints, up to ``letters`` characters; fewer when QEMU ends before."""
    entry = int(run([arm64_tool("nm"), elf]).decode().split(" T reset")[0].split()[-1], 16)
    serial = elf.with_name("serial")
    command = [
        *qemu().command,
        *("-M", machine, "-cpu", "cortex-a57", "-smp", "2", "-m", "3G", "-nic", "none"),
        *("-display", "none", "-monitor", "none", "-serial", f"file:{serial}"),
        *("-device", f"loader,file={elf},cpu-num=0"),
        *("-device", f"loader,addr={entry:#x},cpu-num=1"),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:

        def printed() -> bool:
            # First: what QEMU wrote before it ended is there when it is read.
            gone = process.poll() is not None
            return gone or (serial.exists() and serial.stat().st_size >= letters)

        try:
            until(printed, f"{letters} letters on the serial line")
        finally:
            process.kill()
    return serial.read_text()[:letters]


@pytest.mark.guest
def test_from_el3_to_the_kernel_at_el2_and_the_second_by_the_spin_table(tmp_path: Path) -> None:
    machine = "virt,secure=on,virtualization=on,gic-version=2"
    assert _serial(_build(tmp_path), machine, 4) == "2A2B"


@pytest.mark.guest
def test_the_same_with_a_gicv3(tmp_path: Path) -> None:
    machine = "virt,secure=on,virtualization=on,gic-version=3"
    assert _serial(_build(tmp_path, DEFINES_3), machine, 4) == "2A2B"


@pytest.mark.guest
def test_a_machine_without_el3_is_left_at_its_level(tmp_path: Path) -> None:
    """CPU 1 stays off there: QEMU then has PSCI, and nobody calls it."""
    assert _serial(_build(tmp_path), "virt,virtualization=on,gic-version=2", 2) == "2A"
