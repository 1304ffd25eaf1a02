# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5's boards: VExpress_GEM5_V1 (GICv2), and VExpress_GEM5_V2 (GICv3) for more than eight CPUs.

Also the address of their device tree.
"""

from __future__ import annotations

from eascope.configs.layout import Gic, Layout

#: Where memory begins. The kernel is loaded there.
RAM = 0x8000_0000
#: Where gem5's own workload would load it, too.
DEVICE_TREE = RAM + 0x800_0000


def _mpidr(cluster: int, cpu: int) -> int:
    """A cluster is a socket of gem5's, which goes on counting CPUs across sockets."""
    return cluster << 8 | cpu


GICV2 = Gic(
    version=2,
    compatible="arm,cortex-a15-gic",
    # As many CPU interfaces.
    max_cpus=8,
    # Without the page of DIR, which gem5 does not have: the kernel then deactivates by EOI alone.
    parts=((0x2C00_1000, 0x1000), (0x2C00_2000, 0x1000)),
    mpidr=_mpidr,
)
#: Bytes of a redistributor: as gem5 has them where it is asked for no GICv4.
REDISTRIBUTOR_BYTES = 0x2_0000
GICV3 = Gic(
    version=3,
    compatible="arm,gic-v3",
    # gem5's own limit: the PCI space comes behind.
    max_cpus=128,
    parts=((0x2C00_0000, 0x10000), (0x2C01_0000, 128 * REDISTRIBUTOR_BYTES)),
    # Aff0 may be 16 and more: gem5's GICv3 has range selectors (GICD_TYPER.RSS).
    mpidr=_mpidr,
)

LAYOUT = Layout(
    compatible="arm,vexpress",
    ram=RAM,
    gics=(GICV2, GICV3),
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
