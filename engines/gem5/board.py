# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5's board: VExpress_GEM5_V1 (GICv2).

The release word lies where gem5's own workload puts it: just below the device tree, which it loads
at 0x88000000.
"""

from __future__ import annotations

from configs.board import Board

BOARD = Board(
    compatible="arm,vexpress",
    ram=0x8000_0000,
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
    release_address=0x87FF_FFF8,
    clusters_in_affinity_1=True,
    quiesce=True,
    transport="eascope,transport-m5ops",
)
