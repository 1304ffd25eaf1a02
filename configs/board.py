# SPDX-License-Identifier: GPL-2.0-or-later
"""What of a device tree depends on the engine: addresses, interrupts, how CPUs start.

All else is the platform's. Drivers take addresses from the device tree alone, so a new engine
states its board (`engines.base.Engine.board`) and needs nothing in the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Board:
    """An engine's machine. Interrupts are numbered as in the device tree (SPI and PPI from 0).

    ``max_cpus`` is how many CPUs it may have. ``gic_bytes`` are the sizes of the interrupt
    controller's two parts. ``psci_method`` is empty where there is no PSCI: CPUs then wait at the
    spin table's word ``release_address``, in memory that the device tree reserves. MPIDR's Aff0 is
    the CPU's number in the machine, and Aff1 the cluster where ``clusters_in_affinity_1``.
    ``quiesce``: CPUs execute gem5's own operations, so the idle driver may use them. ``transport``
    is the agent's channel to the engine (compatible of the node /eascope).
    """

    compatible: str
    max_cpus: int
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
