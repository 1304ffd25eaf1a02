# SPDX-License-Identifier: GPL-2.0-or-later
"""The fast engine's board: QEMU's machine ``virt,gic-version=2``.

EnergyCtrl is the plugin's, in a gap of that machine's map.
"""

from __future__ import annotations

from configs.board import Board

BOARD = Board(
    compatible="linux,dummy-virt",
    # A GICv2 has as many CPU interfaces.
    max_cpus=8,
    ram=0x4000_0000,
    gic_distributor=0x0800_0000,
    gic_cpu_interface=0x0801_0000,
    gic_bytes=(0x10000, 0x10000),
    uart=0x0900_0000,
    uart_spi=1,
    uart_hz=24_000_000,
    energy_ctrl=0x0B00_0000,
    timer_ppis=(13, 14, 11, 10),
    enable_method="psci",
    psci_method="hvc",
    release_address=0,
    clusters_in_affinity_1=False,
    quiesce=False,
    transport="eascope,transport-hint",
)
