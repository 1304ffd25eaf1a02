# SPDX-License-Identifier: GPL-2.0-or-later
"""The real gem5 with 24 CPUs, which have a GICv3: they boot, and interrupts reach all of them."""

from dataclasses import replace
from pathlib import Path

import pytest

from eascope.configs.activity import load_activity
from eascope.configs.devicetree import device_tree
from eascope.configs.platform import Platform
from eascope.engines.base import Machine
from eascope.engines.gem5.layout import LAYOUT
from eascope.engines.registry import get_engine
from eascope.experiments.runs.cell import BOOT
from eascope.experiments.runs.guest_image import guest_image
from eascope.kernels.build import kernel

pytestmark = [pytest.mark.gem5, pytest.mark.guest, pytest.mark.long]


def test_24_cpus_boot_with_a_gicv3(wide: Platform, tmp_path: Path) -> None:
    dtb, built = tmp_path / "dtb", kernel()
    # The budget is refused on gem5: its controller has no register for what is granted.
    wide = replace(wide, package_budget=None)
    dtb.write_bytes(device_tree(wide, LAYOUT))
    lines = [
        "eascope-script 1",
        "expect /sys/devices/system/cpu/online 0-23",
        "barrier",
        "trace-setup 64 sched:sched_switch",
        "start",
        "sleep-ms 20",
        "stop",
        "trace-collect",
        "collect /proc/interrupts interrupts",
        "exit",
    ]
    script = "".join(f"{line}\n" for line in lines).encode()
    machine = Machine(
        platform=wide,
        activity=load_activity(wide),
        script=script,
        cmdline=BOOT,
        vmlinux=built.vmlinux,
        image=built.image,
        dtb=dtb,
        initramfs=guest_image().path,
    )
    get_engine("gem5").run(machine, tmp_path / "out")
    text = (tmp_path / "out" / "interrupts").read_text()
    table = {line.split()[0]: line.split()[1:] for line in text.splitlines()[1:]}
    (timer,) = (row for row in table.values() if "arch_timer" in row)
    assert "GICv3" in timer
    assert all(int(count) > 0 for count in timer[:24])
    # CPUs from 16 on are reached by a range selector of the software-generated interrupt.
    sent = [sum(int(table[f"IPI{ipi}:"][cpu]) for ipi in (0, 1)) for cpu in wide.cpus]
    assert sum(sent[16:]) > 0
