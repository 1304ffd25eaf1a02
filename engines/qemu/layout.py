# SPDX-License-Identifier: GPL-2.0-or-later
"""The fast engine's layout: QEMU's machine ``virt``, with a GICv2 or a GICv3.

EnergyCtrl belongs to the plugin and lies in a gap of that machine's address map.
"""

from __future__ import annotations

from eascope.configs.layout import Gic, Layout

DISTRIBUTOR = 0x0800_0000
#: Bytes of the redistributors' region, which ends where the UART begins, and of each of them.
REDISTRIBUTORS, REDISTRIBUTOR_BYTES = 0xF6_0000, 0x2_0000

LAYOUT = Layout(
    compatible="linux,dummy-virt",
    ram=0x4000_0000,
    gics=(
        Gic(
            version=2,
            compatible="arm,cortex-a15-gic",
            # As many CPU interfaces.
            max_cpus=8,
            parts=((DISTRIBUTOR, 0x10000), (0x0801_0000, 0x10000)),
            mpidr=lambda cluster, cpu: cpu,
        ),
        Gic(
            version=3,
            compatible="arm,gic-v3",
            max_cpus=REDISTRIBUTORS // REDISTRIBUTOR_BYTES,
            parts=((DISTRIBUTOR, 0x10000), (0x080A_0000, REDISTRIBUTORS)),
            # A software-generated interrupt has a list of 16 targets with one Aff1.
            mpidr=lambda cluster, cpu: cpu // 16 << 8 | cpu % 16,
        ),
    ),
    uart=0x0900_0000,
    uart_spi=1,
    uart_hz=24_000_000,
    energy_ctrl=0x0B00_0000,
    timer_ppis=(13, 14, 11, 10),
    enable_method="psci",
    psci_method="hvc",
    release_address=0,
    clusters_are_sockets=False,
    quiesce=False,
    package_budget=True,
    transport="eascope,transport-hint",
)
