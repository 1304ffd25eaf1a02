# SPDX-License-Identifier: GPL-2.0-or-later
"""What of a device tree depends on the engine: addresses, interrupts, how CPUs start.

All else is the platform's. Drivers take addresses from the device tree alone, so a new engine
needs an entry here and nothing in the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

from host.errors import unknown


@dataclass(frozen=True)
class Board:
    """An engine's machine. Interrupts are numbered as in the device tree (SPI and PPI from 0).

    ``gic_bytes`` are the sizes of the interrupt controller's two parts. ``psci_method`` is empty
    where there is no PSCI: CPUs then wait at the spin table's word ``release_address``, in memory
    that the device tree reserves. MPIDR's Aff0 is the CPU's number in the machine (below eight),
    and Aff1 the cluster where ``clusters_in_affinity_1``. ``quiesce``: CPUs execute gem5's own
    operations, so the idle driver may use them. ``transport`` is the agent's channel to the engine
    (compatible of the node /eascope).
    """

    engine: str
    compatible: str
    ram: int
    gic_distributor: int
    gic_cpu_interface: int
    gic_bytes: tuple[int, int]
    uart: int
    uart_spi: int
    uart_hz: int
    energy_ctrl: int
    timer_ppis: tuple[int, int, int, int]
    enable_method: str
    psci_method: str
    release_address: int
    clusters_in_affinity_1: bool
    quiesce: bool
    transport: str

    def mpidr(self, cluster: int, cpu: int) -> int:
        """Affinity fields of the MPIDR that CPU number ``cpu`` of ``cluster`` has here."""
        return cluster << 8 | cpu if self.clusters_in_affinity_1 else cpu


#: QEMU's machine ``virt,gic-version=2``; EnergyCtrl is the plugin's, in a gap
#: of that machine's map.
_QEMU = Board(
    engine="qemu",
    compatible="linux,dummy-virt",
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

#: gem5's VExpress_GEM5_V1 (GICv2). The release word lies where gem5's own workload puts it: just
#: below the device tree, which it loads at 0x88000000.
_GEM5 = Board(
    engine="gem5",
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

_BOARDS = {board.engine: board for board in (_QEMU, _GEM5)}


def board_of(engine: str) -> Board:
    """The machine that ``engine`` simulates.

    :raises RequestError: an engine without one, with the nearest name.
    """
    if engine not in _BOARDS:
        raise unknown("engine (for a device tree)", engine, _BOARDS)
    return _BOARDS[engine]
