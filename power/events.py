# SPDX-License-Identifier: GPL-2.0-or-later
"""Energy of counted events: the calibrated model over the events that gem5 counts.

The calibration uses the few events of a core's PMU; gem5 counts McPAT's own events. Each event has
the factor of its group in the calibration, times the core's level. Events that the calibration
leaves out stay out: the fit gave integer data processing no energy beyond renaming, window and
reorder buffer. The calibration charges the registers and the bus to other instructions. Here they
are charged to loads, stores and floating point, such that a CPU at the reference activity has
exactly the power of `power.level`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from eascope.configs.billing import CHIP
from eascope.power.level import PER_FETCH, PER_INSTRUCTION, PER_OTHER, Level, load_level
from eascope.power.mcpat import CYCLE, PARTS

#: Parts of the energy stack, in the order of printing. The clock is apart: the calibration's factor
#: stands for the clock tree, which McPAT does not know and which belongs to no unit.
STACK = ("clock", *PARTS, "leakage", "idle", "idle_entry", "idle_exit", CHIP)

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
    """Energies of one core's events in pJ at the design supply, and its leakage.

    ``parts_pj`` is the same by part of the energy stack (`STACK`).
    """

    level: Level
    energy_pj: Mapping[str, float]
    parts_pj: Mapping[str, Mapping[str, float]]

    def reference(self) -> dict[str, float]:
        """Events of one cycle at the reference activity."""
        level = self.level
        counts = {CYCLE: 1.0}
        for weight, events in (
            (1.0, PER_INSTRUCTION),
            (level.others, PER_OTHER),
            (level.fetches, PER_FETCH),
        ):
            for event, count in events.items():
                counts[event] = counts.get(event, 0.0) + weight * count * level.ipc
        return counts

    def stack_pj(self, counts: Mapping[str, float]) -> dict[str, float]:
        """Dynamic energy in pJ of ``counts`` events by part, at the design supply."""
        stack: dict[str, float] = {}
        for event, count in counts.items():
            for part, energy in self.parts_pj.get(event, {}).items():
                stack[part] = stack.get(part, 0.0) + count * energy
        return stack

    @property
    def cluster_cycle_pj(self) -> float:
        """Energy of a cycle of the L2's and the cluster logic's clock in pJ."""
        level = self.level
        return level.level * level.factors["cluster_clock"] * level.power.pj("L2.read_accesses")

    def pj(self, event: str, volts: float) -> float:
        """Energy of one ``event`` in pJ at ``volts``; 0 when it is not billed."""
        return self.energy_pj.get(event, 0.0) * self.level.power.dynamic_scale(volts)

    def dynamic_w(self, counts: Mapping[str, float], seconds: float, volts: float) -> float:
        """Mean power in W of events that happened in ``seconds``."""
        spent = sum(self.energy_pj.get(event, 0.0) * count for event, count in counts.items())
        return spent * 1e-12 * self.level.power.dynamic_scale(volts) / seconds

    def leakage_w_at_design(self, unit: str, celsius: float) -> float:
        """Calibrated leakage in W of ``Core`` or ``L2`` at the design supply; it goes with V^3."""
        return self.level.leakage_w(unit, self.level.power.vdd_v, celsius)


@cache
def load_events(core: str) -> EventPower:
    """Energies of the events of ``core``.

    :raises RequestError: when the core has no level or no figures.
    """
    level = load_level(core)
    parts: dict[str, dict[str, float]] = {}
    for event in level.power.energy_pj:
        group = group_of(event)
        if group:
            scale = level.level * level.factors[group]
            by_part = {"clock": level.power.pj(event)}  # a clock tree belongs to no unit
            if event != CYCLE:
                by_part = level.power.pj_by_part(event)
            parts[event] = {part: scale * energy for part, energy in by_part.items()}
    # The reference activity has these events per other instruction, and OTHERS in this many of it.
    per_other = sum(PER_OTHER[event] for event in OTHERS)
    scale = level.level * level.factors["back_end"] / per_other
    for event in OTHERS:
        if event in parts:
            for shared in SHARED_WITH_INTEGER:
                for part, energy in level.power.pj_by_part(shared).items():
                    more = scale * PER_OTHER[shared] * energy
                    parts[event][part] = parts[event].get(part, 0.0) + more
    energies = {event: sum(by_part.values()) for event, by_part in parts.items()}
    return EventPower(level, energies, parts)
