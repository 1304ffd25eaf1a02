"""What of a device tree depends on the engine: addresses, interrupts, how CPUs start.

All else is the platform's. Drivers take addresses from the device tree alone, so a new engine
needs an entry here and nothing in the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

from configs.host.errors import unknown


@dataclass(frozen=True)
class Board:
    """An engine's machine. Interrupts are numbered as in the device tree (SPI and PPI from 0).

    ``cpus_per_affinity_1`` is how many CPUs share an Aff1 of MPIDR; ``transport`` is the agent's
    channel to the engine (compatible of the node /eascope).
    """

    engine: str
    compatible: str
    ram: int
    gic_distributor: int
    gic_cpu_interface: int
    uart: int
    uart_spi: int
    uart_hz: int
    energy_ctrl: int
    timer_ppis: tuple[int, int, int, int]
    enable_method: str
    psci_method: str
    cpus_per_affinity_1: int
    transport: str

    def mpidr(self, cpu: int) -> int:
        """Affinity fields of the MPIDR that CPU number ``cpu`` has on this engine."""
        return (cpu // self.cpus_per_affinity_1) << 8 | cpu % self.cpus_per_affinity_1


#: QEMU's machine ``virt,gic-version=2``; EnergyCtrl is the plugin's.
_QEMU = Board(
    engine="qemu",
    compatible="linux,dummy-virt",
    ram=0x4000_0000,
    gic_distributor=0x0800_0000,
    gic_cpu_interface=0x0801_0000,
    uart=0x0900_0000,
    uart_spi=1,
    uart_hz=24_000_000,
    energy_ctrl=0x0B00_0000,
    timer_ppis=(13, 14, 11, 10),
    enable_method="psci",
    psci_method="hvc",
    cpus_per_affinity_1=8,
    transport="eascope,transport-hint",
)

_BOARDS = {board.engine: board for board in (_QEMU,)}


def board_of(engine: str) -> Board:
    """The machine that ``engine`` simulates.

    :raises RequestError: an engine without one, with the nearest name.
    """
    if engine not in _BOARDS:
        raise unknown("engine (for a device tree)", engine, _BOARDS)
    return _BOARDS[engine]
