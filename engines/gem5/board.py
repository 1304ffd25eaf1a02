# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5's board: VExpress_GEM5_V1 (GICv2), and the address of its device tree."""

from __future__ import annotations

from configs.board import Board, Gic

#: Where memory begins. The kernel is loaded there.
RAM = 0x8000_0000
#: Where gem5's own workload would load it, too.
DEVICE_TREE = RAM + 0x800_0000

GICV2 = Gic(
    version=2,
    compatible="arm,cortex-a15-gic",
    # As many CPU interfaces.
    max_cpus=8,
    # Without the page of DIR, which gem5 does not have: the kernel then deactivates by EOI alone.
    parts=((0x2C00_1000, 0x1000), (0x2C00_2000, 0x1000)),
    # gem5 goes on counting across sockets.
    mpidr=lambda cluster, cpu: cluster << 8 | cpu,
)

BOARD = Board(
    compatible="arm,vexpress",
    ram=RAM,
    gics=(GICV2,),
    uart=0x1C09_0000,
    uart_spi=5,
    uart_hz=24_000_000,
    energy_ctrl=0x1000_0000,
    timer_ppis=(13, 14, 11, 10),
    enable_method="spin-table",
    psci_method="",
    # Just below the device tree, whose file keeps the kernel off this page.
    release_address=DEVICE_TREE - 8,
    clusters_are_sockets=True,
    quiesce=True,
    package_budget=False,
    transport="eascope,transport-m5ops",
)
