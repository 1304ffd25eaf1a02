# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of a device tree that depend on the engine: addresses, interrupts, the start of CPUs.

All other parts depend on the platform. Drivers take addresses from the device tree alone. So a new
engine states its layout (`engines.base.Engine.layout`) and needs no change in the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Gic:
    """An interrupt controller.

    :param max_cpus: how many CPUs it may have.
    :param parts: address and bytes of the distributor, and of the CPU interfaces (GICv2) or the
        redistributors (GICv3).
    :param mpidr: affinity fields of the MPIDR of a CPU, by the numbers of its cluster and its own.
    """

    version: int
    compatible: str
    max_cpus: int
    parts: tuple[tuple[int, int], tuple[int, int]]
    mpidr: Callable[[int, int], int]


@dataclass(frozen=True)
class Layout:
    """An engine's machine. Interrupts are numbered as in the device tree (SPI and PPI from 0).

    ``gics`` are its interrupt controllers, from the one for the fewest CPUs up: a machine has the
    first that has enough (`gic`). ``psci_method`` is empty where there is no PSCI: CPUs then wait
    at the spin table's word ``release_address``, in memory that the device tree reserves.
    ``clusters_are_sockets``: the device tree calls a cluster a socket, so that the kernel knows who
    shares an L2. ``quiesce``: CPUs execute gem5's own operations, so the idle driver may use them.
    ``package_budget``: its EnergyCtrl can keep one. ``transport`` is the agent's channel to the
    engine (compatible of the node /eascope).
    """

    compatible: str
    ram: int
    gics: tuple[Gic, ...]
    uart: int
    uart_spi: int
    uart_hz: int
    energy_ctrl: int
    timer_ppis: tuple[int, int, int, int]
    enable_method: str
    psci_method: str
    release_address: int
    clusters_are_sockets: bool
    quiesce: bool
    package_budget: bool
    transport: str

    @property
    def max_cpus(self) -> int:
        """How many CPUs a machine may have."""
        return self.gics[-1].max_cpus

    def gic(self, cpus: int) -> Gic:
        """The interrupt controller of a machine with so many CPUs: the first that has enough.

        The last one where none has (`engines.base.check_cpus` refuses such a machine).
        """
        return next((gic for gic in self.gics if cpus <= gic.max_cpus), self.gics[-1])
