# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5's board: VExpress_GEM5_V1 (GICv2), and where in its memory the device tree is loaded."""

from __future__ import annotations

from configs.board import Board

#: Where memory begins. The kernel is loaded there.
RAM = 0x8000_0000
#: Where gem5's own workload would load it, too.
DEVICE_TREE = RAM + 0x800_0000

BOARD = Board(
    compatible="arm,vexpress",
    # A GICv2 has as many CPU interfaces.
    max_cpus=8,
    ram=RAM,
    gic_distributor=0x2C00_1000,
    gic_cpu_interface=0x2C00_2000,
    # Without the page of DIR, which gem5 does not have: the kernel then deactivates by EOI alone.
    gic_bytes=(0x1000, 0x1000),
    uart=0x1C09_0000,
    uart_spi=5,
    uart_hz=24_000_000,
    energy_ctrl=0x1000_0000,
    timer_ppis=(13, 14, 11, 10),
    enable_method="spin-table",
    psci_method="",
    # Just below the device tree, whose file keeps the kernel off this page.
    release_address=DEVICE_TREE - 8,
    clusters_in_affinity_1=True,
    quiesce=True,
    transport="eascope,transport-m5ops",
)
