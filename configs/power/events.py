"""Energy of counted events: the calibrated model over what a simulator counts itself.

The calibration knows a core by its PMU, which counts little; gem5 counts McPAT's own events. Each
event has the factor of the calibration's group that it belongs to, times the core's level. What
the calibration leaves out stays out: integer data processing beyond renaming, window and reorder
buffer came out as nothing. The registers and the bus that it charges to other instructions are
charged to loads, stores and floating point, such that a CPU at the reference activity has exactly
the power of `configs.power.level`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from configs.power.derived import CYCLE
from configs.power.level import PER_FETCH, PER_OTHER, Level, load_level

#: Events of the group ``memory``: fills of the first level, all of the second.
MEMORY_EVENTS = (
    *("icache.read_misses", "dcache.write_misses"),
    *("L2.read_accesses", "L2.read_misses", "L2.write_accesses", "L2.write_misses"),
)
#: Events that the calibration charges to instructions other than integer data processing only.
SHARED_WITH_INTEGER = ("core.int_regfile_reads", "core.int_regfile_writes", "core.cdb_alu_accesses")
#: Events of integer data processing alone.
INTEGER_EVENTS = ("core.ialu_accesses", "core.mul_accesses", "core.cdb_mul_accesses")
#: Events that stand for such another instruction.
OTHERS = ("core.load_instructions", "core.store_instructions", "core.fpu_accesses")


def group_of(event: str) -> str | None:
    """The calibration's group that has the factor of ``event``; none when it is left out."""
    if event == CYCLE:
        return "clock"
    if event in PER_FETCH:
        return "front_end"
    if event in MEMORY_EVENTS:
        return "memory"
    if event in INTEGER_EVENTS or event in SHARED_WITH_INTEGER:
        return None
    return "back_end"


@dataclass(frozen=True)
class EventPower:
    """Energies of one core's events in pJ at the design supply, and its leakage."""

    level: Level
    energy_pj: Mapping[str, float]

    @property
    def cluster_cycle_pj(self) -> float:
        """Energy of a cycle of the L2's and the cluster logic's clock in pJ."""
        level = self.level
        return level.level * level.factors["cluster_clock"] * level.power.pj("L2.read_accesses")

    def dynamic_w(self, counts: Mapping[str, float], seconds: float, volts: float) -> float:
        """Mean power in W of events that happened in ``seconds``."""
        spent = sum(self.energy_pj.get(event, 0.0) * count for event, count in counts.items())
        return spent * 1e-12 * self.level.power.dynamic_scale(volts) / seconds

    def cluster_clock_w(self, hertz: float, volts: float) -> float:
        """Power in W of the clock of L2 and cluster logic."""
        return self.cluster_cycle_pj * 1e-12 * hertz * self.level.power.dynamic_scale(volts)

    def cpu_j(self, row: Mapping[str, float], celsius: float) -> dict[str, float]:
        """Energy in J by kind of a CPU's row (`configs.gem5.columns`); no leakage while off."""
        volts = row["uv"] / 1e6
        leaking_s = (row["on_ns"] + row["gated_ns"]) * 1e-9
        return {
            "dynamic": self.dynamic_w(row, 1.0, volts),
            "leakage": self.level.leakage_w("Core", volts, celsius) * leaking_s,
        }

    def shared_j(self, row: Mapping[str, float], celsius: float) -> dict[str, float]:
        """Energy in J by kind of the row of a cluster's shared part, whose clock never stops."""
        volts, seconds = row["uv"] / 1e6, (row["t1_ns"] - row["t0_ns"]) * 1e-9
        return {
            "dynamic": self.dynamic_w(row, 1.0, volts),
            "cluster_clock": self.cluster_clock_w(row["khz"] * 1e3, volts) * seconds,
            "leakage": self.level.leakage_w("L2", volts, celsius) * seconds,
        }

    def leakage_w_at_design(self, unit: str, celsius: float) -> float:
        """Calibrated leakage in W of ``Core`` or ``L2`` at the design supply; it goes with V^3."""
        return self.level.leakage_w(unit, self.level.power.vdd_v, celsius)


@cache
def load_events(core: str) -> EventPower:
    """Energies of the events of ``core``.

    :raises RequestError: when the core has no level or no figures.
    """
    level = load_level(core)
    energies = {}
    for event in level.power.energy_pj:
        group = group_of(event)
        if group:
            energies[event] = level.level * level.factors[group] * level.power.pj(event)
    # The reference activity has these events per other instruction, and OTHERS in this many of it.
    each = sum(PER_OTHER[event] for event in OTHERS)
    shared = sum(PER_OTHER[event] * level.power.pj(event) for event in SHARED_WITH_INTEGER)
    for event in OTHERS:
        if event in energies:
            energies[event] += level.level * level.factors["back_end"] * shared / each
    return EventPower(level, energies)
